//! The scenarios: what is posted, what the CRM does, and what must stand in the targets afterwards.

use std::io;

use serde::Serialize;
use serde_json::{Value, json};

use super::super::CliError;
use super::crm::{Crm, Mood};
use super::server::Server;
use crate::clock::SystemClock;
use domain::time::Clock as _;

/// How long a scenario may take to come to rest.
const PATIENCE_MS: i64 = 30_000;

/// What is counted in the targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Counts {
    pub(super) deals: usize,
    pub(super) records: usize,
    pub(super) mails: usize,
}

/// One scenario and what came of it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Row {
    pub(super) name: &'static str,
    pub(super) posts: usize,
    pub(super) wanted: Counts,
    pub(super) seen: Counts,
    /// What else had to hold, in words.
    pub(super) note: String,
    /// Whether it did.
    pub(super) noted: bool,
}

impl Row {
    pub(super) fn is_good(&self) -> bool {
        self.wanted == self.seen && self.noted
    }
}

/// What the scenarios are played on.
pub(super) struct Stage {
    pub(super) server: Server,
    crm: Crm,
    clock: SystemClock,
}

/// Plays all of them, one after the other, and shows each as it ends.
pub(super) async fn play_all(stage: &mut Stage, show: &mut dyn FnMut(&Row) -> io::Result<()>) -> Result<Vec<Row>, CliError> {
    let mut rows = Vec::new();
    for n in 0..7 {
        let row = match n {
            0 => stage.redelivery().await?,
            1 => stage.fifty_at_once().await?,
            2 => stage.second_enquiry().await?,
            3 => stage.conflict().await?,
            4 => stage.outage().await?,
            5 => stage.lost_answer().await?,
            _ => stage.crash().await?,
        };
        show(&row)?;
        rows.push(row);
    }
    Ok(rows)
}

const ONE: Counts = Counts { deals: 1, records: 1, mails: 1 };

impl Stage {
    pub(super) fn new(server: Server, crm: Crm) -> Self {
        Self { server, crm, clock: SystemClock }
    }

    async fn redelivery(&mut self) -> Result<Row, CliError> {
        let body = enquiry("redelivered", "ada@example.com", "Please send a quote for 40 chairs.");
        let mut verdicts = Vec::new();
        for _ in 0..3 {
            verdicts.push(verdict(&self.server.post(&body).await));
        }
        self.rest(&["redelivered"]).await?;
        let noted = verdicts == ["accepted", "redelivery", "redelivery"];
        self.row("a webhook is delivered three times", (3, ONE), &["redelivered"], ("2 recorded redeliveries", noted)).await
    }

    async fn fifty_at_once(&mut self) -> Result<Row, CliError> {
        let body = enquiry("at-once", "ben@example.com", "We need new shelves, what would that cost?");
        let server = &self.server;
        let mut posts = tokio::task::JoinSet::new();
        for _ in 0..50 {
            let (address, body) = (server.address(), body.clone());
            let sender = server.sender();
            posts.spawn(async move { sender.post(address, &body).await });
        }
        let answers = posts.join_all().await;
        self.rest(&["at-once"]).await?;
        let suppressed = answers.iter().filter(|a| a["duplicate_suppressed"] == true).count();
        let noted = suppressed == 49 && answers.iter().all(|a| a["enquiry"] == answers[0]["enquiry"]);
        self.row("fifty copies at the same moment", (50, ONE), &["at-once"], (&format!("{suppressed} recorded redeliveries"), noted)).await
    }

    async fn second_enquiry(&mut self) -> Result<Row, CliError> {
        self.server.post(&enquiry("first", "cleo@example.com", "How much is a standing desk?")).await;
        self.server.post(&enquiry("second", "Cleo@Example.com ", "And could you also repair our old ones?")).await;
        self.rest(&["first", "second"]).await?;
        let contacts = self.server.get("/api/v1/desk/contacts?limit=1000").await?;
        let hers = contacts["items"].as_array().map_or(0, |all| all.iter().filter(|c| c["address"] == "cleo@example.com").count());
        let wanted = Counts { deals: 2, records: 2, mails: 2 };
        self.row("a second enquiry of the same person", (2, wanted), &["first", "second"], (&format!("{hers} contact"), hers == 1)).await
    }

    async fn conflict(&mut self) -> Result<Row, CliError> {
        self.server.post(&enquiry("twofold", "dan@example.com", "Two office chairs, please.")).await;
        let answer = self.server.post(&enquiry("twofold", "dan@example.com", "Twenty office chairs, please.")).await;
        self.rest(&["twofold"]).await?;
        let held = verdict(&answer) == "conflict" && answer["key"].as_str().is_some_and(|key| key.ends_with("~2"));
        self.row("the same id with other content", (2, ONE), &["twofold", "twofold~2"], ("1 held for a person", held)).await
    }

    async fn outage(&mut self) -> Result<Row, CliError> {
        self.crm.go_down();
        let answer = self.server.post(&enquiry("outage", "eve@example.com", "Can you furnish a meeting room?")).await;
        let tried = |dossier: &Value| dossier["timeline"].as_array().is_some_and(|t| t.iter().any(|e| e["kind"] == "effect.not_sent"));
        self.poll(tried, "/api/v1/enquiries/web:submission:outage").await?;
        let during = self.crm.count(":outage");
        self.crm.come_up().await?;
        self.rest(&["outage"]).await?;
        let noted = verdict(&answer) == "accepted" && during == 0;
        self.row("the CRM is down, and comes back", (1, ONE), &["outage"], ("waited, nothing lost", noted)).await
    }

    async fn lost_answer(&mut self) -> Result<Row, CliError> {
        self.crm.set_mood(Mood::DropsAnswer);
        self.server.post(&enquiry("lost-answer", "fay@example.com", "I would like an offer for ten lamps.")).await;
        self.rest(&["lost-answer"]).await?;
        let found = self.was_found("lost-answer").await?;
        self.row("the CRM writes, and its answer is lost", (1, ONE), &["lost-answer"], ("looked up, adopted", found)).await
    }

    async fn crash(&mut self) -> Result<Row, CliError> {
        self.crm.set_mood(Mood::Hangs);
        self.server.post(&enquiry("crash", "gus@example.com", "Please call me about a conference table.")).await;
        self.crm.wait_for(":crash").await;
        self.server.kill().await?;
        self.server.start_again().await?;
        self.rest(&["crash"]).await?;
        let found = self.was_found("crash").await?;
        self.row("kill -9 while the CRM has the call", (1, ONE), &["crash"], ("restarted, looked up, adopted", found)).await
    }

    /// Whether the journal says that the record in the CRM was found by a look-up, and so was not written again.
    async fn was_found(&self, id: &str) -> Result<bool, CliError> {
        Ok(is_found(&self.server.get(&format!("/api/v1/enquiries/web:submission:{id}")).await?))
    }

    /// Counts in the targets what carries these keys.
    async fn row(
        &self,
        name: &'static str,
        (posts, wanted): (usize, Counts),
        ids: &[&str],
        (note, noted): (&str, bool),
    ) -> Result<Row, CliError> {
        let mut seen = Counts::default();
        for id in ids {
            let key = format!("web:submission:{id}");
            let deals = self.server.get(&format!("/api/v1/desk/deals?key={key}")).await?;
            seen.deals += deals["items"].as_array().map_or(0, Vec::len);
            seen.records += self.crm.count(&format!(":{id}"));
            seen.mails += self.mails(&key)?;
        }
        Ok(Row { name, posts, wanted, seen, note: note.to_owned(), noted })
    }

    /// Messages in the outbox that carry the key.
    fn mails(&self, key: &str) -> Result<usize, CliError> {
        let header = format!("X-Oncebook-Key: {key}");
        let mut count = 0;
        for part in ["new", "cur"] {
            let Ok(entries) = std::fs::read_dir(self.server.dir().join("mail.outbox").join(part)) else { continue };
            for entry in entries {
                let text = std::fs::read_to_string(entry?.path())?;
                count += usize::from(text.lines().any(|line| line.trim_end() == header));
            }
        }
        Ok(count)
    }

    /// Waits until the enquiries are settled.
    async fn rest(&self, ids: &[&str]) -> Result<(), CliError> {
        for id in ids {
            let path = format!("/api/v1/enquiries/web:submission:{id}");
            self.poll(|dossier| dossier["enquiry"]["state"] == "settled", &path).await?;
        }
        Ok(())
    }

    async fn poll(&self, is_so: impl Fn(&Value) -> bool, path: &str) -> Result<(), CliError> {
        let end = self.clock.now().plus(PATIENCE_MS);
        while self.clock.now() < end {
            if is_so(&self.server.get(path).await?) {
                return Ok(());
            }
            self.clock.sleep_until(self.clock.now().plus(20)).await;
        }
        Ok(())
    }
}

/// Whether a timeline holds a look-up of the CRM that found.
fn is_found(dossier: &Value) -> bool {
    let found = |entry: &Value| entry["kind"] == "effect.found" && entry["facts"]["target"] == "crm";
    dossier["timeline"].as_array().is_some_and(|timeline| timeline.iter().any(found))
}

fn enquiry(id: &str, email: &str, message: &str) -> Value {
    json!({ "submission_id": id, "email": email, "message": message })
}

fn verdict(answer: &Value) -> String {
    answer["verdict"].as_str().unwrap_or("no answer").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adopted_is_what_the_journal_says_and_not_what_was_hoped() {
        let timeline = |kind: &str, target: &str| json!({"timeline": [{"kind": kind, "facts": {"target": target}}]});
        assert!(is_found(&timeline("effect.found", "crm")));
        assert!(!is_found(&timeline("effect.answered", "crm")) && !is_found(&timeline("effect.found", "desk")));
        assert!(!is_found(&json!({})));
    }

    #[test]
    fn a_row_is_good_only_if_its_note_holds() {
        let row = Row { name: "x", posts: 1, wanted: ONE, seen: ONE, note: "adopted".to_owned(), noted: true };
        assert!(row.is_good() && !Row { noted: false, ..row }.is_good());
    }
}
