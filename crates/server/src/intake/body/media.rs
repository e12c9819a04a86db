//! What a `Content-Type` declares: the media type, and its parameters.

/// The longest boundary that is read, in bytes. RFC 2046 has 70, and some write longer ones.
pub(super) const BOUNDARY_MAX: usize = 300;

/// A declared type, as far as it can be believed.
pub(super) struct Media {
    /// Lower-cased, and nothing in it that could not stand in a media type. Empty if none was declared.
    pub(super) essence: String,
    /// The label of a character encoding.
    pub(super) charset: Option<String>,
    /// What divides a multipart body.
    pub(super) boundary: Option<String>,
}

impl Media {
    pub(super) fn read(declared: &str) -> Self {
        let essence = declared.split(';').next().unwrap_or_default().trim();
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || "/+-._".contains(*c);
        Self {
            essence: essence.chars().filter(is_plain).take(80).collect::<String>().to_ascii_lowercase(),
            charset: parameter(declared, "charset"),
            boundary: parameter(declared, "boundary").filter(|boundary| !boundary.is_empty() && boundary.len() <= BOUNDARY_MAX),
        }
    }
}

/// The value of a parameter behind a `;`, without its quotes. In quotes `\"` is a quote and `\\` a backslash; any other
/// backslash is itself, as browsers write it in file names.
pub(super) fn parameter(header: &str, wanted: &str) -> Option<String> {
    parameters(header, wanted).next()
}

/// The same, of every parameter of that name.
pub(super) fn parameters<'a>(header: &'a str, wanted: &'a str) -> impl Iterator<Item = String> + 'a {
    let mut rest = header.split_once(';').map(|(_, rest)| rest);
    std::iter::from_fn(move || {
        loop {
            let (name, after) = rest?.split_once('=')?;
            // A parameter without a value stands before it.
            let name = name.rsplit(';').next().unwrap_or_default().trim();
            let (value, tail) = value(after.trim_start());
            rest = tail.split_once(';').map(|(_, rest)| rest);
            if name.eq_ignore_ascii_case(wanted) {
                return Some(value);
            }
        }
    })
}

/// A value, and what stands behind it.
fn value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(';').unwrap_or(text.len());
        return (text[..end].trim().to_owned(), &text[end..]);
    };
    let (mut out, mut chars) = (String::new(), quoted.char_indices().peekable());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (out, &quoted[at + 1..]),
            '\\' => match chars.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => out.push(escaped),
                None => out.push('\\'),
            },
            other => out.push(other),
        }
    }
    (out, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_found_with_and_without_quotes() {
        let header = r#"form-data; flag; name="a;b=\"c\""; filename="..\dir\x.txt" ; CharSet = utf-8 ;x="#;
        assert_eq!(parameter(header, "name").as_deref(), Some(r#"a;b="c""#));
        assert_eq!(parameter(header, "filename").as_deref(), Some(r"..\dir\x.txt"));
        assert_eq!(parameter(header, "charset").as_deref(), Some("utf-8"));
        assert_eq!(parameter(header, "x").as_deref(), Some(""));
        assert_eq!(parameter(header, "file"), None);
        for broken in ["", "a", ";", ";=", "a;b", "a;b=\"", "a;b=\"\\"] {
            assert_eq!(parameter(broken, "name"), None, "{broken}");
        }
    }

    #[test]
    fn a_type_is_lower_cased_and_bounded() {
        let media = Media::read("Application/JSON ; charset=\"UTF-8\"");
        assert_eq!((media.essence.as_str(), media.charset.as_deref()), ("application/json", Some("UTF-8")));
        assert_eq!(Media::read("evil\" <script>\n; x").essence, "evilscript");
        assert_eq!(Media::read(&"x".repeat(300)).essence.len(), 80);
    }
}
