use std::sync::atomic::AtomicUsize;

use domain::time::{Later, UtcMs};
use serde_json::json;

use super::*;

/// Stands still.
struct Still(i64);

impl Clock for Still {
    fn now(&self) -> UtcMs {
        UtcMs(self.0)
    }

    fn sleep_until(&self, _: UtcMs) -> Later<'_> {
        Box::pin(std::future::ready(()))
    }
}

/// A folder of this test's own, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static MADE: AtomicUsize = AtomicUsize::new(0);
        Self(std::env::temp_dir().join(format!("oncebook-outbox-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::SeqCst))))
    }

    fn outbox(&self) -> Outbox {
        self.outbox_with(Stops::none())
    }

    fn outbox_with(&self, stops: Stops) -> Outbox {
        Outbox::open(OutboxParams {
            root: self.0.clone(),
            from: "Sample Desk <desk@example.com>".to_owned(),
            subject: "Re: {{ enquiry.summary }}".to_owned(),
            text: "Hello {{ enquiry.contact.name|default('there', true) }},\nwe have received “{{ enquiry.summary }}”.\n".to_owned(),
            clock: Arc::new(Still(1_000)),
            stops: Arc::new(stops),
        })
        .unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn told(email: Option<&str>, summary: &str) -> Json {
    json!({
        "action": "follow-up", "ordinal": 0, "qualification": {"contact_facts": ["email: model@example.org"]},
        "enquiry": {"summary": summary, "accepted_at": "2026-03-02T09:15:04.120Z", "contact": {"email": email, "name": null}},
    })
}

fn call(outbox: &Outbox, key: &str) -> Call {
    let scene = told(Some("avery@example.com"), "Ten chairs");
    Call {
        step: StepKind::Message,
        key: key.to_owned(),
        rendered: outbox.render(key, &scene).unwrap(),
        scene,
        contact_id: None,
        record_id: None,
        deadline: UtcMs(2_000),
    }
}

#[tokio::test]
async fn a_second_message_of_the_same_name_is_a_conflict_and_is_found() {
    let folder = Folder::new();
    let outbox = folder.outbox();
    let call = call(&outbox, "k");
    assert_eq!(outbox.look_up(&call).await.what, Found::Absent);
    let (a, b, c) = tokio::join!(outbox.write(&call), outbox.write(&call), outbox.write(&call));
    let outcomes = [a.what, b.what, c.what];
    let id = id_in(&call.rendered).unwrap();
    assert_eq!(outcomes.iter().filter(|o| **o == Outcome::Applied(id.clone())).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|o| **o == Outcome::Conflict).count(), 2, "{outcomes:?}");
    let reopened = folder.outbox();
    assert_eq!(reopened.write(&call).await.what, Outcome::Conflict);
    assert_eq!(reopened.look_up(&call).await.what, Found::Records(vec![id.clone()]));
    assert_eq!(reopened.read_back(&call, &id).await.what, ReadBack::Same);
    let messages = reopened.messages().await.unwrap();
    assert_eq!((messages.len(), &messages[0].id, &messages[0].bytes), (1, &id, &call.rendered));
    assert_eq!(fs::read_dir(folder.0.join("tmp")).unwrap().count(), 0);
}

#[tokio::test]
async fn a_message_that_a_reader_moved_and_flagged_still_stands() {
    let folder = Folder::new();
    let outbox = folder.outbox();
    let call = call(&outbox, "k");
    outbox.write(&call).await;
    let standing = outbox.messages().await.unwrap().remove(0);
    let name = standing.path.file_name().unwrap().to_str().unwrap();
    let moved = folder.0.join("cur").join(format!("{name}:2,RS"));
    fs::rename(&standing.path, &moved).unwrap();
    assert_eq!(outbox.write(&call).await.what, Outcome::Conflict);
    assert_eq!(outbox.look_up(&call).await.what, Found::Records(vec![standing.id.clone()]));
    assert_eq!(outbox.read_back(&call, &standing.id).await.what, ReadBack::Same);
    fs::write(&moved, b"changed").unwrap();
    assert!(matches!(outbox.read_back(&call, &standing.id).await.what, ReadBack::Differs(_)));
    fs::remove_file(&moved).unwrap();
    assert_eq!(outbox.read_back(&call, &standing.id).await.what, ReadBack::Gone);
    assert_eq!(outbox.look_up(&call).await.what, Found::Absent);
}

#[tokio::test]
async fn an_attempt_that_overslept_finds_the_message_moved_and_withdraws_its_own() {
    let folder = Folder::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let held = folder.outbox_with(Stops::parse(&format!("outbox.before-link@{}", listener.local_addr().unwrap())).unwrap());
    let call = call(&held, "k");
    let overtaking = async {
        let (peer, _) = tokio::task::spawn_blocking(move || listener.accept().unwrap()).await.unwrap();
        let other = folder.outbox();
        assert!(matches!(other.write(&call).await.what, Outcome::Applied(_)));
        let standing = other.messages().await.unwrap().remove(0);
        fs::rename(&standing.path, folder.0.join("cur").join(standing.path.file_name().unwrap())).unwrap();
        drop(peer);
    };
    let (written, ()) = tokio::join!(held.write(&call), overtaking);
    assert_eq!(written.what, Outcome::Conflict);
    assert_eq!(held.messages().await.unwrap().len(), 1);
}

/// A disk that is full in the middle of a message.
#[test]
fn i12_half_a_message_is_not_left_behind() {
    let folder = Folder::new();
    let outbox = folder.outbox();
    let half = |file: &mut File| {
        file.write_all(b"To: avery@example.com")?;
        assert_eq!(fs::read_dir(folder.0.join("tmp"))?.count(), 1);
        Err(std::io::Error::from(ErrorKind::StorageFull))
    };
    let error = outbox.inner.written_aside("k@example.com", half).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    assert_eq!(fs::read_dir(folder.0.join("tmp")).unwrap().count(), 0);
}

#[tokio::test]
async fn after_the_deadline_nothing_is_written() {
    let folder = Folder::new();
    let outbox = folder.outbox();
    let late = Call { deadline: UtcMs(1_000), ..call(&outbox, "k") };
    assert!(matches!(outbox.write(&late).await.what, Outcome::NotSent { .. }));
    assert!(outbox.messages().await.unwrap().is_empty());
}
