//! Templates: what a target sends, made from the scene of an effect, escaped for the place it stands in.
//!
//! An enquiry's text is data (I9): in a JSON body or a URL it is escaped where it is printed, whether or not the template
//! says `|tojson` or `|urlencode`. `secret('env:NAME')` exists in headers only, so no stored body can hold a secret (I12).
//! What a scene holds is the engine's business.

use std::sync::Arc;

use minijinja::value::{Kwargs, Serde, ValueKind};
use minijinja::{AutoEscape, Environment, Error, ErrorKind, Output, UndefinedBehavior, Value};
use serde_json::{Map, Value as Json};

use super::names::{QUALIFICATION, ROOTS, slip};

/// Enough for any letter; a loop without an end stops here.
const FUEL: u64 = 100_000;

/// Longer than any letter; the compiler recurses on long sums and many `elif`s.
const SOURCE_MAX: usize = 32 << 10;

/// Turns a reference (`env:NAME`) into the secret, or says why it cannot.
pub type Secrets = Arc<dyn Fn(&str) -> Result<String, String> + Send + Sync>;

/// The place a template's result stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A URL or a form body: values are percent-encoded; null is an error, for an empty path segment is another URL.
    Url,
    /// A JSON body: values are escaped as inside a JSON text; `|tojson` gives a whole JSON value.
    Json,
    /// A text: values stand as they are; null prints nothing.
    Text,
    /// A request header: as text, with `secret()` and `|base64`; null is an error.
    Header,
}

/// One compiled template.
#[derive(Debug)]
pub struct Template {
    name: String,
    environment: Environment<'static>,
    is_secret: bool,
}

impl Template {
    /// Compiles; `name` is where the template stands in the configuration, for error messages.
    pub fn compile(name: &str, source: &str, place: Place) -> Result<Self, String> {
        Self::build(name, source, place, None)
    }

    /// Compiles a header's template, which may ask for secrets.
    pub fn header(name: &str, source: &str, secrets: &Secrets) -> Result<Self, String> {
        Self::build(name, source, Place::Header, Some(Arc::clone(secrets)))
    }

    fn build(name: &str, source: &str, place: Place, secrets: Option<Secrets>) -> Result<Self, String> {
        if source.len() > SOURCE_MAX {
            return Err(format!("{name}: a template has at most {SOURCE_MAX} bytes"));
        }
        let mut environment = environment(place);
        if let Some(secrets) = secrets {
            environment.add_function("secret", move |reference: String| {
                secrets(&reference).map_err(|why| Error::new(ErrorKind::InvalidOperation, why))
            });
            environment.add_filter("base64", |text: String| data_encoding::BASE64.encode(text.as_bytes()));
        }
        environment.add_template_owned(name.to_owned(), source.to_owned()).map_err(|e| told(name, &e))?;
        let found = environment.get_template(name).map_err(|e| told(name, &e))?.undeclared_variables(true);
        let mut used: Vec<&str> = found.iter().map(String::as_str).collect();
        used.sort_unstable();
        for path in &used {
            let root = path.split('.').next().unwrap_or_default();
            if let Some(why) = slip(path) {
                return Err(format!("{name}: {why}"));
            }
            if ROOTS.contains(&root) || environment.globals().any(|(global, _)| global == root) {
                continue;
            }
            return Err(match root {
                "secret" => format!("{name}: secret() may stand in headers only: what else is sent is stored"),
                _ => format!("{name}: there is no `{root}`; known are {}", ROOTS.join(", ")),
            });
        }
        let is_secret = used.contains(&"secret");
        Ok(Self { name: name.to_owned(), environment, is_secret })
    }

    /// Renders with what [`scene`] made.
    pub fn render(&self, scene: &Value) -> Result<String, String> {
        let template = self.environment.get_template(&self.name).map_err(|e| told(&self.name, &e))?;
        template.render(scene.clone()).map_err(|e| told(&self.name, &e))
    }

    /// Whether the result holds a secret.
    pub fn is_secret(&self) -> bool {
        self.is_secret
    }
}

/// What templates see: the scene, under the outgoing key of this very effect, and the record's id where it is known.
pub fn scene(key: &str, scene: &Json, id: Option<&str>) -> Value {
    let mut names = scene.as_object().cloned().unwrap_or_default();
    names.insert("key".to_owned(), Json::from(key));
    if let Some(id) = id {
        names.insert("id".to_owned(), Json::from(id));
    }
    // Where none was made, all of it is null: a failing model must not stop a write (I9), and it would, if a template that
    // names its result did not render.
    if names.get("qualification").is_none_or(Json::is_null) {
        let nothing: Map<String, Json> = QUALIFICATION.iter().map(|&name| (name.to_owned(), Json::Null)).collect();
        names.insert("qualification".to_owned(), Json::Object(nothing));
    }
    Value::from(Serde(&names))
}

fn environment(place: Place) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_debug(false);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(move |out, _, value| print(place, out, value));
    environment.add_filter("tojson", to_json);
    environment.add_filter("urlencode", |value: Value| Ok::<_, Error>(Value::from_safe_string(percent_encoded(&shown(&value)?))));
    environment
}

fn print(place: Place, out: &mut Output<'_>, value: &Value) -> Result<(), Error> {
    if value.is_none() {
        return match place {
            Place::Json | Place::Text => Ok(()),
            Place::Url | Place::Header => Err(wrong("a null stands here; give it a |default(…, true)")),
        };
    }
    let text = shown(value)?;
    let text = match place {
        _ if value.is_safe() => text,
        Place::Url => percent_encoded(&text),
        Place::Json => json_escaped(&text)?,
        Place::Text | Place::Header => text,
    };
    out.write_str(&text).map_err(Error::from)
}

/// A value as text; undefined is an error, null is nothing.
fn shown(value: &Value) -> Result<String, Error> {
    if value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, "give it a |default(…) if it may be missing"));
    }
    if value.is_none() {
        return Ok(String::new());
    }
    match value.kind() {
        // The engine's own form of these is for people who debug templates.
        ValueKind::Seq | ValueKind::Map | ValueKind::Iterable => Ok(to_json(value)?.to_string()),
        _ => Ok(value.to_string()),
    }
}

fn to_json(value: &Value) -> Result<Value, Error> {
    if value.is_undefined() {
        return Err(Error::new(ErrorKind::UndefinedError, "give it a |default(none) if it may be missing"));
    }
    minijinja::filters::tojson(value, None, std::iter::empty::<(&str, Value)>().collect::<Kwargs>())
}

/// The text as it stands between the quotes of a JSON text.
fn json_escaped(text: &str) -> Result<String, Error> {
    let quoted = serde_json::to_string(text).map_err(|e| wrong(&e.to_string()))?;
    Ok(quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned())
}

/// Everything but RFC 3986's unreserved characters, `/` included: a key in a path stays one segment.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push_str(&data_encoding::HEXUPPER.encode(&[byte]));
        }
    }
    out
}

fn wrong(why: &str) -> Error {
    Error::new(ErrorKind::InvalidOperation, why.to_owned())
}

fn told(name: &str, error: &Error) -> String {
    let line = error.line().map(|line| format!(", line {line}")).unwrap_or_default();
    let detail = error.detail().map(|detail| format!(": {detail}")).unwrap_or_default();
    format!("{name}{line}: {}{detail}", error.kind())
}

#[cfg(test)]
mod tests;
