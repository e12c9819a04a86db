//! A source's `auth`: how a delivery proves where it comes from. The proof itself is intake's.

use super::place::is_header_name;
use super::secret::SecretRef;
use super::section::Section;

/// How a source's deliveries are authenticated. Of several secrets any one will do, so that they can be rotated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// Not at all. `open` says that this is meant even where others than this machine can reach us.
    None {
        /// Meant for the outside too.
        open: bool,
    },
    /// The secret itself, in a header.
    Bearer {
        /// The header, in lower case.
        header: String,
        /// What stands before the secret, e.g. `Bearer `.
        prefix: String,
        /// The secrets.
        secrets: Vec<SecretRef>,
    },
    /// Name and password.
    Basic {
        /// The name.
        user: String,
        /// The passwords.
        passwords: Vec<SecretRef>,
    },
    /// HMAC-SHA256 over the raw body, in a header.
    HmacSha256 {
        /// The header, in lower case.
        header: String,
        /// What stands before the signature, e.g. `sha256=`.
        prefix: String,
        /// How the signature is written.
        encoding: SignatureEncoding,
        /// The secrets.
        secrets: Vec<SecretRef>,
    },
    /// The Standard Webhooks scheme.
    StandardWebhooks {
        /// The secrets, `whsec_…`.
        secrets: Vec<SecretRef>,
    },
}

/// How a signature is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureEncoding {
    /// Hexadecimal or base64: their lengths tell them apart.
    Either,
    /// Hexadecimal.
    Hex,
    /// Base64.
    Base64,
}

#[derive(Clone, Copy)]
enum Scheme {
    None,
    Bearer,
    Basic,
    HmacSha256,
    StandardWebhooks,
}

const SCHEMES: [(&str, Scheme); 5] = [
    ("none", Scheme::None),
    ("bearer", Scheme::Bearer),
    ("basic", Scheme::Basic),
    ("hmac-sha256", Scheme::HmacSha256),
    ("standard-webhooks", Scheme::StandardWebhooks),
];

/// Every key of `auth`: with an unreadable scheme none of them is unknown.
const KEYS: [&str; 10] = ["open", "header", "prefix", "encoding", "secret", "secrets", "user", "password", "passwords", "scheme"];

impl Auth {
    /// No proof asked, and only this machine to ask it of.
    pub(super) const UNASKED: Self = Self::None { open: false };

    /// Stands for what could not be read, and is not complained about a second time as an open source.
    const UNREADABLE: Self = Self::None { open: true };

    pub(super) fn read(section: &Section<'_>) -> Self {
        section.needs("scheme", "it is one of none, bearer, basic, hmac-sha256, standard-webhooks");
        let Some(scheme) = section.choice("scheme", &SCHEMES) else {
            section.knows(&KEYS);
            return Self::UNREADABLE;
        };
        match scheme {
            Scheme::None => Self::None { open: section.flag("open").unwrap_or(false) },
            Scheme::Bearer => bearer(section),
            Scheme::Basic => basic(section),
            Scheme::HmacSha256 => hmac(section),
            Scheme::StandardWebhooks => Self::StandardWebhooks { secrets: secrets(section) },
        }
    }
}

fn bearer(section: &Section<'_>) -> Auth {
    let header = header(section).unwrap_or_else(|| "authorization".to_owned());
    let usual = if header == "authorization" { "Bearer " } else { "" };
    let prefix = section.text("prefix").unwrap_or_else(|| usual.to_owned());
    Auth::Bearer { header, prefix, secrets: secrets(section) }
}

fn basic(section: &Section<'_>) -> Auth {
    section.needs("user", "basic authentication is a name and a password");
    let user = section.text("user").unwrap_or_default();
    Auth::Basic { user, passwords: secrets_at(section, "password", "passwords") }
}

fn hmac(section: &Section<'_>) -> Auth {
    section.needs("header", "name the header that carries the signature, e.g. X-Signature");
    Auth::HmacSha256 {
        header: header(section).unwrap_or_default(),
        prefix: section.text("prefix").unwrap_or_default(),
        encoding: section
            .choice("encoding", &[("hex", SignatureEncoding::Hex), ("base64", SignatureEncoding::Base64)])
            .unwrap_or(SignatureEncoding::Either),
        secrets: secrets(section),
    }
}

fn header(section: &Section<'_>) -> Option<String> {
    section.parsed_by("header", |name| {
        is_header_name(name).then(|| name.to_ascii_lowercase()).ok_or_else(|| format!("`{name}` is no name of a header"))
    })
}

fn secrets(section: &Section<'_>) -> Vec<SecretRef> {
    secrets_at(section, "secret", "secrets")
}

/// One, or several while it is rotated.
fn secrets_at(section: &Section<'_>, one: &'static str, several: &'static str) -> Vec<SecretRef> {
    if !section.has(one) && !section.has(several) {
        section.problem(one, format!("`{one}` is missing: this scheme needs one; write a reference to it, env:NAME or file:PATH"));
    }
    let values = section.values(several);
    if section.has(several) && values.is_empty() {
        section.problem(several, format!("`{several}` is empty: write at least one reference, env:NAME or file:PATH"));
    }
    let rotated = values.into_iter().filter_map(|(path, value)| section.secret_at(path, value.as_str())).collect::<Vec<_>>();
    section.secret(one).into_iter().chain(rotated).collect()
}
