//! The look-up by key: every page, every record, and only what carries our key byte for byte.
//!
//! A CRM that does not know a filter ignores it and answers with everybody's records; that proves neither presence nor
//! absence (`docs/connectors.md#ignored-filters`). Neither does a 404, unless it is about a resource of this key's own
//! (`/deals/{{ key }}`): at a collection's address it says that the address is wrong. When an absence counts as proof is
//! the gate's business.

use std::collections::BTreeSet;

use domain::tree::Tree;
use reqwest::header::{CONTENT_TYPE, HeaderValue};
use reqwest::{Body, Url};

use super::client::Answer;
use super::write::{Headers, TOO_MANY_MS, id, parsed};
use super::{Call, Found, Http, LookUp, Report, parse_url, scene};

/// More pages than this no look-up by key can need.
const PAGES_MAX: usize = 1000;

const NO_COLLECTION: &str = "status 404: there is nothing at find.url, which a search for no record does not say; compare it with the API";

/// What the pages have shown so far.
#[derive(Default)]
struct Seen {
    ids: Vec<String>,
    others: usize,
    pages: usize,
    urls: BTreeSet<String>,
    by_key: bool,
}

/// A look-up as it is sent.
struct Asked {
    headers: Headers,
    url: Url,
    body: Option<String>,
    /// The path names the key, so it is the address of that one record.
    by_key: bool,
}

/// What a page leads to.
enum Turn {
    End(Found),
    Next(Url),
}

impl Http {
    pub(super) async fn look(&self, call: &Call) -> Report<Found> {
        let cannot_tell = |why: String| Report::bare(Found::CannotTell(why));
        let Some(look_up) = &self.look_up else {
            return cannot_tell("this target has no look-up".to_owned());
        };
        let Asked { headers, mut url, body, by_key } = match self.asked(look_up, call) {
            Ok(asked) => asked,
            Err(why) => return cannot_tell(why),
        };
        let mut seen = Seen { by_key, ..Seen::default() };
        let mut evidence: Option<Vec<u8>> = None;
        loop {
            let mut request = headers.request(look_up.method.clone(), url.clone());
            if let Some(body) = &body {
                request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                *request.body_mut() = Some(Body::from(body.clone()));
            }
            let answer = match self.client.read(request, &self.clock).await {
                Ok(answer) => answer,
                Err(why) => return Report::bare(Found::Unanswered { why, retry_after_ms: None }),
            };
            match seen.turn(look_up, &call.key, &url, &answer) {
                Turn::Next(next) => {
                    evidence = evidence.or(headers.report(&answer, ()).body);
                    url = next;
                }
                Turn::End(found) => {
                    let mut report = headers.report(&answer, found);
                    report.facts = report.facts.with("pages", seen.pages).with("others", seen.others);
                    report.body = evidence.or(report.body);
                    return report;
                }
            }
        }
    }

    fn asked(&self, look_up: &LookUp, call: &Call) -> Result<Asked, String> {
        let address = |key: &str| parse_url("find.url", &look_up.url.render(&scene(key, &call.scene, None))?);
        let url = address(&call.key)?;
        // Asked of the template by what it makes of another key: it may print the key by any way it likes.
        let by_key = address(&format!("{}0", call.key))?.path() != url.path();
        let body = look_up.body.as_ref().map(|body| body.render(&scene(&call.key, &call.scene, None))).transpose()?;
        Ok(Asked { headers: self.headers(call, None)?, url, body, by_key })
    }
}

impl Seen {
    fn turn(&mut self, look_up: &LookUp, key: &str, url: &Url, answer: &Answer) -> Turn {
        self.pages += 1;
        self.urls.insert(url.to_string());
        match answer.status {
            200 => {}
            // 202 is not ready, 203 is somebody else's, 206 is a part: none of them says what there is.
            201..=299 => return cannot_tell(format!("status {}, where only a 200 says what there is", answer.status)),
            401 | 403 => return Turn::End(Found::Closed(format!("status {}", answer.status))),
            // A page of a proxy in the API's place is not the API's answer.
            404 if self.pages == 1 && self.by_key && is_the_apis_own(answer) => return Turn::End(Found::Absent),
            404 if self.pages == 1 && !self.by_key => return cannot_tell(NO_COLLECTION.to_owned()),
            408 | 425 | 429 | 500..=599 => {
                let why = format!("status {}", answer.status);
                let too_many = (answer.status == 429).then_some(TOO_MANY_MS);
                return Turn::End(Found::Unanswered { why, retry_after_ms: answer.retry_after_ms.or(too_many) });
            }
            status => return cannot_tell(format!("status {status}")),
        }
        if let Err(why) = &answer.body {
            return Turn::End(Found::Unanswered { why: why.clone(), retry_after_ms: None });
        }
        let tree = match answer.body.as_deref().map_err(Clone::clone).and_then(parsed) {
            Ok(tree) => tree,
            Err(why) => return cannot_tell(why),
        };
        if let Err(why) = self.note(look_up, key, &tree) {
            return cannot_tell(why);
        }
        match self.next(look_up, url, &tree) {
            Ok(Some(next)) => Turn::Next(next),
            Ok(None) => Turn::End(self.conclusion(look_up)),
            Err(why) => cannot_tell(why),
        }
    }

    /// Notes the page's records. What stands at the pointer must be there: an error under a 200 has no list.
    fn note(&mut self, look_up: &LookUp, key: &str, tree: &Tree) -> Result<(), String> {
        let records = match tree.at(&look_up.params.records) {
            Some(Tree::List(records)) => records.as_slice(),
            Some(one @ Tree::Map(_)) => std::slice::from_ref(one),
            Some(Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Text(_)) | None => {
                return Err("the answer holds no list of records at find.records".to_owned());
            }
        };
        for record in records {
            if record.at(&look_up.params.key).and_then(Tree::leaf) != Some(key) {
                self.others += 1;
                continue;
            }
            match record.at(&look_up.params.id).and_then(id) {
                // Pages may overlap when records come in meanwhile.
                Some(id) if self.ids.contains(&id) => {}
                Some(id) => self.ids.push(id),
                None => return Err("a record carries our key but no id at find.id".to_owned()),
            }
        }
        Ok(())
    }

    /// The next page: on the same origin, for our headers hold secrets, and never one that was seen.
    fn next(&self, look_up: &LookUp, url: &Url, tree: &Tree) -> Result<Option<Url>, String> {
        let Some(text) = look_up.params.next.as_ref().and_then(|next| tree.at(next)).and_then(Tree::leaf) else {
            return Ok(None);
        };
        if text.is_empty() {
            return Ok(None);
        }
        let next = url.join(text).map_err(|_| "the answer holds no URL at find.next".to_owned())?;
        if next.origin() != url.origin() {
            return Err("the next page is on another origin".to_owned());
        }
        if self.urls.contains(next.as_str()) {
            return Err("the pages lead in a circle".to_owned());
        }
        if self.pages >= PAGES_MAX {
            return Err(format!("there are more than {PAGES_MAX} pages"));
        }
        Ok(Some(next))
    }

    fn conclusion(&self, look_up: &LookUp) -> Found {
        if !self.ids.is_empty() {
            return Found::Records(self.ids.clone());
        }
        if self.others > 0 && look_up.params.next.is_none() {
            return Found::CannotTell(format!(
                "the answer holds other keys' records ({}), so the filter was ignored; configure find.next so that every page can be followed",
                self.others
            ));
        }
        Found::Absent
    }
}

fn cannot_tell(why: String) -> Turn {
    Turn::End(Found::CannotTell(why))
}

/// Whether a 404 is the API's word about the record, not a proxy's page about a path.
fn is_the_apis_own(answer: &Answer) -> bool {
    answer.body.as_ref().is_ok_and(|body| body.trim_ascii_start().first() != Some(&b'<'))
}
