//! What a reader would see of a message that is HTML. A message that is not stays as it is.
//!
//! Small on purpose: comments, scripts, and elements that are hidden by an attribute or by a style of their own go; what
//! hides by a style sheet, by colour or by place is not found out, and is data like the rest.

/// Names that make a text HTML: each is looked for as `<name` with the tag's end behind it.
const TELLING: [&str; 12] = ["html", "body", "div", "p", "br", "span", "table", "style", "a", "img", "font", "head"];
/// Elements whose content is never seen.
const UNSEEN: [&str; 6] = ["script", "style", "head", "title", "template", "noscript"];
/// Elements without content.
const EMPTY: [&str; 9] = ["br", "img", "hr", "input", "meta", "link", "wbr", "col", "source"];
/// Elements that a reader sees inside of a line.
const INLINE: [&str; 14] = ["a", "b", "i", "u", "em", "strong", "span", "font", "small", "sub", "sup", "code", "wbr", "img"];
/// What a style says, its white space and case apart, of something that is not to be seen.
const HIDING: [&str; 7] =
    ["display:none", "visibility:hidden", "font-size:0", "opacity:0", "mso-hide:all", "max-height:0", "color:transparent"];
/// Named characters; any other stays as it is written.
const NAMED: [(&str, char); 6] = [("amp", '&'), ("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("nbsp", ' ')];
/// The longest tag that is one.
const TAG_MAX: usize = 4_096;

/// What is seen.
pub(super) struct Seen {
    pub(super) text: String,
    /// Elements with a text in them that is not seen.
    pub(super) hidden: usize,
}

/// A tag, without its brackets.
struct Tag<'a> {
    name: String,
    closes: bool,
    attributes: &'a str,
    /// Bytes, with the brackets.
    len: usize,
}

/// The text as a reader sees it.
pub(super) fn seen(text: &str) -> Seen {
    if !is_html(text) {
        return Seen { text: text.to_owned(), hidden: 0 };
    }
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut hidden, mut tags) = (text, 0, Tags::of(text));
    while let Some(at) = rest.find('<') {
        // Each pass over the text is linear: see `Tags`, and a part that is not seen is looked through once.
        out.push_str(&decoded(&rest[..at]));
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            // Word processors and mailers write comments of their own, so one is left out and says nothing about the writer.
            rest = comment.split_once("-->").map_or("", |(_, behind)| behind);
            continue;
        }
        let Some(tag) = tags.at(text.len() - rest.len()) else {
            out.push('<');
            rest = &rest[1..];
            continue;
        };
        rest = &rest[tag.len..];
        if !tag.closes && !EMPTY.contains(&tag.name.as_str()) && (UNSEEN.contains(&tag.name.as_str()) || hides(tag.attributes)) {
            let end = inner_len(rest, &tag.name);
            let (inner, behind) = rest.split_at(end.unwrap_or(rest.len()));
            let has_text = inner.split('>').any(|part| part.split('<').next().unwrap_or_default().chars().any(char::is_alphanumeric));
            // A style sheet is nothing to hide; one that never ends hides the rest.
            hidden += usize::from(has_text && (end.is_none() || !UNSEEN.contains(&tag.name.as_str())));
            rest = behind;
        }
        if !INLINE.contains(&tag.name.as_str()) {
            out.push('\n');
        }
    }
    out.push_str(&decoded(rest));
    let mut lines: Vec<&str> = out.lines().map(str::trim).collect();
    lines.dedup_by(|line, before| line.is_empty() && before.is_empty());
    Seen { text: lines.join("\n"), hidden }
}

/// Whether it has a tag that people do not write by chance.
fn is_html(text: &str) -> bool {
    let mut tags = Tags::of(text);
    text.match_indices('<').any(|(at, _)| tags.at(at).is_some_and(|tag| TELLING.contains(&tag.name.as_str())))
}

/// Reads the tags of one text, from its beginning on. It remembers where the next `>` stands, so that a text of nothing but
/// beginnings of tags is looked through once, not once for each of them.
struct Tags<'a> {
    text: &'a str,
    /// The first `>` from where one was last looked for; the text's end if there is none.
    close: usize,
}

impl<'a> Tags<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, close: 0 }
    }

    /// The tag that begins at this byte. Never asked for one before a byte that was asked for already.
    fn at(&mut self, at: usize) -> Option<Tag<'a>> {
        let inner = self.text[at..].strip_prefix('<')?;
        let (closes, inner) = match inner.strip_prefix('/') {
            Some(inner) => (true, inner),
            None => (false, inner),
        };
        let name_len = inner.bytes().take_while(u8::is_ascii_alphanumeric).count();
        let (name, behind) = inner.split_at(name_len);
        let fits =
            name.starts_with(|c: char| c.is_ascii_alphabetic()) && behind.starts_with(|c: char| c.is_whitespace() || c == '>' || c == '/');
        if !fits {
            return None;
        }
        let from = self.text.len() - behind.len();
        if self.close < from {
            self.close = behind.find('>').map_or(self.text.len(), |end| from + end);
        }
        let end = self.close - from;
        let is_one = end < TAG_MAX && end < behind.len();
        is_one.then(|| Tag { name: name.to_ascii_lowercase(), closes, attributes: &behind[..end], len: self.close + 1 - at })
    }
}

/// Whether an element says of itself that it is not to be seen.
fn hides(attributes: &str) -> bool {
    let plain: String = attributes.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    // `font-size:0.9em` is small, not hidden.
    let styled = HIDING.iter().any(|hiding| {
        plain.match_indices(hiding).any(|(at, _)| !plain[at + hiding.len()..].starts_with(|c: char| c == '.' || c.is_ascii_digit()))
    });
    let named = attributes.split_whitespace().any(|word| {
        let word = word.trim_end_matches('/').to_ascii_lowercase();
        word == "hidden" || word.starts_with("hidden=")
    });
    styled || named
}

/// How far it is behind the end tag that belongs to an element which has just begun; `None` if it never ends.
fn inner_len(text: &str, name: &str) -> Option<usize> {
    let (mut depth, mut at, mut tags) = (1_usize, 0, Tags::of(text));
    while let Some(next) = text[at..].find('<') {
        at += next;
        match tags.at(at).filter(|tag| tag.name == name) {
            Some(tag) => {
                at += tag.len;
                depth = if tag.closes { depth - 1 } else { depth + 1 };
                if depth == 0 {
                    return Some(at);
                }
            }
            None => at += 1,
        }
    }
    None
}

/// Named and numbered characters as themselves.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let end = rest.bytes().take(12).position(|b| b == b';');
        match end.and_then(|end| Some((character(&rest[..end])?, end))) {
            Some((c, end)) => {
                out.push(c);
                rest = &rest[end + 1..];
            }
            None => out.push('&'),
        }
    }
    out.push_str(rest);
    out
}

fn character(name: &str) -> Option<char> {
    let Some(number) = name.strip_prefix('#') else {
        return NAMED.iter().find(|(known, _)| *known == name).map(|(_, c)| *c);
    };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(hex) => u32::from_str_radix(hex, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code).filter(|c| *c != '\0')
}
