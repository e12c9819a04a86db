//! The key: source, basis, value, and the variant a person may have to tell apart.
//!
//! Compared by digest; written as text for people, logs and targets. Both forms are unambiguous: the text escapes what
//! suffixes use (`~n` for a variant, `#n` for a re-run's outgoing key).

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::ids::{EffectId, EnquiryId};

/// A value longer than this (in bytes, escaped) is written as its digest: a target's key field is not endless.
const TEXT_MAX: usize = 160;

/// How a value begins that is written as its digest.
const DIGEST_FORM: &str = "sha256-";

/// What an identity rests on, strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The provider's id of the submission, event or message.
    Submission,
    /// The original event time as the provider gave it, narrowed.
    Time,
    /// A fingerprint of the enquiry: the payload had neither.
    Content,
}

impl Basis {
    /// The name in a key's text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Submission => "submission",
            Self::Time => "time",
            Self::Content => "content",
        }
    }
}

/// An enquiry's idempotency key. It never changes and travels with everything that is done for the enquiry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    /// The source's immutable id.
    pub source: String,
    /// What the identity rests on.
    pub basis: Basis,
    /// The identity's parts, in the rule's order.
    pub value: Vec<String>,
    /// 1 for the enquiry itself; from 2 on, other content that came under the same key (I4), or the same content once
    /// the window of a `content` key was over.
    pub variant: u32,
}

impl Key {
    /// The key of the original event, variant 1.
    pub fn new(source: impl Into<String>, basis: Basis, value: Vec<String>) -> Self {
        Self { source: source.into(), basis, value, variant: 1 }
    }

    /// The same identity, another variant.
    #[must_use]
    pub fn with_variant(&self, variant: u32) -> Self {
        Self { variant, ..self.clone() }
    }

    /// Reads the text form back. `None` for other texts, and for a value that was written as its digest.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ':');
        let (source, basis, rest) = (parts.next()?, parts.next()?, parts.next()?);
        let basis = [Basis::Submission, Basis::Time, Basis::Content].into_iter().find(|b| b.as_str() == basis)?;
        let (value, variant) = match rest.split_once('~') {
            Some((value, variant)) => (value, variant.parse().ok().filter(|&v| v > 1)?),
            None => (rest, 1),
        };
        let value = value.split(',').map(unescaped).collect::<Option<Vec<_>>>()?;
        Some(Self { source: source.to_owned(), basis, value, variant }).filter(|key| key.to_string() == text)
    }

    /// Digest of source, basis and value: what all variants share, and what a delivery is looked up by.
    pub fn base_digest(&self) -> Digest {
        Digest::of_parts(
            [self.source.as_bytes(), self.basis.as_str().as_bytes()].into_iter().chain(self.value.iter().map(String::as_bytes)),
        )
    }

    /// Digest of the whole key.
    pub fn digest(&self) -> Digest {
        Digest::of_parts([self.base_digest().as_bytes().as_slice(), &self.variant.to_be_bytes()])
    }

    /// The enquiry that this key names.
    pub fn enquiry_id(&self) -> EnquiryId {
        EnquiryId::of(&self.digest())
    }

    /// The effect of an action for this key.
    pub fn effect_id(&self, action: &str, ordinal: u32) -> EffectId {
        EffectId::of(&Digest::of_parts([self.digest().as_bytes().as_slice(), action.as_bytes(), &ordinal.to_be_bytes()]))
    }

    /// The key that a target gets: this key's text, and `#n` for a person's re-run.
    pub fn outgoing(&self, ordinal: u32) -> String {
        if ordinal == 0 { self.to_string() } else { format!("{self}#{ordinal}") }
    }
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.value.iter().map(|part| escaped(part)).collect::<Vec<_>>().join(",");
        // A value that looks like another's digest form must not be written like it.
        let value = value.strip_prefix(DIGEST_FORM).map_or_else(|| value.clone(), |rest| format!("%73{}{rest}", &DIGEST_FORM[1..]));
        if value.len() > TEXT_MAX {
            let digest = Digest::of_parts(self.value.iter().map(String::as_bytes));
            write!(f, "{}:{}:{DIGEST_FORM}{digest}", self.source, self.basis.as_str())?;
        } else {
            write!(f, "{}:{}:{value}", self.source, self.basis.as_str())?;
        }
        if self.variant == 1 { Ok(()) } else { write!(f, "~{}", self.variant) }
    }
}

/// Escapes, as `%XX`, what the text form gives a meaning to, and what a line or a URL cannot carry unseen.
fn escaped(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for c in part.chars() {
        if matches!(c, '%' | '~' | '#' | ',') || c.is_whitespace() || c.is_control() {
            let mut buffer = [0_u8; 4];
            for byte in c.encode_utf8(&mut buffer).bytes() {
                out.extend(format!("%{byte:02X}").chars());
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Undoes `escaped`; `None` where an escape is broken.
fn unescaped(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        if *first == b'%' {
            bytes.extend(data_encoding::HEXUPPER.decode(tail.get(..2)?).ok()?);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: &[&str]) -> Key {
        Key::new("website", Basis::Submission, value.iter().map(|&v| v.to_owned()).collect())
    }

    #[test]
    fn the_text_form_is_the_one_promised() {
        assert_eq!(key(&["lead_77"]).to_string(), "website:submission:lead_77");
        assert_eq!(key(&["lead_77"]).with_variant(2).to_string(), "website:submission:lead_77~2");
        assert_eq!(key(&["lead_77"]).outgoing(0), "website:submission:lead_77");
        assert_eq!(key(&["lead_77"]).outgoing(1), "website:submission:lead_77#1");
    }

    #[test]
    fn a_value_cannot_pose_as_a_variant_a_re_run_or_two_parts() {
        assert_ne!(key(&["a~2"]).to_string(), key(&["a"]).with_variant(2).to_string());
        assert_ne!(key(&["a#1"]).outgoing(0), key(&["a"]).outgoing(1));
        assert_ne!(key(&["a,b"]).to_string(), key(&["a", "b"]).to_string());
        assert_ne!(key(&["a,b"]).digest(), key(&["a", "b"]).digest());
        assert_ne!(key(&["a%2C"]).to_string(), key(&["a,"]).to_string());
    }

    #[test]
    fn the_text_form_reads_back() {
        for value in [&["lead_77"][..], &["a,b", "c~2"], &["100%", "ü#1"], &["a b\n"], &["a:b:c"]] {
            for variant in [1, 2, 11] {
                let key = key(value).with_variant(variant);
                assert_eq!(Key::parse(&key.to_string()), Some(key));
            }
        }
        assert_eq!(Key::parse("website:submission:x~1"), None);
        assert_eq!(Key::parse("website:other:x"), None);
        assert_eq!(Key::parse("website"), None);
    }

    #[test]
    fn a_long_value_is_written_as_its_digest_and_still_told_apart() {
        let (a, b) = ("x".repeat(500) + "a", "x".repeat(500) + "b");
        let (a, b) = (key(&[&a]), key(&[&b]));
        assert!(a.to_string().len() < 120);
        assert_ne!(a.to_string(), b.to_string());
    }

    #[test]
    fn a_value_that_poses_as_the_digest_of_another_is_written_otherwise() {
        let long = key(&["L".repeat(400).as_str()]);
        let text = long.to_string();
        let posing = key(&[text.rsplit(':').next().unwrap()]);
        assert_ne!(long.digest(), posing.digest());
        assert_ne!(text, posing.to_string());
        assert_eq!(Key::parse(&posing.to_string()), Some(posing));
    }

    #[test]
    fn variants_share_the_base_and_are_other_enquiries() {
        let first = key(&["77"]);
        let second = first.with_variant(2);
        assert_eq!(first.base_digest(), second.base_digest());
        assert_ne!(first.enquiry_id(), second.enquiry_id());
        assert_ne!(first.effect_id("deal", 0), first.effect_id("deal", 1));
        assert_ne!(first.effect_id("deal", 0), first.effect_id("follow-up", 0));
    }
}
