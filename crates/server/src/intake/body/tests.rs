//! Bodies as they come: what is read, and what is said of what is not.

use domain::tree::Pointer;

use super::*;

const FORM: Option<&str> = Some("application/x-www-form-urlencoded");
const JSON: Option<&str> = Some("application/json; charset=utf-8");

fn leaf(tree: &Tree, pointer: &str) -> Option<String> {
    tree.at(&Pointer::parse(pointer).unwrap()).and_then(Tree::leaf).map(str::to_owned)
}

fn why(content_type: Option<&str>, bytes: &[u8]) -> String {
    read(content_type, bytes).unwrap_err().to_string()
}

#[test]
fn json_is_read_by_its_type_or_by_its_first_byte() {
    for content_type in
        [JSON, Some("application/cloudevents+json"), Some("Text/Plain"), None, Some("application/octet-stream"), Some("text/json")]
    {
        let tree = read(content_type, b" \r\n{\"a\":1.10}").unwrap();
        assert_eq!(leaf(&tree, "/a").as_deref(), Some("1.10"), "{content_type:?}");
    }
    assert!(matches!(read(JSON, b"[1]"), Ok(Tree::List(_))));
}

#[test]
fn c037_big_ids_keep_every_digit_and_neighbours_stay_two() {
    let one = read(JSON, br#"{"id":9007199254740993}"#).unwrap();
    let two = read(JSON, br#"{"id":9007199254740992}"#).unwrap();
    assert_eq!(leaf(&one, "/id").as_deref(), Some("9007199254740993"));
    assert_ne!(one, two);
}

#[test]
fn a_byte_order_mark_is_no_content() {
    assert_eq!(leaf(&read(JSON, b"\xEF\xBB\xBF{\"a\":\"x\"}").unwrap(), "/a").as_deref(), Some("x"));
    assert_eq!(leaf(&read(FORM, b"\xEF\xBB\xBFa=x").unwrap(), "/a").as_deref(), Some("x"));
    assert_eq!(why(JSON, b"\xEF\xBB\xBF"), "the body is empty");
}

#[test]
fn what_is_unreadable_is_told_without_its_values() {
    assert_eq!(why(JSON, b""), "the body is empty");
    assert_eq!(why(None, b" \n"), "the body is empty");
    assert_eq!(why(JSON, b"\"avery@example.com\""), "the body is a single JSON value, and neither an object nor a list");
    assert_eq!(why(JSON, b"{\"a\":\"\xFF\"}"), "the body is not UTF-8: broken at byte 7");
    assert_eq!(why(None, b"a=1"), "the body has no content type, and is no JSON object or list");
    assert_eq!(why(Some("text/plain"), b"Hello"), "the body is text/plain, and is no JSON object or list");
    assert!(why(Some("multipart/form-data; boundary=x"), b"--x").contains("multipart/form-data"));
    assert!(why(Some("application/xml"), b"<a/>").contains("application/xml"));
    let broken = why(JSON, b"{\"email\":\"avery@example.com\",");
    assert!(broken.starts_with("the body is not JSON: ") && broken.contains("line 1"), "{broken}");
    let lone_surrogate = why(JSON, br#"{"message":"secret \ud83d words"}"#);
    for words in [broken, lone_surrogate] {
        assert!(!words.contains("avery") && !words.contains("secret"), "{words}");
    }
    let deep = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
    assert!(why(JSON, deep.as_bytes()).contains("nested deeper"));
}

#[test]
fn a_content_type_cannot_smuggle_text_into_the_reason() {
    let words = why(Some("evil\" <script>\n; x"), b"x");
    assert!(!words.contains(['<', '"', '\n']), "{words}");
}

#[test]
fn a_form_is_read_with_its_escapes() {
    let tree = read(FORM, b"name=Avery+Sample&message=caf%C3%A9+%26+100%25&sent=50%&empty=&flag&&\r\n").unwrap();
    assert_eq!(leaf(&tree, "/name").as_deref(), Some("Avery Sample"));
    assert_eq!(leaf(&tree, "/message").as_deref(), Some("café & 100%"));
    assert_eq!(leaf(&tree, "/sent").as_deref(), Some("50%"));
    assert_eq!(leaf(&tree, "/empty").as_deref(), Some(""));
    assert_eq!(leaf(&tree, "/flag").as_deref(), Some(""));
}

#[test]
fn nested_names_become_members_and_elements() {
    let tree = read(FORM, b"f[email][value]=a%40example.com&f%5Bname%5D=Avery&tags[]=x&tags[]=y&o[][n]=1&o[][n]=2&i[0][n]=3").unwrap();
    assert_eq!(leaf(&tree, "/f/email/value").as_deref(), Some("a@example.com"));
    assert_eq!(leaf(&tree, "/f/name").as_deref(), Some("Avery"));
    assert_eq!(leaf(&tree, "/tags/1").as_deref(), Some("y"));
    assert_eq!(leaf(&tree, "/o/1/n").as_deref(), Some("2"));
    assert_eq!(leaf(&tree, "/i/0/n").as_deref(), Some("3"));
}

#[test]
fn a_name_that_comes_again_is_a_list_and_nothing_is_dropped() {
    let tree = read(FORM, b"a=1&a=2&a=3&b=1&b[c]=2&odd[=4&[x]=5&e[f]g=6").unwrap();
    assert_eq!(leaf(&tree, "/a/2").as_deref(), Some("3"));
    assert_eq!(leaf(&tree, "/b/c").as_deref(), Some("2"));
    assert_eq!(leaf(&tree, "/odd[").as_deref(), Some("4"));
    assert_eq!(leaf(&tree, "/[x]").as_deref(), Some("5"));
    assert_eq!(leaf(&tree, "/e[f]g").as_deref(), Some("6"));
    let Tree::Map(members) = tree else { panic!("a form is a map") };
    assert_eq!(members.iter().filter(|(name, _)| name == "b").count(), 2);
}

#[test]
fn a_form_that_is_not_utf_8_says_where() {
    assert_eq!(why(FORM, b"a=1&name=caf%E9"), "the form is not UTF-8: pair 2 is broken");
    assert_eq!(why(FORM, b"a=1&b=\xE9"), "the form is not UTF-8: pair 2 is broken");
    // The replacement character itself is valid, and may have been typed.
    assert_eq!(leaf(&read(FORM, b"a=%EF%BF%BD").unwrap(), "/a").as_deref(), Some("\u{FFFD}"));
}

#[test]
fn a_form_is_bounded() {
    let form = |pairs: usize| vec!["a=1"; pairs].join("&").into_bytes();
    assert!(read(FORM, &form(1000)).is_ok());
    assert_eq!(why(FORM, &form(1001)), "the form has more than 1000 pairs");
    let nested = |depth: usize| format!("a{}=1", "[b]".repeat(depth - 1)).into_bytes();
    assert!(read(FORM, &nested(16)).is_ok());
    assert_eq!(why(FORM, &nested(17)), "the name of pair 1 nests deeper than 16 levels");
}

#[test]
fn json_that_is_called_a_form_is_still_json() {
    assert_eq!(leaf(&read(FORM, br#"{"email":"a@example.com"}"#).unwrap(), "/email").as_deref(), Some("a@example.com"));
    assert_eq!(leaf(&read(FORM, b"{x=1").unwrap(), "/{x").as_deref(), Some("1"));
}
