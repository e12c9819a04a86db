//! Whether a delivery comes from its source: checks over the raw bytes, before anything is parsed.
//!
//! Comparisons take the same time wherever they differ, all secrets are tried (rotation), an empty one never fits. The clock
//! is the caller's, so that a kept delivery can be checked as of its arrival. Vendors' own schemes over other content (a
//! URL, chosen fields) are not here.

mod standard;

use data_encoding::{BASE64, BASE64_NOPAD, HEXLOWER_PERMISSIVE};
use domain::digest::Digest;
use domain::identity::Headers;
use domain::time::UtcMs;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::{Choice, ConstantTimeEq as _};

/// A secret as text. Printing it shows nothing.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes the secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// How a signature is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Hexadecimal or base64: their lengths tell them apart.
    Either,
    /// Hexadecimal, in either case.
    Hex,
    /// Base64, with or without padding.
    Base64,
}

/// How a source proves its deliveries. Header names are in lower case.
#[derive(Clone, Debug)]
pub enum Auth {
    /// Not at all.
    None,
    /// The secret itself, in a header (`authorization`, behind `Bearer `, unless the source has its own way).
    Bearer {
        /// The header.
        header: String,
        /// What must stand before the secret; compared without case.
        prefix: String,
        /// Any of these.
        secrets: Vec<Secret>,
    },
    /// Name and password.
    Basic {
        /// The name.
        user: String,
        /// Any of these.
        passwords: Vec<Secret>,
    },
    /// HMAC-SHA256 over the raw body, in a header.
    HmacSha256 {
        /// The header.
        header: String,
        /// What may stand before the signature, beside `sha256=`.
        prefix: String,
        /// How the signature is written.
        encoding: Encoding,
        /// Any of these.
        secrets: Vec<Secret>,
    },
    /// The Standard Webhooks scheme, under its own header names or Svix's.
    StandardWebhooks {
        /// Any of these, `whsec_…` or the base64 alone.
        secrets: Vec<Secret>,
    },
}

/// Which check failed. No value of a header is in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotAuthentic {
    /// The header that carries the proof did not come.
    #[error("there is no `{0}` header")]
    Missing(String),
    /// It came several times with different values: nobody could say which one counts.
    #[error("there are several different `{0}` headers")]
    Several(String),
    /// It is not of the form that the scheme prescribes.
    #[error("the `{0}` header is not of the expected form")]
    Malformed(String),
    /// The proof is wrong.
    #[error("the `{0}` header does not fit: another secret, or other bytes")]
    Mismatch(String),
    /// The signature fits, but its time is too far from ours.
    #[error("the signature fits, but its `{0}` is more than 5 minutes from our clock")]
    Stale(String),
    /// The source's own configuration holds no secret that could fit.
    #[error("the source has no usable secret")]
    NoSecret,
}

impl Auth {
    /// Checks a delivery: its headers, its body byte for byte as it came, and the time of the check.
    pub fn verify(&self, headers: &Headers, body: &[u8], now: UtcMs) -> Result<(), NotAuthentic> {
        match self {
            Self::None => Ok(()),
            Self::Bearer { header, prefix, secrets } => bearer(headers, header, prefix, secrets),
            Self::Basic { user, passwords } => basic(headers, user, passwords),
            Self::HmacSha256 { header, prefix, encoding, secrets } => {
                let sent = signature(one(headers, header)?, prefix, *encoding);
                let sent = sent.ok_or_else(|| NotAuthentic::Malformed(header.clone()))?;
                let keys = usable(secrets)?.into_iter().map(|secret| secret.0.as_bytes());
                fits(keys.map(|key| hmac_sha256(key, &[body]).ct_eq(&sent)), header)
            }
            Self::StandardWebhooks { secrets } => standard::verify(headers, body, now, secrets),
        }
    }

    /// Whether the headers alone leave it open that the delivery is authentic: a look before its body is read. A signature is
    /// over the body, so that of one it only shows whether it is there.
    pub fn fits_head(&self, headers: &Headers) -> bool {
        match self {
            Self::None => true,
            Self::Bearer { header, prefix, secrets } => bearer(headers, header, prefix, secrets).is_ok(),
            Self::Basic { user, passwords } => basic(headers, user, passwords).is_ok(),
            Self::HmacSha256 { header, prefix, encoding, .. } => {
                one(headers, header).is_ok_and(|sent| signature(sent, prefix, *encoding).is_some())
            }
            Self::StandardWebhooks { .. } => standard::fits_head(headers),
        }
    }

    /// What a 401 answers in `WWW-Authenticate`, where HTTP has a name for the scheme.
    pub fn challenge(&self) -> Option<&'static str> {
        match self {
            Self::Bearer { header, .. } if header == "authorization" => Some(r#"Bearer realm="oncebook""#),
            Self::Basic { .. } => Some(r#"Basic realm="oncebook", charset="UTF-8""#),
            Self::None | Self::Bearer { .. } | Self::HmacSha256 { .. } | Self::StandardWebhooks { .. } => None,
        }
    }
}

fn bearer(headers: &Headers, header: &str, prefix: &str, secrets: &[Secret]) -> Result<(), NotAuthentic> {
    let sent = behind(one(headers, header)?.trim(), prefix).ok_or_else(|| NotAuthentic::Malformed(header.to_owned()))?;
    fits(usable(secrets)?.into_iter().map(|secret| equal(sent, &secret.0)), header)
}

fn basic(headers: &Headers, user: &str, passwords: &[Secret]) -> Result<(), NotAuthentic> {
    let header = "authorization";
    let sent = one(headers, header)?;
    let pair = || {
        let text = String::from_utf8(base64(behind(sent.trim(), "Basic ")?)?).ok()?;
        text.split_once(':').map(|(user, password)| (user.to_owned(), password.to_owned()))
    };
    let (sent_user, sent_password) = pair().ok_or_else(|| NotAuthentic::Malformed(header.to_owned()))?;
    let is_user = equal(&sent_user, user);
    fits(usable(passwords)?.into_iter().map(|password| is_user & equal(&sent_password, &password.0)), header)
}

/// The one value of a header. Two different ones are refused: a proxy and we might each take another.
fn one<'a>(headers: &'a Headers, wanted: &str) -> Result<&'a str, NotAuthentic> {
    let mut values = headers.iter().filter(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let first = values.next().ok_or_else(|| NotAuthentic::Missing(wanted.to_owned()))?;
    if values.all(|value| value == first) { Ok(first) } else { Err(NotAuthentic::Several(wanted.to_owned())) }
}

/// The secrets that are not empty: an unset variable must not open the door.
fn usable(secrets: &[Secret]) -> Result<Vec<&Secret>, NotAuthentic> {
    let usable: Vec<&Secret> = secrets.iter().filter(|secret| !secret.0.trim().is_empty()).collect();
    if usable.is_empty() { Err(NotAuthentic::NoSecret) } else { Ok(usable) }
}

/// Whether any comparison succeeded; all of them are made.
fn fits(compared: impl Iterator<Item = Choice>, header: &str) -> Result<(), NotAuthentic> {
    let any = compared.fold(Choice::from(0), |any, one| any | one);
    if bool::from(any) { Ok(()) } else { Err(NotAuthentic::Mismatch(header.to_owned())) }
}

/// Compares digests, so that not even the lengths show in the time taken.
fn equal(sent: &str, secret: &str) -> Choice {
    Digest::sha256(sent.as_bytes()).as_bytes().ct_eq(Digest::sha256(secret.as_bytes()).as_bytes())
}

/// What stands behind a prefix, which is compared without case.
fn behind<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then(|| text[prefix.len()..].trim_start())
}

/// The 32 bytes of a signature header.
fn signature(value: &str, prefix: &str, encoding: Encoding) -> Option<[u8; 32]> {
    let value = value.trim();
    let value = behind(value, prefix).filter(|_| !prefix.is_empty()).or_else(|| behind(value, "sha256=")).unwrap_or(value);
    let hex = || HEXLOWER_PERMISSIVE.decode(value.as_bytes()).ok();
    let bytes = match encoding {
        Encoding::Hex => hex(),
        Encoding::Either if value.len() == 64 => hex(),
        Encoding::Either | Encoding::Base64 => base64(value),
    };
    bytes?.try_into().ok()
}

/// Standard base64, padded or not.
fn base64(text: &str) -> Option<Vec<u8>> {
    BASE64.decode(text.as_bytes()).or_else(|_| BASE64_NOPAD.decode(text.as_bytes())).ok()
}

fn hmac_sha256(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { unreachable!("HMAC takes a key of any length") };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests;
