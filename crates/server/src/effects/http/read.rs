//! Reading a record back: does it carry our key, and is what must be equal equal?
//!
//! Differences are told by the names of fields, never by values: those are a person's (I12). A field that is not named in
//! `expect` may differ; people edit their records.

use domain::tree::Tree;

use super::client::Answer;
use super::write::parsed;
use super::{Call, Found, Http, Read, ReadBack, Rendered, Report, parse_url, scene};

impl Http {
    pub(super) async fn read_by_id(&self, read: &Read, call: &Call, id: &str) -> Report<ReadBack> {
        let failed = |why: String| Report::bare(ReadBack::Failed(why));
        let (headers, url) = match self.headers(call, Some(id)).and_then(|headers| {
            let url = read.url.render(&scene(&call.key, &call.scene, Some(id)))?;
            Ok((headers, parse_url("read.url", &url)?))
        }) {
            Ok(asked) => asked,
            Err(why) => return failed(why),
        };
        match self.client.read(headers.request(read.method.clone(), url), &self.clock).await {
            Ok(answer) => headers.report(&answer, compared(read, call, &answer)),
            Err(why) => failed(why),
        }
    }

    /// Where a record cannot be read by its id, its look-up shows whether it carries our key.
    pub(super) async fn read_by_key(&self, call: &Call, id: &str) -> Report<ReadBack> {
        let Report { what, facts, body } = self.look(call).await;
        let what = match what {
            Found::Records(ids) if ids == [id] => ReadBack::Same,
            Found::Records(ids) => ReadBack::Differs(format!("id: our key is carried by {}", ids.join(", "))),
            Found::Absent => ReadBack::Gone,
            Found::CannotTell(why) | Found::Unanswered { why, .. } => ReadBack::Failed(why),
            Found::Closed(why) => ReadBack::Closed(why),
        };
        Report { what, facts, body }
    }
}

fn compared(read: &Read, call: &Call, answer: &Answer) -> ReadBack {
    match answer.status {
        200..=299 => {}
        401 | 403 => return ReadBack::Closed(format!("status {}", answer.status)),
        404 | 410 => return ReadBack::Gone,
        status => return ReadBack::Failed(format!("status {status}")),
    }
    let tree = match answer.body.as_deref().map_err(Clone::clone).and_then(parsed) {
        Ok(tree) => tree,
        Err(why) => return ReadBack::Failed(why),
    };
    match tree.at(&read.key).and_then(Tree::leaf) {
        Some(key) if key == call.key => {}
        Some(_) => return ReadBack::Differs("key: the record carries another one".to_owned()),
        None => return ReadBack::Differs("key: the record carries none".to_owned()),
    }
    // What was rendered with the request, not what the scene says by now.
    let Ok(rendered) = serde_json::from_slice::<Rendered>(&call.rendered) else {
        return ReadBack::Failed("what was rendered is no request of this target".to_owned());
    };
    let differs = |(pointer, expected): &(&_, &String)| tree.at(pointer).and_then(Tree::leaf).unwrap_or_default() != expected.as_str();
    let names: Vec<String> = rendered.expect.iter().filter(differs).map(|(pointer, _)| pointer.to_string()).collect();
    if names.is_empty() { ReadBack::Same } else { ReadBack::Differs(names.join(", ")) }
}
