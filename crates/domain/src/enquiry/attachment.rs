//! What came with an enquiry: a file in its body, or the address of one elsewhere.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;

/// One attachment. A file that came has `length`, `sha256` and `blob`; one that stands elsewhere has `url`, and was not
/// fetched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Attachment {
    /// Its name, safe to be shown and to be given to a file: no path, no control or direction characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its type, as its sender declared it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Its length in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// SHA-256 of its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<Digest>,
    /// The erasable blob that holds its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<Digest>,
    /// Where it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether its bytes are here.
    pub fetched: bool,
}
