//! Attachments that a mapping names: addresses of files elsewhere, and files written into the body as text.
//!
//! Providers write them as one address, as several, or as objects with an address and a name. A file that is written out
//! (a `data:` URL, or Base64 beside a name) becomes a file like one of a multipart form. Nothing is fetched here.

use data_encoding::BASE64;
use domain::enquiry::Attachment;
use domain::tree::Tree;

use super::body::{File, safe_name};

/// Of one enquiry no more are listed, and of all that came in one body no more either: each may be a blob of its own, and a
/// body of a megabyte holds 50,000 of them. The raw body has them all.
pub(super) const ATTACHMENTS_MAX: usize = 50;
pub(super) const ATTACHMENTS_MAX_BODY: usize = 200;

/// How deep lists and groups of attachments are looked through.
const DEPTH_MAX: usize = 4;

/// One attachment that was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Attached {
    /// It stands elsewhere.
    Elsewhere(Attachment),
    /// It is written out here.
    Here(File),
}

/// What was found: up to [`ATTACHMENTS_MAX`], and how many there are beside them.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) listed: Vec<Attached>,
    pub(super) more: usize,
}

impl Found {
    /// Adds what stands at a place that is mapped as attachments.
    pub(super) fn add(&mut self, tree: &Tree) {
        self.collect(tree, 0);
    }

    fn collect(&mut self, tree: &Tree, depth: usize) {
        if depth > DEPTH_MAX {
            return;
        }
        match tree {
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
            Tree::Text(text) => match data_url(text) {
                Some(file) => self.push(Attached::Here(file)),
                None => addresses(text).for_each(|url| self.push(elsewhere(url, None, None))),
            },
            Tree::List(items) => items.iter().for_each(|item| self.collect(item, depth + 1)),
            Tree::Map(members) => match one(members) {
                Some(attached) => self.push(attached),
                // A group of attachments, by names of its own.
                None => members.iter().for_each(|(_, value)| self.collect(value, depth + 1)),
            },
        }
    }

    fn push(&mut self, attached: Attached) {
        if self.listed.len() < ATTACHMENTS_MAX {
            self.listed.push(attached);
        } else {
            self.more += 1;
        }
    }
}

/// An object that is an attachment itself, by the names that providers give to its parts.
fn one(members: &[(String, Tree)]) -> Option<Attached> {
    let text = |names: &[&str]| {
        let member = |name: &str| members.iter().rev().find(|(known, _)| known.replace(['_', '-'], "").eq_ignore_ascii_case(name));
        names.iter().find_map(|name| member(name)).and_then(|(_, value)| value.leaf()).filter(|text| !text.is_empty())
    };
    let name = text(&["name", "filename"]);
    let content_type = text(&["contenttype", "mimetype", "type"]);
    if let Some(url) = text(&["url", "fileurl", "downloadurl", "href", "link"]) {
        return match data_url(url) {
            Some(file) => Some(Attached::Here(File { name: name.map_or(file.name, safe_name), ..file })),
            None => addresses(url).next().map(|url| elsewhere(url, name, content_type)),
        };
    }
    let bytes = BASE64.decode(text(&["data", "content"])?.as_bytes()).ok()?;
    Some(Attached::Here(File::new(name?, content_type.map(str::to_owned), bytes).0))
}

fn elsewhere(url: &str, name: Option<&str>, content_type: Option<&str>) -> Attached {
    Attached::Elsewhere(Attachment {
        name: name.map(safe_name),
        content_type: content_type.map(str::to_owned),
        url: Some(url.to_owned()),
        ..Attachment::default()
    })
}

/// The web addresses in a text that holds nothing else of interest: one, or several in lines or behind commas.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let is_address = |word: &&str| {
        let begins = |scheme: &str| word.get(..scheme.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(scheme));
        begins("https://") || begins("http://")
    };
    text.split_whitespace().map(|word| word.trim_end_matches(',')).filter(is_address)
}

/// The file in a `data:` URL.
fn data_url(text: &str) -> Option<File> {
    let (declared, written) = text.trim().strip_prefix("data:")?.split_once(',')?;
    let bytes = match declared.strip_suffix(";base64") {
        Some(_) => BASE64.decode(written.as_bytes()).ok()?,
        None => return None,
    };
    let content_type = declared.split(';').next().filter(|kind| !kind.is_empty()).map(str::to_owned);
    Some(File::new("", content_type, bytes).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(json: &str) -> Found {
        let mut found = Found::default();
        found.add(&Tree::from_json(json).unwrap());
        found
    }

    fn names(json: &str) -> Vec<String> {
        let told = |attached: Attached| match attached {
            Attached::Elsewhere(at) => format!("{} <{}>", at.name.unwrap_or_default(), at.url.unwrap_or_default()),
            Attached::Here(file) => format!("{} ({})", file.name, file.bytes.len()),
        };
        found(json).listed.into_iter().map(told).collect()
    }

    #[test]
    fn addresses_are_found_however_they_are_written() {
        for (json, told) in [
            (r#""https://a.example/x""#, vec![" <https://a.example/x>"]),
            (r#"["https://a.example/x",null,"HTTP://b.example"]"#, vec![" <https://a.example/x>", " <HTTP://b.example>"]),
            (r#""https://a.example/x, https://b.example/y""#, vec![" <https://a.example/x>", " <https://b.example/y>"]),
            (r#"[{"url":"https://a.example","name":"../plan.pdf","mimeType":"application/pdf"}]"#, vec!["plan.pdf <https://a.example>"]),
            (r#"{"id":["https://a.example"],"report":["https://b.example"]}"#, vec![" <https://a.example>", " <https://b.example>"]),
            (r#"["none",7,"javascript:alert(1)","ftp://a.example"]"#, vec![]),
        ] {
            assert_eq!(names(json), told, "{json}");
        }
    }

    #[test]
    fn more_than_anybody_attaches_are_counted_and_not_listed() {
        let file = r#""data:text/plain;base64,aGk=","#;
        for (json, more) in [
            (format!("[{}\"https://a.example\"]", "\"https://a.example\",".repeat(80)), 31),
            (format!("\"{}\"", "https://a.example ".repeat(80)), 30),
            (format!("[{}null]", file.repeat(60)), 10),
            (format!("[{}null]", file.repeat(50)), 0),
        ] {
            let found = found(&json);
            assert_eq!((found.listed.len(), found.more), (ATTACHMENTS_MAX, more));
        }
    }

    #[test]
    fn files_that_are_written_out_are_files() {
        assert_eq!(names(r#"{"q":"data:image/png;base64,iVBORw0="}"#), ["unnamed (5)"]);
        assert_eq!(names(r#"[{"Name":"a/b.txt","ContentType":"text/plain","Content":"aGk="}]"#), ["b.txt (2)"]);
        assert_eq!(names(r#"["data:text/plain;base64,###","data:,x"]"#), [""; 0]);
    }
}
