//! `[[source]]`: an origin of enquiries, its proof, its identity rule and its mapping.

use std::collections::BTreeMap;

use domain::identity::{ContactPlaces, Place, Rule};
use domain::tree::Pointer;

use super::auth::Auth;
use super::identity::Identity;
use super::nearest::{edits, nearest};
use super::place::{pattern, place, pointer};
use super::reading::Show;
use super::section::Section;
use super::units::Period;

/// A `[[source]]`.
#[derive(Clone, Debug)]
pub struct Source {
    /// Its name, in `/in/{source}` and for people.
    pub name: String,
    /// What keys carry. It stays when the name changes.
    pub id: String,
    /// Whose enquiries these are.
    pub client: Option<String>,
    /// How its bodies are read.
    pub kind: SourceKind,
    /// How its deliveries are authenticated.
    pub auth: Auth,
    /// Where the key is read.
    pub identity: Identity,
    /// What becomes of an enquiry that repeats a recent one's fields.
    pub look_alike: LookAlike,
    /// IANA name of the zone of naive local times.
    pub timezone: Option<String>,
    /// Places that differ per attempt: not content. `*` stands for any member or element.
    pub volatile: Vec<Pointer>,
    /// Where the items of a batch stand, if one body carries several.
    pub items: Option<Pointer>,
    /// The way its enquiries come by, where the mapping names no other.
    pub channel: String,
    /// Places whose text is JSON itself, which is read as part of the body. They count from the item.
    pub embedded: Vec<Pointer>,
    /// Where each field stands, by the field's name: one place, or several that are put together.
    pub map: BTreeMap<String, Vec<Place>>,
    /// A place that is true in a provider's test delivery.
    pub test: Option<Place>,
    /// Where the provider's id of the request stands: evidence, never identity.
    pub request_id: Option<Place>,
    /// Where the attempt counter stands: evidence, never identity.
    pub attempt: Option<Place>,
}

/// How a source's bodies are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    /// By the pointers of the configuration.
    Generic,
}

/// What becomes of an enquiry that repeats a recent one's fields under a new key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookAlike {
    /// How recent.
    pub window: Period,
    /// What becomes of its effects.
    pub then: Then,
}

/// What becomes of a look-alike's effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// A person looks first.
    Hold,
    /// They are carried out; the link is on record.
    Proceed,
}

const LATER: [&str; 17] = [
    "typeform",
    "tally",
    "hubspot",
    "meta-leadgen",
    "email",
    "calendly",
    "contact-form-7",
    "elementor",
    "google-ads",
    "gravity-forms",
    "jotform",
    "mailgun",
    "postmark",
    "shopify",
    "stripe",
    "webflow",
    "whatsapp-cloud",
];

impl Source {
    pub(super) fn read(section: &Section<'_>) -> Self {
        section.needs("name", "it is part of the address, /in/NAME");
        let name = section.name("name").unwrap_or_default();
        let auth = section.table("auth", Auth::read).unwrap_or(Auth::UNASKED);
        let identity = section.table("identity", Identity::read).unwrap_or_else(|| Identity::by_default(&auth));
        let items = section.parsed_by("items", pattern);
        if items.is_some() && identity.is_one_for_all_items() {
            let message = "the items of a batch come under one set of headers, so all of them would get one key: \
                           name an id in the item itself, e.g. submission = \"/id\"";
            section.problem_at(section.path.key("identity").key("submission"), message);
        }
        Self {
            id: section.name("id").unwrap_or_else(|| name.clone()),
            client: section.name("client"),
            kind: section.parsed_by("kind", kind).unwrap_or(SourceKind::Generic),
            identity,
            look_alike: section.table("look_alike", LookAlike::read).unwrap_or(LookAlike::BY_DEFAULT),
            timezone: section.parsed_by("timezone", timezone),
            volatile: section.each("volatile", pattern),
            items,
            channel: section.parsed_by("channel", channel).unwrap_or_else(|| "form".to_owned()),
            embedded: embedded(section),
            map: map(section),
            test: section.parsed_by("test", place),
            request_id: section.parsed_by("request_id", place),
            attempt: section.parsed_by("attempt", place),
            name,
            auth,
        }
    }

    /// The identity rule, as the domain reads deliveries by it and the book keeps it.
    pub fn rule(&self) -> Rule {
        Rule {
            submission: self.identity.submission.clone(),
            time: self.identity.time.clone(),
            timezone: self.timezone.clone(),
            volatile: self.volatile.clone(),
            address: match self.place("contact.email") {
                Some(Place::Body(pointer)) => Some(pointer.clone()),
                Some(Place::Header(_)) | None => None,
            },
            embedded: self.embedded.clone(),
            // Only a time is narrowed by the contact: elsewhere its places may change without a word.
            contact: self.identity.time.as_ref().map(|_| self.contact_places()),
        }
    }

    /// The first place of a field: what a key rests on is read from one.
    fn place(&self, field: &str) -> Option<&Place> {
        self.map.get(field).and_then(|places| places.first())
    }

    fn contact_places(&self) -> ContactPlaces {
        let at = |field: &str| self.place(field).cloned();
        ContactPlaces { email: at("contact.email"), phone: at("contact.phone"), name: at("contact.name") }
    }
}

impl LookAlike {
    const BY_DEFAULT: Self = Self { window: Period::secs(600), then: Then::Hold };

    fn read(section: &Section<'_>) -> Self {
        Self {
            window: section.parsed("window").unwrap_or(Self::BY_DEFAULT.window),
            then: section.choice("then", &[("hold", Then::Hold), ("proceed", Then::Proceed)]).unwrap_or(Then::Hold),
        }
    }
}

fn kind(text: &str) -> Result<SourceKind, String> {
    match text {
        "generic" => Ok(SourceKind::Generic),
        later if LATER.contains(&later) => Err(format!("kind {later} comes later; use generic")),
        other => Err(format!("there is no kind `{other}`; use generic")),
    }
}

fn timezone(text: &str) -> Result<String, String> {
    match jiff::tz::TimeZoneDatabase::bundled().get(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err(format!("there is no time zone `{text}`: write an IANA name, e.g. Europe/Berlin")),
    }
}

/// What a contact has.
const CONTACT: [&str; 4] = ["contact.email", "contact.name", "contact.phone", "contact.company"];
impl Source {
    /// The names of its fields that are nobody else's: `enquiry.other.NAME`.
    pub fn own_fields(&self) -> impl Iterator<Item = &str> {
        self.map.keys().map(String::as_str).filter(|field| !CONTACT.contains(field) && !MEANT.contains(field))
    }
}

/// The fields that mean something beside the contact's. Other names are free.
const MEANT: [&str; 5] = ["message", "occurred_at", "consent", "channel", "attachments"];
/// A name that is so few edits away from one that means something is a slip,
const SLIP_MAX: usize = 2;
/// unless it is a word that forms use.
const WORDS: [&str; 3] = ["content", "context", "contest"];

fn map(section: &Section<'_>) -> BTreeMap<String, Vec<Place>> {
    let mut map = BTreeMap::new();
    for (path, field, texts) in section.lists("map") {
        if let Err(message) = field_name(&field) {
            section.reading.problem(path, message, Show::Key);
        }
        let read = texts.into_iter().filter_map(|(path, text)| place(&text).map_err(|message| section.problem_at(path, message)).ok());
        let places: Vec<Place> = read.collect();
        if !places.is_empty() {
            map.insert(field, places);
        }
    }
    map
}

/// More places of embedded JSON than any sender has; each may nest as deep as a body.
const EMBEDDED_MAX: usize = 8;

fn embedded(section: &Section<'_>) -> Vec<Pointer> {
    let places = section.each("embedded", pointer);
    if places.len() > EMBEDDED_MAX {
        section.problem("embedded", format!("`embedded` takes at most {EMBEDDED_MAX} places"));
    }
    places
}

fn channel(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !text.is_empty() && text.len() <= 40 && text.chars().all(is_plain) {
        Ok(text.to_owned())
    } else {
        Err("`channel` is a word of letters, digits, - and _, e.g. form, email, chat or ads".to_owned())
    }
}

fn field_name(field: &str) -> Result<(), String> {
    if CONTACT.contains(&field) || MEANT.contains(&field) || WORDS.contains(&field) {
        return Ok(());
    }
    if field.starts_with("contact.") {
        return Err(match nearest(field, CONTACT) {
            Some(near) => format!("a contact has no `{field}`: did you mean `{near}`?"),
            None => format!("a contact has no `{field}`: it has {}; a name without `contact.` is free", CONTACT.join(", ")),
        });
    }
    match MEANT.into_iter().find(|meant| edits(&field.to_lowercase(), meant) <= SLIP_MAX) {
        Some(meant) => Err(format!("did you mean `{meant}`? A field of your own needs a name that is less like it than `{field}`")),
        None => Ok(()),
    }
}
