//! Digests over length-prefixed parts, plain and keyed.
//!
//! Joining parts with a separator is ambiguous (`a:b` + `c` and `a` + `b:c`), so every part goes in behind its length.

use data_encoding::HEXLOWER;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// A SHA-256 (or HMAC-SHA-256) value. Text form: 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// What a chain begins with.
    pub const ZERO: Self = Self([0; 32]);

    /// SHA-256 of the bytes as they are, for what others compute too (a raw body, a header block).
    pub fn sha256(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// SHA-256 of pieces that follow one another, as if they were one text.
    pub fn sha256_of<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        pieces.into_iter().for_each(|piece| hasher.update(piece));
        Self(hasher.finalize().into())
    }

    /// SHA-256 over each part behind its length (64 bits, big-endian).
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Takes 32 bytes as a digest; `None` for another length.
    pub fn from_slice(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok().map(Self)
    }

    /// Reads the text form.
    pub fn parse(text: &str) -> Option<Self> {
        Self::from_slice(&HEXLOWER.decode(text.as_bytes()).ok()?)
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| serde::de::Error::custom("not a digest of 64 hex digits"))
    }
}

/// The book's own secret, which keys every fingerprint of an address or of content.
///
/// So nobody who sees a journal can try addresses against it (I12). Made once, when the book is made; it moves with the book.
#[derive(Clone)]
pub struct BookSecret([u8; 32]);

impl BookSecret {
    /// Takes the 32 bytes that the store keeps.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// HMAC-SHA-256 over each part behind its length. `purpose` keeps the fingerprints of different things apart.
    pub fn fingerprint<'a>(&self, purpose: &'a str, parts: impl IntoIterator<Item = &'a [u8]>) -> Digest {
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { unreachable!("HMAC takes a key of any length") };
        for part in std::iter::once(purpose.as_bytes()).chain(parts) {
            mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
            mac.update(part);
        }
        Digest(mac.finalize().into_bytes().into())
    }
}

impl std::fmt::Debug for BookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BookSecret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moving_a_boundary_changes_the_digest() {
        let a = Digest::of_parts([b"a:b".as_slice(), b"c"]);
        let b = Digest::of_parts([b"a".as_slice(), b"b:c"]);
        assert_ne!(a, b);
    }

    #[test]
    fn the_text_form_reads_back() {
        let digest = Digest::sha256(b"x");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse("12"), None);
    }

    #[test]
    fn fingerprints_depend_on_secret_purpose_and_parts() {
        let (one, two) = (BookSecret::new([1; 32]), BookSecret::new([2; 32]));
        let base = one.fingerprint("address", [b"a@example.com".as_slice()]);
        assert_eq!(base, one.fingerprint("address", [b"a@example.com".as_slice()]));
        assert_ne!(base, two.fingerprint("address", [b"a@example.com".as_slice()]));
        assert_ne!(base, one.fingerprint("content", [b"a@example.com".as_slice()]));
    }
}
