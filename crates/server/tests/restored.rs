//! A backup that is put back, at every stage it may have been taken at: what the lost book wrote since is found and adopted,
//! and nobody is written to twice (I7).
//!
//! The backup is a copy of the data directory. What stands in the CRM is counted there; mails that the lost directory sent
//! are counted with those that the restored one sends, for their readers have both.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use std::path::Path;

use domain::enquiry::Standing;
use serde_json::json;
use server::engine::Decision;
use store::{Review, ReviewKind};
use world::crm::{Act, Crm, Filter, config};
use world::{DAY, HOUR, World, mails};

const KEY: &str = "web:submission:s1";

/// A deal in a CRM that never refuses a second record, and a mail after it.
fn job(crm: &Crm, find: Option<&str>) -> String {
    let timed = config(crm.address, find, "").replace("message = \"/message\"", "message = \"/message\", occurred_at = \"/at\"");
    format!(
        "{timed}after = []\n\n[[target]]\nname = \"mail\"\nkind = \"outbox\"\nfrom = \"desk@example.com\"\n\n\
         [[action]]\nname = \"follow-up\"\ntarget = \"mail\"\nafter = [\"deal\"]\nwhen = \"true\"\n"
    )
}

fn lead(at: Option<&str>) -> String {
    json!({"submission_id": "s1", "email": "avery@example.com", "message": "Please send a quote for 40 chairs", "at": at}).to_string()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let to = to.join(entry.file_name());
        if entry.path().is_dir() { copy(&entry.path(), &to) } else { std::fs::copy(entry.path(), to).map(drop).unwrap() }
    }
}

/// The directory is lost, and the copy stands in its place; the mails of the lost one are given back.
fn put_back(dir: &Path, kept: &Path) -> Vec<String> {
    let sent = mails(dir);
    std::fs::remove_dir_all(dir).unwrap();
    copy(kept, dir);
    sent
}

async fn items(world: &World) -> Vec<Review> {
    world.dossier(KEY).await.reviews.into_iter().filter(|r| r.kind == ReviewKind::Restored && r.closed_at.is_none()).collect()
}

/// When the copy is taken: after so many pieces of work on the enquiry; `None`: before it arrives.
const STAGES: [Option<usize>; 4] = [None, Some(0), Some(1), Some(9)];

/// Takes the copy at that stage, lets the book go on to its end, loses it, puts the copy back, and the sender sends again.
async fn restored(crm: &Crm, find: Option<&str>, stage: Option<usize>, at: Option<&str>) -> (World, Vec<String>) {
    let kept = world::Dir::new();
    let world = World::with(&job(crm, find)).await;
    match stage {
        None => {}
        Some(pieces) => {
            world.post("web", &lead(at)).await;
            for _ in 0..pieces {
                world.app.engine.work_once().await.unwrap();
            }
        }
    }
    let world = world.stop_for(|dir| copy(dir, &kept.0)).await;
    world.post("web", &lead(at)).await;
    world.work_for(HOUR).await;
    assert_eq!((crm.count(KEY), world.mails().len()), (1, 1), "the first book did its work");
    let mut sent = Vec::new();
    let world = world.stop_for(|dir| sent = put_back(dir, &kept.0)).await;
    world.post("web", &lead(at)).await;
    world.work_for(DAY).await;
    (world, sent)
}

#[tokio::test]
async fn i7_a_backup_of_any_stage_that_is_put_back_writes_no_second_record_and_no_second_mail() {
    for find in ["strong", "lagging:30s", "unique", "upsert"] {
        for stage in STAGES {
            for at in [None, Some("2026-03-02T09:15:00Z")] {
                let crm = Crm::open().await;
                crm.set_unique(find == "unique" || find == "upsert");
                let (world, sent) = Box::pin(restored(&crm, Some(find), stage, at)).await;
                let states = world.states(KEY).await;
                assert_eq!((crm.count(KEY), states[0].as_str()), (1, "deal=verified"), "{find} {stage:?} {at:?}");
                let (mails, held) = (world.mails(), states[1] == "follow-up=held");
                // Only the last copy holds the mail already; of the others the lost book's is the one that was sent.
                let (here, state) = if stage == Some(9) { (1, "follow-up=verified") } else { (0, "follow-up=held") };
                assert_eq!((sent.len(), mails.len(), states[1].as_str()), (1, here, state), "{find} {stage:?} {at:?}");
                assert_eq!(items(&world).await.len(), usize::from(held), "{find} {stage:?}: a person is asked");
                world.verify().await;
            }
        }
    }
}

#[tokio::test]
async fn i7_a_target_that_cannot_be_asked_is_not_written_to_for_what_came_before_the_restore() {
    for stage in [Some(0), Some(1)] {
        let crm = Crm::open().await;
        crm.script(vec![Act::Say(429, json!({}))], Act::Well);
        let (world, _) = Box::pin(restored(&crm, None, stage, None)).await;
        assert_eq!((crm.count(KEY), world.states(KEY).await[0].as_str()), (1, "deal=held"), "{stage:?}");
        // A person who knows better lets it go.
        let item = items(&world).await.remove(0);
        world.app.engine.decide(item.id.as_str(), &Decision::Approve, "anna").await.unwrap();
        world.work_for(HOUR).await;
        assert_eq!((crm.count(KEY), world.states(KEY).await[0].as_str()), (2, "deal=unverified"), "{stage:?}");
    }
}

#[tokio::test]
async fn what_comes_after_the_restore_is_not_held() {
    let crm = Crm::open().await;
    let (world, _) = Box::pin(restored(&crm, Some("strong"), None, None)).await;
    world.clock.advance(1_000);
    let fresh = lead(Some("2026-03-05T10:00:00Z")).replace("s1", "s2").replace("avery", "blake");
    world.post("web", &fresh).await;
    world.work_for(HOUR).await;
    let whys: Vec<String> = world.dossier("web:submission:s2").await.reviews.into_iter().map(|r| r.why).collect();
    assert_eq!(world.states("web:submission:s2").await, ["deal=verified", "follow-up=verified"], "{whys:?}");
    assert_eq!(world.dossier("web:submission:s2").await.enquiry.standing, Standing::Settled);
}

/// A search that is down at the first look, or a target that is away: nothing is written until it was asked.
#[tokio::test]
async fn nothing_is_written_before_the_target_could_be_asked() {
    let crm = Crm::open().await;
    crm.set_filter(Filter::Broken);
    let world = World::with(&job(&crm, Some("strong"))).await;
    world.post("web", &lead(None)).await;
    world.work_for(HOUR).await;
    assert_eq!((crm.posts(), world.states(KEY).await[0].as_str()), (0, "deal=planned"));
    assert!(world.app.engine.next_due().await.unwrap().is_some(), "it has a due time");
    crm.set_filter(Filter::Honoured);
    world.work_for(HOUR).await;
    assert_eq!((crm.posts(), world.states(KEY).await), (1, vec!["deal=verified".to_owned(), "follow-up=verified".to_owned()]));
    let kinds: Vec<String> = world.dossier(KEY).await.entries.into_iter().map(|e| e.kind).collect();
    let place = |kind: &str| kinds.iter().position(|k| k == kind).unwrap();
    assert!(place("effect.look_failed") < place("effect.absent") && place("effect.absent") < place("effect.intended"));
}

#[tokio::test]
async fn a_person_who_says_that_it_was_restored_is_believed() {
    let (crm, kept) = (Crm::open().await, world::Dir::new());
    let world = World::with(&job(&crm, Some("strong"))).await;
    world.app.engine.set_paused("mail", Some("wait".to_owned()), "anna").await.unwrap();
    world.post("web", &lead(None)).await;
    world.work_for(HOUR).await;
    let world = world.stop_for(|dir| copy(dir, &kept.0)).await.restart_restored().await;
    world.app.engine.set_paused("mail", None, "anna").await.unwrap();
    world.work_for(HOUR).await;
    assert_eq!(world.states(KEY).await, ["deal=verified", "follow-up=held"]);
    assert_eq!(world.mails().len(), 0);
}
