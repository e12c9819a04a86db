//! A file that came in a body, and the name that it may be shown and kept under.

use domain::digest::Digest;
use domain::tree::Tree;
use unicode_normalization::UnicodeNormalization as _;

/// A longer name is cut, in characters; its ending stays.
const NAME_MAX: usize = 120;
/// Up to so long an ending is one.
const ENDING_MAX: usize = 16;

/// What a file is called that has no name.
const UNNAMED: &str = "unnamed";

/// A file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, made safe.
    pub name: String,
    /// Its type, as declared.
    pub content_type: Option<String>,
    /// SHA-256 of its bytes.
    pub sha256: Digest,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl File {
    /// A file under a name as it was sent, and whether the name had to be changed.
    pub(in crate::intake) fn new(sent: &str, content_type: Option<String>, bytes: Vec<u8>) -> (Self, bool) {
        let name = safe_name(sent);
        let is_changed = name != sent;
        (Self { name, content_type, sha256: Digest::sha256(&bytes), bytes }, is_changed)
    }

    /// What the body's tree has of it: so that two bodies with different files are two.
    pub(super) fn in_tree(&self, sent: &str) -> Tree {
        let mut members = vec![("filename".to_owned(), Tree::Text(sent.to_owned()))];
        members.extend(self.content_type.iter().map(|kind| ("content_type".to_owned(), Tree::Text(kind.clone()))));
        members.push(("length".to_owned(), Tree::Number(self.bytes.len().to_string())));
        members.push(("sha256".to_owned(), Tree::Text(self.sha256.to_string())));
        Tree::Map(members)
    }
}

/// The last step of a path, without control and direction characters and without dots and spaces around it; never empty.
pub(in crate::intake) fn safe_name(sent: &str) -> String {
    let base = sent.rsplit(['/', '\\']).next().unwrap_or_default();
    let kept: String = base.nfc().filter(|c| !c.is_control() && !is_invisible(*c)).collect();
    let kept = kept.trim_matches(|c: char| c == '.' || c.is_whitespace());
    if kept.is_empty() {
        return UNNAMED.to_owned();
    }
    let length = kept.chars().count();
    if length <= NAME_MAX {
        return kept.to_owned();
    }
    let ending = kept.rsplit_once('.').map(|(_, ending)| ending.chars().count()).filter(|length| *length <= ENDING_MAX);
    let tail = ending.map_or(0, |ending| ending + 1);
    kept.chars().take(NAME_MAX - tail).chain(kept.chars().skip(length - tail)).collect()
}

/// Marks that change the direction of what stands around them, or that nobody sees.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{061C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_reduced_to_what_is_safe() {
        for (sent, safe) in [
            ("plan.pdf", "plan.pdf"),
            (r"..\..\share\mail\forwarded.msg", "forwarded.msg"),
            ("/etc/passwd", "passwd"),
            ("a\0b\r\n.txt", "ab.txt"),
            ("invoice\u{202E}fdp.exe", "invoicefdp.exe"),
            ("..", "unnamed"),
            ("", "unnamed"),
            ("dir/", "unnamed"),
            (" .hidden. ", "hidden"),
            ("e\u{301}.png", "é.png"),
            ("Vertrag (1) – Entwurf.docx", "Vertrag (1) – Entwurf.docx"),
        ] {
            assert_eq!(safe_name(sent), safe, "{sent:?}");
        }
        let long = safe_name(&format!("{}.tar.gz", "x".repeat(400)));
        assert_eq!((long.chars().count(), long.ends_with("x.gz")), (120, true));
        assert_eq!(safe_name(&"y".repeat(400)).len(), 120);
    }
}
