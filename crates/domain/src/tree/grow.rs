//! From JSON text to a tree in one pass. The text was found well-formed before; what stands in its strings is checked here.

use super::{DEPTH_MAX, Tree, TreeError};

/// Whether the text nests deeper than is read, strings aside. Told before anything else looks at it.
pub(super) fn is_too_deep(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at += string_length(&bytes[at..]) - 1,
            b'{' | b'[' => {
                depth += 1;
                if depth > DEPTH_MAX {
                    return true;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    false
}

/// The tree of well-formed JSON text that is not too deep.
pub(super) fn grow(text: &str) -> Result<Tree, TreeError> {
    Reader { text, at: 0 }.value()
}

/// How long the string is that begins here, quotes included; up to the end, where it is not closed.
fn string_length(bytes: &[u8]) -> usize {
    let mut at = 1;
    loop {
        match bytes.get(at..).unwrap_or_default().iter().position(|byte| matches!(byte, b'"' | b'\\')) {
            None => return bytes.len(),
            Some(found) if bytes[at + found] == b'"' => return at + found + 1,
            Some(found) => at += found + 2,
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next byte that is no white space, which is not passed.
    fn peek(&mut self) -> Option<u8> {
        let rest = self.text.as_bytes().get(self.at..)?;
        let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
        self.at += blanks;
        rest.get(blanks).copied()
    }

    fn take(&mut self, length: usize) -> &'a str {
        let begin = self.at;
        self.at = (begin + length).min(self.text.len());
        self.text.get(begin..self.at).unwrap_or_default()
    }

    /// The recursion is as deep as the text nests, which is bounded.
    fn value(&mut self) -> Result<Tree, TreeError> {
        Ok(match self.peek() {
            Some(b'{') => {
                self.at += 1;
                let mut members = Vec::new();
                while self.peek() == Some(b'"') {
                    let name = self.string()?;
                    self.pass(b':');
                    members.push((name, self.value()?));
                    self.pass(b',');
                }
                self.pass(b'}');
                Tree::Map(members)
            }
            Some(b'[') => {
                self.at += 1;
                let mut items = Vec::new();
                while !matches!(self.peek(), Some(b']') | None) {
                    items.push(self.value()?);
                    self.pass(b',');
                }
                self.pass(b']');
                Tree::List(items)
            }
            Some(b'"') => Tree::Text(self.string()?),
            Some(b't') => self.word(4, Tree::Bool(true)),
            Some(b'f') => self.word(5, Tree::Bool(false)),
            Some(b'n') => self.word(4, Tree::Null),
            Some(_) => {
                let is_of_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
                let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
                let length = rest.iter().take_while(|byte| is_of_number(byte)).count();
                // Nothing else can stand here in well-formed text; a byte of it is passed, so that this ends whatever stands.
                Tree::Number(self.take(length.max(1)).to_owned())
            }
            None => return Err(TreeError::Syntax("EOF while parsing a value".to_owned())),
        })
    }

    fn word(&mut self, length: usize, tree: Tree) -> Tree {
        self.at += length;
        tree
    }

    /// Passes a sign, if it is the next.
    fn pass(&mut self, sign: u8) {
        if self.peek() == Some(sign) {
            self.at += 1;
        }
    }

    fn string(&mut self) -> Result<String, TreeError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let quoted = self.take(string_length(rest));
        match quoted.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(plain) if !plain.bytes().any(|byte| byte == b'\\' || byte < 0x20) => Ok(plain.to_owned()),
            _ => serde_json::from_str(quoted).map_err(|e| TreeError::Syntax(e.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_says_what_serde_json_says() {
        for text in [
            r#" { "a" : [ 1 , -2.50e+3,true,false,null , "x\"y\\" , {} , [] ] , "a\u00e9" : { "b":"\\" } , "" : "" } "#,
            "7",
            " \"\\ud83d\\ude00\" ",
            "[[[\"]\"],\"{\"]]",
        ] {
            let tree = Tree::from_json(text).unwrap();
            let same: serde_json::Value = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::from_str::<serde_json::Value>(&written(&tree)).unwrap(), same, "{text}");
        }
        assert_eq!(grow("-2.50e+3").unwrap(), Tree::Number("-2.50e+3".to_owned()));
        for broken in ["[1 2]", "{\"a\" 1}", "[1,]", "{\"a\":1,}", "[\"a\nb\"]", "[\"\\ud83d\"]", "[\"a", "[1]x", "nul", "[\"\\"] {
            assert!(matches!(Tree::from_json(broken), Err(TreeError::Syntax(_))), "{broken}");
        }
    }

    fn written(tree: &Tree) -> String {
        match tree {
            Tree::Null => "null".to_owned(),
            Tree::Bool(is) => is.to_string(),
            Tree::Number(text) => text.clone(),
            Tree::Text(text) => serde_json::to_string(text).unwrap(),
            Tree::List(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(",")),
            Tree::Map(members) => {
                let members = members.iter().map(|(name, value)| format!("{}:{}", serde_json::to_string(name).unwrap(), written(value)));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            }
        }
    }

    #[test]
    fn depth_is_counted_outside_of_strings() {
        let brackets = "[".repeat(200);
        assert!(is_too_deep(&brackets) && is_too_deep(&format!("{brackets}{}", "]".repeat(200))));
        assert!(!is_too_deep(&format!("[\"{brackets}\\\"{brackets}\"]")) && !is_too_deep(&"[]".repeat(500)));
    }
}
