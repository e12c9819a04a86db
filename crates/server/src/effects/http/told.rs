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
            forms.extend([
                secret.clone(),
                json.trim_matches('"').to_owned(),
                json_ascii(json.trim_matches('"')),
                url.replace('+', "%20"),
                url,
            ]);
            forms.extend([data_encoding::BASE64.encode(secret.as_bytes()), data_encoding::BASE64_NOPAD.encode(secret.as_bytes())]);
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
}
