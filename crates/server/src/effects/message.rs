//! Messages to people: one whole RFC 5322 message, built once, to be sent byte for byte on every try.
//!
//! Its Message-ID follows from the outgoing key, the action and the recipient, so a copy that a lost answer may cause is
//! one that mailboxes can tell (`docs/connectors.md#message-id`; freescout-help-desk/freescout#5457 and
//! codefuturist/email-mcp#62 sent a new id each time). Writing or sending it is the target's business.

use std::time::SystemTime;

use data_encoding::BASE32_DNSSEC;
use domain::digest::Digest;
use lettre::Message;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, SinglePart};
use serde_json::Value as Json;

use super::template::{Place, Template, scene};

/// 160 bits of the digest: a Message-ID should fit a line.
const NAME_BYTES: usize = 20;

/// Characters of a header: encoded and unfolded it stays under the 998 bytes of RFC 5322's line.
const HEADER_MAX: usize = 240;

/// Who writes, and the templates of what is written.
#[derive(Debug)]
pub struct Letter {
    from: Mailbox,
    subject: Template,
    text: Template,
}

impl Letter {
    /// `from` is an address, or `Name <address>`.
    pub fn compile(from: &str, subject: &str, text: &str) -> Result<Self, String> {
        Ok(Self {
            from: from.parse().map_err(|e| format!("from: '{from}' is no address ({e})"))?,
            subject: Template::compile("subject", subject, Place::Text)?,
            text: Template::compile("template", text, Place::Text)?,
        })
    }

    /// The message of one effect.
    ///
    /// The recipient is the enquiry's own address, as a form or a mail gave it; what a model found in the text is a hint,
    /// never a recipient (I9).
    pub fn message(&self, key: &str, told: &Json) -> Result<Vec<u8>, String> {
        let text = |pointer: &str| told.pointer(pointer).and_then(Json::as_str).filter(|text| !text.is_empty());
        let address = text("/enquiry/contact/email").ok_or("the enquiry has no e-mail address")?;
        let address: lettre::Address = address.parse().map_err(|e| format!("no message can go to the enquiry's address: {e}"))?;
        let action = text("/action").ok_or("the scene names no action")?;
        // The Date is the enquiry's, not that of the try, so that each try gives the same bytes.
        let accepted = text("/enquiry/accepted_at")
            .and_then(|at| SystemTime::try_from(at.parse::<jiff::Timestamp>().ok()?).ok())
            .ok_or("the scene has no enquiry.accepted_at in RFC 3339")?;
        let scene = scene(key, told, None);
        let name = Digest::of_parts([key.as_bytes(), action.as_bytes(), address.to_string().as_bytes()]);
        let name = BASE32_DNSSEC.encode(&name.as_bytes()[..NAME_BYTES]);
        let body = self.text.render(&scene)?;
        // A draft that is not there leaves nothing to be said: a person decides what is.
        if body.trim().is_empty() {
            return Err("its text is empty: is what the template shows there?".to_owned());
        }
        let message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, address))
            .subject(one_line(&self.subject.render(&scene)?))
            .date(accepted)
            .message_id(Some(format!("<ob.{name}@{}>", self.from.email.domain())))
            // RFC 3834: machines do not answer it, so two of them cannot answer each other for ever.
            .raw_header(plain("Auto-Submitted", "auto-generated".to_owned()))
            .raw_header(plain("X-Oncebook-Key", one_line(key)))
            .singlepart(SinglePart::plain(lines(&body)));
        Ok(message.map_err(|e| format!("no message can be built: {e}"))?.formatted())
    }
}

/// The Message-ID of a message of ours, without brackets; the header may have been folded.
pub fn id_in(message: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(message).ok()?;
    let head = text.split("\r\n\r\n").next()?;
    let id = head.split("\r\nMessage-ID:").nth(1)?.trim_start().strip_prefix('<')?.split('>').next()?;
    id.starts_with("ob.").then(|| id.to_owned())
}

/// A header's text: one line, no longer than a line may be.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(HEADER_MAX).collect::<String>().trim().to_owned()
}

/// A body's text, each line ended alike: RFC 5322 has no CR that stands alone.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn plain(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const TEXT: &str = "Hello{% if enquiry.contact.name %} {{ enquiry.contact.name }}{% endif %},\n\nthank you.\n";

    fn letter() -> Letter {
        Letter::compile("Sample Desk <desk@example.com>", "Re: {{ enquiry.summary }}", TEXT).unwrap()
    }

    fn told(email: Option<&str>, summary: &str) -> Json {
        json!({
            "action": "follow-up", "ordinal": 0, "qualification": {"contact_facts": ["email: model@example.org"]},
            "enquiry": {"summary": summary, "accepted_at": "2026-03-02T09:15:04.120Z", "contact": {"email": email, "name": null}},
        })
    }

    fn head(bytes: &[u8]) -> String {
        std::str::from_utf8(bytes).unwrap().split("\r\n\r\n").next().unwrap().to_owned()
    }

    #[test]
    fn a_message_is_built_whole_and_the_same_each_time() {
        let told = told(Some("avery@example.com"), "Ten chairs");
        let built = |key: &str| letter().message(key, &told).unwrap();
        let bytes = built("web:submission:1");
        for line in [
            "From: \"Sample Desk\" <desk@example.com>",
            "To: avery@example.com",
            "Subject: Re: Ten chairs",
            "Date: Mon, 02 Mar 2026 09:15:04 +0000",
            "Auto-Submitted: auto-generated",
            "X-Oncebook-Key: web:submission:1",
            "MIME-Version: 1.0",
        ] {
            assert!(head(&bytes).lines().any(|of| of == line), "{line} in {}", head(&bytes));
        }
        assert!(!String::from_utf8(bytes.clone()).unwrap().contains("model@example.org"));
        assert_eq!(bytes, built("web:submission:1"));
        let ids = ["web:submission:1", "web:submission:2", "web:submission:1#1"].map(|key| id_in(&built(key)).unwrap());
        assert!(ids[0].starts_with("ob.") && ids[0].ends_with("@example.com"), "{}", ids[0]);
        assert!(ids[0] != ids[1] && ids[0] != ids[2]);
    }

    #[test]
    fn an_empty_letter_is_no_message() {
        let letter = Letter::compile("Desk <desk@example.com>", "Your enquiry", " {% if false %}40 chairs{% endif %}\n").unwrap();
        let told = told(Some("avery@example.com"), "40 chairs");
        assert!(letter.message("website:submission:1", &told).unwrap_err().contains("empty"));
    }

    #[test]
    fn nothing_of_the_enquiry_becomes_a_header() {
        let evil = "é\r\nBcc: evil@example.org\r\n\r\nbody".repeat(9);
        let bytes = letter().message(&evil, &told(Some("a@example.com"), &evil)).unwrap();
        assert!(!head(&bytes).lines().any(|line| line.starts_with("Bcc")), "{}", head(&bytes));
        assert!(id_in(&bytes).is_some());
        let no = [
            "a@example.com\r\nBcc: evil@example.org",
            "a@example.com, b@example.org",
            "a b@example.com",
            "nobody",
            "<a@example.com>",
            "a@",
        ];
        for address in no {
            let why = letter().message("k", &told(Some(address), "x")).unwrap_err();
            assert!(why.contains("address"), "{address}: {why}");
        }
        assert!(letter().message("k", &told(None, "x")).unwrap_err().contains("no e-mail address"));
    }

    #[test]
    fn no_line_is_too_long_and_no_return_stands_alone() {
        let letter = Letter::compile("desk@example.com", "{{ enquiry.summary }}", "{{ enquiry.summary }}").unwrap();
        for summary in ["x".repeat(5_000), "é".repeat(5_000)] {
            let bytes = letter.message("k", &told(Some("a@example.com"), &summary)).unwrap();
            assert!(head(&bytes).lines().all(|line| line.len() < 998));
        }
        let bytes = letter.message("k", &told(Some("a@example.com"), "one\rtwo\r\nthree\nfour")).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.ends_with("one\r\ntwo\r\nthree\r\nfour\r\n"), "{text:?}");
    }

    #[test]
    fn a_long_domain_folds_the_message_id_and_it_is_still_read() {
        let letter = Letter::compile(&format!("desk@{}.example.com", "a".repeat(60)), "Your enquiry", TEXT).unwrap();
        let id = id_in(&letter.message("k", &told(Some("a@example.com"), "x")).unwrap()).unwrap();
        assert!(id.ends_with(".example.com"), "{id}");
    }
}
