//! Reading the places of a delivery that a rule names: a JSON Pointer into the body, or `header:NAME`.

use domain::identity::Place;
use domain::tree::Pointer;

/// Reads `header:NAME` or a pointer.
pub(super) fn place(text: &str) -> Result<Place, String> {
    match text.strip_prefix("header:") {
        Some(name) if is_header_name(name) => Ok(Place::Header(name.to_ascii_lowercase())),
        Some(name) => Err(format!("`{name}` is no name of a header: write header:NAME, e.g. header:X-Event-Id")),
        None => pointer(text).map(Place::Body),
    }
}

/// Reads a pointer to one place: a `*` would name several.
pub(super) fn pointer(text: &str) -> Result<Pointer, String> {
    let pointer = pattern(text)?;
    if pointer.0.iter().any(|token| token == "*") {
        return Err(format!("`{text}` must name one place: `*` is only for `volatile` and `items`"));
    }
    Ok(pointer)
}

/// Reads a pointer whose `*` stands for any member or element.
pub(super) fn pattern(text: &str) -> Result<Pointer, String> {
    let wrong = || format!("`{text}` is no JSON Pointer: write the way through the body, each step behind a slash, e.g. /contact/email");
    // The empty pointer is the whole body, which is never what a rule wants: as `volatile` it would erase the content.
    if text.is_empty() || text.bytes().zip(text.bytes().skip(1).chain([0])).any(|pair| pair.0 == b'~' && !matches!(pair.1, b'0' | b'1')) {
        return Err(wrong());
    }
    Pointer::parse(text).map_err(|_| wrong())
}

/// The `tchar`s of RFC 9110.
pub(super) fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_lower_cased_and_pointers_must_begin_with_a_slash() {
        assert_eq!(place("header:X-Event-Id"), Ok(Place::Header("x-event-id".to_owned())));
        assert_eq!(place("/a~1b/c"), Ok(Place::Body(Pointer(vec!["a/b".to_owned(), "c".to_owned()]))));
        for text in ["", "submission_id", "header:", "header:a b", "/entries/*", "/a~2", "/a~"] {
            assert!(place(text).is_err(), "{text}");
        }
        assert!(pattern("/entries/*").is_ok());
    }
}
