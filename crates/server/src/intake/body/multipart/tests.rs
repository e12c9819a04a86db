//! Multipart forms, whole and broken, and the same forms through a library that servers use.

use bytes::Bytes;
use domain::tree::{Pointer, Tree};
use futures_util::FutureExt as _;

use super::*;

const FORM: &str = "--XX\r\nContent-Disposition: form-data; name=\"f[email]\"\r\n\r\na@example.com\r\n\
                    --XX\r\ncontent-disposition: form-data; name=\"tags[]\"\r\n\r\nx\r\n\
                    --XX\r\nContent-Disposition: form-data; name=\"tags[]\"\r\n\r\ny\r\n\
                    --XX\r\nContent-Disposition: form-data; name=\"plan\"; filename=\"C:\\dir\\plan.pdf\"\r\nContent-Type: application/pdf\r\n\r\n%PDF\r\n--X\r\n\r\n\
                    --XX--\r\n";

fn form(boundary: Option<&str>, bytes: &[u8]) -> Result<(Tree, Vec<File>, Repairs), Unreadable> {
    let mut repairs = Repairs::default();
    let (tree, files) = read(boundary, bytes, &mut repairs)?;
    Ok((tree, files, repairs))
}

fn leaf(tree: &Tree, at: &str) -> Option<String> {
    tree.at(&Pointer::parse(at).unwrap()).and_then(Tree::leaf).map(str::to_owned)
}

fn why(boundary: Option<&str>, bytes: &[u8]) -> String {
    form(boundary, bytes).unwrap_err().to_string()
}

#[test]
fn fields_nest_and_files_are_files() {
    for bytes in [FORM.to_owned(), FORM.replace("\r\n", "\n"), format!("a preamble\r\n{FORM}an epilogue")] {
        let (tree, files, repairs) = form(Some("XX"), bytes.as_bytes()).unwrap();
        assert_eq!(leaf(&tree, "/f/email").as_deref(), Some("a@example.com"));
        assert_eq!(leaf(&tree, "/tags/1").as_deref(), Some("y"));
        assert_eq!(leaf(&tree, "/plan/filename").as_deref(), Some(r"C:\dir\plan.pdf"));
        assert_eq!(leaf(&tree, "/plan/sha256").as_deref(), Some(files[0].sha256.to_string().as_str()));
        let (name, kind) = (files[0].name.as_str(), files[0].content_type.as_deref());
        assert_eq!((files.len(), name, kind), (1, "plan.pdf", Some("application/pdf")));
        assert!(files[0].bytes.starts_with(b"%PDF") && files[0].bytes.windows(3).any(|word| word == b"--X"));
        assert_eq!(repairs.count(Repair::FileName), 1);
    }
}

/// What a well-kept library reads of the same bytes. It is not what we read with: it refuses a whole form over one NUL in a
/// file's name, and copies every byte twice.
fn by_multer(boundary: &str, bytes: &'static [u8]) -> Vec<(String, Option<String>, Vec<u8>)> {
    let read = async {
        let stream = futures_util::stream::once(async { Ok::<_, std::convert::Infallible>(Bytes::from_static(bytes)) });
        let mut form = multer::Multipart::new(stream, boundary.to_owned());
        let mut parts = Vec::new();
        while let Some(field) = form.next_field().await.unwrap() {
            let (name, file) = (field.name().unwrap_or_default().to_owned(), field.file_name().map(str::to_owned));
            parts.push((name, file, field.bytes().await.unwrap().to_vec()));
        }
        parts
    };
    read.now_or_never().unwrap()
}

#[test]
fn the_same_parts_as_a_library_reads() {
    let fixtures: [(&str, &[u8]); 8] = [
        ("----WebKitFormBoundary7MA4YWxkTrZu0gW", include_bytes!("../../../../tests/payloads/contact-form-7/feedback.multipart")),
        ("------------------------J1JNT4vbVO4FCC1qLG4HSv", include_bytes!("../../../../tests/payloads/jotform/response.multipart")),
        ("------------------------1WSA91c0mNqsH82UlEp0qj", include_bytes!("../../../../tests/payloads/jotform/resubmitted_page.multipart")),
        ("BoUnDaRy", include_bytes!("../../../../tests/payloads/mailgun/inbound.multipart")),
        ("BoUnDaRy", include_bytes!("../../../../tests/payloads/mailgun/inbound_duplicate_json_keys.multipart")),
        ("xYzZY", include_bytes!("../../../../tests/payloads/sendgrid-inbound/attachments.multipart")),
        ("xYzZY", include_bytes!("../../../../tests/payloads/sendgrid-inbound/charsets.multipart")),
        ("XX", FORM.as_bytes()),
    ];
    for (boundary, bytes) in fixtures {
        let ours: Vec<_> = split(boundary, bytes).unwrap();
        let ours = ours.iter().map(|part| Part::read(1, part, &mut Repairs::default()).unwrap());
        let ours: Vec<_> = ours.map(|part| (part.name.clone(), part.file_name.clone(), part.content.to_vec())).collect();
        let theirs = by_multer(boundary, bytes);
        assert_eq!(ours.len(), theirs.len());
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert_eq!((&ours.0, &ours.2), (&theirs.0, &theirs.2), "{boundary}");
            // A backslash in a file's name is kept here, and taken for an escape there.
            assert_eq!(ours.1.is_some(), theirs.1.is_some());
        }
    }
}

#[test]
fn an_untouched_file_input_is_none_and_an_empty_file_is_one() {
    let part = |name: &str| {
        format!(
            "--X\r\nContent-Disposition: form-data; name=\"f\"; filename=\"{name}\"\r\nContent-Type: application/octet-stream\r\n\r\n\r\n--X--\r\n"
        )
    };
    let (tree, files, _) = form(Some("X"), part("").as_bytes()).unwrap();
    assert_eq!((tree, files.len()), (Tree::Map(vec![]), 0));
    let (_, files, _) = form(Some("X"), part("empty.txt").as_bytes()).unwrap();
    assert_eq!((files[0].name.as_str(), files[0].bytes.len()), ("empty.txt", 0));
}

#[test]
fn a_parts_charset_is_honoured() {
    let form_of = |header: &str, more: &str| {
        let text = format!("--X\r\nContent-Disposition: form-data; name=\"m\"{header}\r\n\r\ncaf");
        [text.as_bytes(), b"\xE9", format!("\r\n{more}--X--").as_bytes()].concat()
    };
    let (tree, _, repairs) = form(Some("X"), &form_of("\r\nContent-Type: text/plain; charset=iso-8859-1", "")).unwrap();
    assert_eq!((leaf(&tree, "/m").as_deref(), repairs.count(Repair::Transcoded)), (Some("café"), 1));
    let own = "--X\r\nContent-Disposition: form-data; name=\"_charset_\"\r\n\r\nwindows-1252\r\n";
    assert_eq!(leaf(&form(Some("X"), &form_of("", own)).unwrap().0, "/m").as_deref(), Some("café"));
    let (tree, _, repairs) = form(Some("X"), &form_of("", "")).unwrap();
    assert_eq!((leaf(&tree, "/m").as_deref(), repairs.count(Repair::Undecodable)), (Some("caf\u{FFFD}"), 1));
}

#[test]
fn names_of_files_may_be_written_in_several_ways() {
    for (written, name) in [
        ("filename=\"a b.txt\"", "a b.txt"),
        ("filename=plain.txt", "plain.txt"),
        ("filename=\"x\"; filename*=UTF-8''na%C3%AFve%2B+.txt", "naïve++.txt"),
        ("filename=\"x.txt\"; filename*=iso-8859-1''%E9", "x.txt"),
        ("filename=\"nul\0.txt\"", "nul.txt"),
        ("filename=\"\u{202E}gpj.exe\"", "gpj.exe"),
    ] {
        let bytes = format!("--X\r\nContent-Disposition: form-data; name=\"f\"; {written}\r\n\r\nx\r\n--X--");
        assert_eq!(form(Some("X"), bytes.as_bytes()).unwrap().1[0].name, name, "{written}");
    }
}

#[test]
fn what_is_cut_or_wrongly_bounded_is_told() {
    for cut in 1..FORM.len() - 4 {
        let told = why(Some("XX"), &FORM.as_bytes()[..cut]);
        assert!(told.contains("breaks off in part") || told.contains("does not stand in it"), "{cut}: {told}");
    }
    let headless = FORM.replace("Content-Disposition", "X-Other").replace("content-disposition", "X-Other");
    assert!(why(Some("YY"), headless.as_bytes()).contains("does not stand in it"));
    assert!(why(Some("X"), b"--X\r\nno header at all\r\n--X--").contains("part 1 of the form has no header"));
}

#[test]
fn a_boundary_that_is_declared_wrongly_is_taken_from_the_body() {
    for declared in [None, Some("YY"), Some("")] {
        let (tree, _, repairs) = form(declared, FORM.as_bytes()).unwrap();
        assert_eq!((leaf(&tree, "/f/email").as_deref(), repairs.count(Repair::Boundary)), (Some("a@example.com"), 1), "{declared:?}");
    }
}

#[test]
fn forms_are_bounded() {
    let part = "--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n";
    let many = |count: usize| format!("{}--X--", part.repeat(count));
    assert!(form(Some("X"), many(PARTS_MAX).as_bytes()).is_ok());
    assert_eq!(why(Some("X"), many(PARTS_MAX + 1).as_bytes()), "the form has more than 1000 parts");
    let files = part.replace("name=\"a\"", "name=\"a\"; filename=\"a\"").repeat(FILES_MAX + 1);
    assert_eq!(why(Some("X"), format!("{files}--X--").as_bytes()), "the form has more than 50 files");
    let long = format!("--X\r\nX: {}\r\n\r\n1\r\n--X--", "x".repeat(HEADERS_MAX));
    assert!(why(Some("X"), long.as_bytes()).contains("longer than 8192 bytes"));
    let deep = format!("--X\r\nContent-Disposition: form-data; name=\"a{}\"\r\n\r\n1\r\n--X--", "[b]".repeat(16));
    assert_eq!(why(Some("X"), deep.as_bytes()), "the name of pair 1 nests deeper than 16 levels");
}

#[test]
fn the_parts_of_a_mail_are_no_form() {
    assert!(is_plainly(FORM.as_bytes()));
    assert!(!is_plainly(b"--X\r\nContent-Type: text/plain\r\n\r\nhello\r\n--X--"));
    assert!(!is_plainly(b"--\r\nContent-Disposition: form-data\r\n\r\n") && !is_plainly(b"-- a signature\r\nAvery"));
}
