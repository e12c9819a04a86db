//! Blobs: what holds personal data, kept outside the chain so that it can be erased without breaking the chain (I12).
//!
//! The journal names a blob by SHA-256(nonce‖bytes). The nonce is erased with the bytes; without it nobody can try
//! likely contents (an address, a telephone number) against the digest that stays behind.

use std::fmt;

use domain::digest::Digest;

/// A piece of content and the chance that hides it.
#[derive(Clone, PartialEq, Eq)]
pub struct Blob {
    /// 32 random bytes, drawn for this blob alone: equal contents get different digests.
    pub nonce: [u8; 32],
    /// The content as it came.
    pub bytes: Vec<u8>,
}

impl Blob {
    /// The name by which entries speak of this blob: SHA-256(nonce‖bytes).
    ///
    /// A plain concatenation is unambiguous here, as the nonce has one length, and it is what any tool can compute.
    pub fn digest(&self) -> Digest {
        Digest::sha256_of([self.nonce.as_slice(), self.bytes.as_slice()])
    }
}

/// Content and nonce stay out of logs, also where somebody prints a whole structure.
impl fmt::Debug for Blob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Blob({} bytes)", self.bytes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_that_of_nonce_and_bytes() {
        let blob = Blob { nonce: [7; 32], bytes: b"a@example.com".to_vec() };
        let mut joined = vec![7_u8; 32];
        joined.extend_from_slice(b"a@example.com");
        assert_eq!(blob.digest(), Digest::sha256(&joined));
    }

    #[test]
    fn equal_contents_under_other_nonces_cannot_be_linked() {
        let bytes = b"a@example.com".to_vec();
        assert_ne!(Blob { nonce: [1; 32], bytes: bytes.clone() }.digest(), Blob { nonce: [2; 32], bytes }.digest());
    }

    #[test]
    fn i12_printing_a_blob_shows_neither_content_nor_nonce() {
        let blob = Blob { nonce: [7; 32], bytes: b"a@example.com".to_vec() };
        assert_eq!(format!("{blob:?}"), "Blob(13 bytes)");
    }
}
