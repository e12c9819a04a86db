//! The timeline: every journal entry with one plain sentence, built from its kind and its facts alone.

mod arrival;
mod effect;
#[cfg(test)]
mod tests;

use evidence::{Entry, Facts};
use serde::Serialize;

use super::At;

/// One entry of a timeline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Happening {
    /// When it happened.
    pub at: At,
    /// Its place in its stream.
    pub seq: u64,
    /// The stream it stands in.
    pub stream: String,
    /// What happened.
    pub kind: String,
    /// Who did it.
    pub actor: String,
    /// The same, in a sentence.
    pub says: String,
    /// What there is to say about it.
    pub facts: Facts,
    /// The digests of the blobs it speaks of.
    pub blobs: Vec<String>,
}

impl Happening {
    /// The view of an entry.
    pub fn of(entry: &Entry) -> Self {
        Self {
            at: At(entry.at),
            seq: entry.seq,
            stream: entry.stream.to_string(),
            kind: entry.kind.clone(),
            actor: entry.actor.clone(),
            says: says(&entry.kind, &entry.facts),
            facts: entry.facts.clone(),
            blobs: entry.blobs.iter().map(ToString::to_string).collect(),
        }
    }
}

/// The sentence of an entry; the kind itself where nobody has written one.
pub fn says(kind: &str, facts: &Facts) -> String {
    let told = Told(facts);
    let sentence = match kind.split_once('.') {
        Some(("delivery", "received")) => Some(arrival::received(told)),
        Some(("enquiry", what)) => arrival::of_enquiry(what, told),
        Some(("effect", what)) => effect::says(what, told),
        Some(("review", what)) => of_review(what, told),
        _ => of_the_rest(kind, told),
    };
    sentence.unwrap_or_else(|| kind.to_owned())
}

/// Facts, read for a sentence: what is missing leaves a gap that reads as one.
#[derive(Clone, Copy)]
struct Told<'a>(&'a Facts);

impl<'a> Told<'a> {
    fn text(self, name: &str) -> &'a str {
        self.maybe(name).unwrap_or("?")
    }

    fn maybe(self, name: &str) -> Option<&'a str> {
        self.0.text(name)
    }

    fn number(self, name: &str) -> i64 {
        self.0.get(name).and_then(serde_json::Value::as_i64).unwrap_or_default()
    }

    fn is(self, name: &str) -> bool {
        self.0.get(name).and_then(serde_json::Value::as_bool).unwrap_or_default()
    }

    /// What was mended in a body.
    fn mended(self) -> Option<String> {
        let kinds = self.0.get("repairs")?.as_object()?;
        let counts = kinds.iter().filter_map(|(kind, count)| Some((kind.clone(), u32::try_from(count.as_u64()?).ok()?)));
        super::mended(&counts.collect())
    }

    /// `: why`, or nothing.
    fn because(self) -> String {
        self.maybe("why").map_or_else(String::new, |why| format!(": {why}"))
    }
}

fn of_review(what: &str, told: Told<'_>) -> Option<String> {
    let about = match told.text("kind") {
        "conflict" => "other content under a known key",
        "look_alike" => "fields that repeat a recent enquiry's",
        "ambiguous_time" => "an ambiguous event time",
        "ambiguous" => "who or what an enquiry is",
        "qualification" => "the qualification",
        "effect" => "an effect that needs a person",
        "message" => "a message that waits for a person",
        other => other,
    };
    let decision = told.text("decision");
    Some(match what {
        "opened" if told.is("holds") => format!("A person is asked about {about}; what it holds waits for the decision."),
        "opened" => format!("A person is told about {about}; nothing waits for it."),
        "decided" => format!("A person decided about {about}: {decision}."),
        "closed" => format!("Nobody need decide about {about} any more: {decision}."),
        _ => return None,
    })
}

fn of_the_rest(kind: &str, told: Told<'_>) -> Option<String> {
    Some(match kind {
        "run.began" => format!("Run {} began{}.", told.text("run"), told.because()),
        "target.paused" => format!("Target {} was paused{}; its effects wait.", told.text("target"), told.because()),
        "target.resumed" => format!("Target {} goes on.", told.text("target")),
        evidence::entry::STREAM_BEGAN => format!("A process of {} began.", told.maybe("program").unwrap_or("oncebook")),
        evidence::entry::BLOB_ERASED => format!("Contents were erased{}.", told.because()),
        _ => return None,
    })
}
