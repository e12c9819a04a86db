//! The secrets that headers were told, and taking them out of what an API answers.
//!
//! An answer may repeat a request: a secret as it is, inside another form (`Basic` is base64 of it), or escaped as JSON or URL.
//! So the secrets themselves are remembered as templates ask for them, in memory only, and looked for in each of those forms.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::effects::template::Secrets;

/// A shorter secret would be found in every word, and is none.
const SECRET_MIN: usize = 4;
const MASK: &[u8] = b"[secret]";

/// Every secret that a header's template was told.
#[derive(Clone, Default)]
pub(super) struct Told(Arc<Mutex<BTreeSet<String>>>);

impl Told {
    /// The same secrets, remembered as they are told.
    pub(super) fn listening(&self, secrets: Secrets) -> Secrets {
        let told = Arc::clone(&self.0);
        Arc::new(move |reference| {
            let secret = secrets(reference)?;
            if secret.len() >= SECRET_MIN {
                told.lock().unwrap_or_else(PoisonError::into_inner).insert(secret.clone());
            }
            Ok(secret)
        })
    }

    /// Every form in which a secret, or a part of a whole header, may come back; the longest first, so that no rest of one
    /// stays behind.
    pub(super) fn forms(&self, parts: &[String]) -> Vec<String> {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut forms: BTreeSet<String> = BTreeSet::new();
        for secret in told.iter().chain(parts) {
            let json = serde_json::to_string(secret).unwrap_or_default();
            let url: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
            let json = json.trim_matches('"');
            // As JSON libraries write it: plainly; PHP with `\/`; Go and others with the letters of HTML as numbers; both.
            let plain = [json.to_owned(), json_ascii(json)];
            let safe = plain.clone().map(|text| json_safe(&text));
            let quoted = safe.clone().map(|text| text.replace('\'', "\\u0027"));
            let texts = [plain, safe, quoted].concat();
            forms.extend(texts.iter().map(|text| text.replace('/', "\\/")));
            forms.extend(texts);
            for kept in [&b"-._~"[..], b"-._~/", b"-._~!*'()"] {
                forms.extend([percent_encoded(secret, kept, false), percent_encoded(secret, kept, true)]);
            }
            forms.extend([html(secret, "&#39;"), html(secret, "&#x27;"), html(secret, "'")]);
            forms.extend([secret.clone(), url.replace('+', "%20"), url]);
            let bytes = secret.as_bytes();
            forms.extend([data_encoding::BASE64.encode(bytes), data_encoding::BASE64_NOPAD.encode(bytes)]);
            forms.extend([data_encoding::BASE64URL.encode(bytes), data_encoding::BASE64URL_NOPAD.encode(bytes)]);
        }
        let mut forms: Vec<String> = forms.into_iter().filter(|form| form.len() >= SECRET_MIN).collect();
        forms.sort_by_key(|form| std::cmp::Reverse(form.len()));
        forms
    }
}

/// JSON text with nothing but ASCII in it: `ä` as `\u00e4`, as many libraries write it.
fn json_ascii(json: &str) -> String {
    let mut out = String::new();
    for c in json.chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            let mut units = [0_u16; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

/// JSON text with the letters that HTML knows as numbers, as some libraries write it by default.
fn json_safe(json: &str) -> String {
    json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e")
}

/// Percent-encoded but for ASCII letters, digits and what is `kept`: libraries differ in that, and in the case of the digits.
fn percent_encoded(text: &str, kept: &[u8], lower: bool) -> String {
    let escaped = |byte: u8| match byte {
        _ if byte.is_ascii_alphanumeric() || kept.contains(&byte) => char::from(byte).to_string(),
        _ if lower => format!("%{byte:02x}"),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escaped).collect()
}

/// As a page would show it.
fn html(text: &str, apostrophe: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;");
    text.replace('\'', apostrophe)
}

/// The bytes with every one of these masked.
pub(super) fn without(bytes: &[u8], forms: &[String]) -> Vec<u8> {
    forms.iter().fold(bytes.to_vec(), |bytes, secret| {
        let mut out = Vec::with_capacity(bytes.len());
        let mut rest = bytes.as_slice();
        while let Some(at) = rest.windows(secret.len()).position(|window| window == secret.as_bytes()) {
            out.extend_from_slice(&rest[..at]);
            out.extend_from_slice(MASK);
            rest = &rest[at + secret.len()..];
        }
        out.extend_from_slice(rest);
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i12_a_secret_is_masked_in_every_form_an_answer_may_repeat_it_in() {
        let told = Told::default();
        let secrets = told.listening(Arc::new(|reference| {
            Ok(match reference {
                "env:PW" => "hunter2-very",
                "env:SHORT" => "tok1",
                _ => "a\"b\\\u{e4} c",
            }
            .to_owned())
        }));
        for reference in ["env:PW", "env:SHORT", "env:ODD"] {
            secrets(reference).unwrap();
        }
        let forms = told.forms(&["YXBpOmh1bnRlcjI=".to_owned()]);
        for echo in [
            "bad login api:hunter2-very",
            "key tok1 is over",
            "Basic YXBpOmh1bnRlcjI= refused",
            r#"{"m":"a\"b\\\u00e4 c"}"#,
            "{\"m\":\"a\\\"b\\\\\u{e4} c\"}",
            "?key=a%22b%5C%C3%A4%20c&x",
            "aHVudGVyMi12ZXJ5",
        ] {
            let masked = String::from_utf8(without(echo.as_bytes(), &forms)).unwrap();
            assert!(masked.contains("[secret]"), "{echo}");
            for secret in ["hunter2", "tok1", "YXBp", "a\\\"b", "%22b", "aHVud"] {
                assert!(!masked.contains(secret), "{echo} became {masked}");
            }
        }
        assert_eq!(without(b"nothing of ours", &forms), b"nothing of ours");
    }

    #[test]
    fn i12_a_secret_is_masked_however_a_library_escapes_it() {
        let secret = "a+b/c~d!e'f&g<h";
        let told = Told::default();
        let secrets = told.listening(Arc::new(move |_| Ok(secret.to_owned())));
        secrets("env:T").unwrap();
        let forms = told.forms(&[]);
        for echo in [
            r"a+b\/c~d!e'f&g<h",
            r"a+b/c~d!e'f\u0026g\u003ch",
            r"a+b\/c~d!e\u0027f\u0026g\u003ch",
            "a%2Bb%2Fc~d%21e%27f%26g%3Ch",
            "a%2Bb/c~d%21e%27f%26g%3Ch",
            "a%2Bb%2Fc~d!e'f%26g%3Ch",
            "a%2bb%2fc~d%21e%27f%26g%3ch",
            "a+b/c~d!e&#39;f&amp;g&lt;h",
            "a+b/c~d!e&#x27;f&amp;g&lt;h",
        ] {
            assert_eq!(without(echo.as_bytes(), &forms), b"[secret]", "{echo}");
        }
    }
}
