use std::sync::atomic::{AtomicUsize, Ordering};

use domain::time::Later;
use serde_json::json;

use super::rendered::of_phone;
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
        let path = std::env::temp_dir().join(format!("oncebook-desk-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::SeqCst)));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn desk(&self) -> Desk {
        self.desk_with(Stops::none())
    }

    fn desk_with(&self, stops: Stops) -> Desk {
        Desk::open(DeskParams { path: self.0.join("desk.db"), clock: Arc::new(Still(1_000)), stops: Arc::new(stops) }).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

fn scene(email: Option<&str>, name: Option<&str>) -> Json {
    json!({
        "action": "deal", "ordinal": 0,
        "enquiry": {"summary": "Ten chairs", "message": "Ten chairs, please", "contact": {"email": email, "name": name, "phone": null, "company": null}},
        "qualification": {"priority": "high", "request_type": "sales", "budget": "€500", "summary": "Ten chairs"},
    })
}

fn call(desk: &Desk, step: StepKind, key: &str, scene: &Json) -> Call {
    Call {
        step,
        key: key.to_owned(),
        rendered: desk.render(key, scene).unwrap(),
        scene: scene.clone(),
        contact_id: None,
        record_id: None,
        deadline: UtcMs(2_000),
    }
}

fn applied(report: Report<Outcome>) -> String {
    let Outcome::Applied(id) = report.what else { panic!("{:?}", report.what) };
    id
}

/// Contact (adopted where it is there), deal, link.
async fn worked(desk: &Desk, key: &str, scene: &Json) -> Call {
    let contact = call(desk, StepKind::Contact, key, scene);
    let contact_id = match desk.write(&contact).await.what {
        Outcome::Applied(id) => id,
        Outcome::Conflict => {
            let Found::Records(ids) = desk.look_up(&contact).await.what else { panic!("a conflict without a contact") };
            ids[0].clone()
        }
        other => panic!("{other:?}"),
    };
    let record = Call { contact_id: Some(contact_id), ..call(desk, StepKind::Record, key, scene) };
    let deal = applied(desk.write(&record).await);
    let link = Call { step: StepKind::Link, record_id: Some(deal), ..record };
    applied(desk.write(&link).await);
    link
}

#[tokio::test]
async fn a_deal_its_contact_and_their_link_are_written_found_and_read_back() {
    let folder = Folder::new();
    let desk = folder.desk();
    let scene = scene(Some("a@example.com"), Some("Avery"));
    let mut call = worked(&desk, "k1", &scene).await;
    for (step, id) in [(StepKind::Contact, "contact-1"), (StepKind::Record, "deal-1"), (StepKind::Link, "link-1-1")] {
        call.step = step;
        assert_eq!(desk.look_up(&call).await.what, Found::Records(vec![id.to_owned()]));
        assert_eq!(desk.read_back(&call, id).await.what, ReadBack::Same, "{id}");
        assert_eq!(desk.write(&call).await.what, Outcome::Conflict, "{id}");
        assert!(matches!(desk.read_back(&call, "deal-99").await.what, ReadBack::Gone | ReadBack::Differs(_)));
    }
    let deal = &desk.deals(Some("k1"), 0, 10).await.unwrap()[0];
    assert_eq!((deal.title.as_str(), deal.amount.as_deref(), deal.contact_id.as_deref()), ("Ten chairs", Some("€500"), Some("contact-1")));
    assert_eq!(deal.created_at, "1970-01-01T00:00:01.000Z");
    assert!(serde_json::to_string(deal).unwrap().starts_with(r#"{"id":"deal-1","key":"k1""#));
}

#[tokio::test]
async fn several_deals_share_a_contact_whose_filled_fields_stay() {
    let folder = Folder::new();
    let desk = folder.desk();
    worked(&desk, "k1", &scene(Some("a@example.com"), None)).await;
    worked(&desk, "k2", &scene(Some("a@example.com"), Some("Avery"))).await;
    worked(&desk, "k3", &scene(Some("a@example.com"), Some("Somebody else"))).await;
    let contacts = desk.contacts(0, 10).await.unwrap();
    assert_eq!((contacts.len(), contacts[0].name.as_deref()), (1, Some("Avery")));
    assert_eq!(desk.deals(None, 0, 10).await.unwrap().len(), 3);
    assert_eq!(desk.deals(None, 1, 1).await.unwrap()[0].key, "k2");
}

#[tokio::test]
async fn a_key_stays_unique_over_writers_and_restarts() {
    let folder = Folder::new();
    let (one, two) = (folder.desk(), folder.desk());
    let scene = scene(None, None);
    let call = call(&one, StepKind::Record, "k1", &scene);
    let (a, b, c, d) = tokio::join!(one.write(&call), two.write(&call), one.write(&call), two.write(&call));
    let outcomes = [a.what, b.what, c.what, d.what];
    assert_eq!(outcomes.iter().filter(|o| matches!(o, Outcome::Applied(_))).count(), 1, "{outcomes:?}");
    assert_eq!(outcomes.iter().filter(|o| **o == Outcome::Conflict).count(), 3, "{outcomes:?}");
    drop((one, two));
    let reopened = folder.desk();
    assert_eq!(reopened.write(&call).await.what, Outcome::Conflict);
    assert_eq!(reopened.look_up(&call).await.what, Found::Records(vec!["deal-1".to_owned()]));
    let other = Call { key: "k1#1".to_owned(), ..call };
    assert_eq!(reopened.look_up(&other).await.what, Found::Absent);
}

#[tokio::test]
async fn what_differs_is_named_without_values() {
    let folder = Folder::new();
    let desk = folder.desk();
    let call_1 = call(&desk, StepKind::Record, "k1", &scene(None, None));
    let id = applied(desk.write(&call_1).await);
    let mut other = scene(None, None);
    other["enquiry"]["summary"] = json!("Twenty chairs");
    assert_eq!(desk.read_back(&call(&desk, StepKind::Record, "k2", &other), &id).await.what, ReadBack::Differs("key, title".to_owned()));
    assert_eq!(desk.read_back(&call_1, "deal-9").await.what, ReadBack::Gone);
    assert_eq!(desk.read_back(&call_1, "42").await.what, ReadBack::Gone);
}

#[tokio::test]
async fn nothing_is_written_after_the_deadline_or_without_what_a_step_needs() {
    let folder = Folder::new();
    let desk = folder.desk();
    let late = Call { deadline: UtcMs(1_000), ..call(&desk, StepKind::Record, "k1", &scene(None, None)) };
    let bare = call(&desk, StepKind::Contact, "k1", &scene(None, None));
    let loose = call(&desk, StepKind::Link, "k1", &scene(Some("a@example.com"), None));
    for call in [late, bare, loose] {
        assert!(matches!(desk.write(&call).await.what, Outcome::NotSent { .. }), "{:?}", call.step);
    }
    assert!(desk.deals(None, 0, 10).await.unwrap().is_empty());
}

#[test]
fn steps_follow_from_the_contact_and_a_phone_is_one_however_it_is_written() {
    let folder = Folder::new();
    let desk = folder.desk();
    let mut fields = Fields::default();
    fields.set("contact.name", "Avery");
    assert_eq!(desk.steps(&fields), [StepKind::Record]);
    fields.set("contact.phone", "+49 (30) 1-2");
    assert_eq!(desk.steps(&fields), [StepKind::Contact, StepKind::Record, StepKind::Link]);
}

#[test]
fn c042_a_phone_without_its_country_is_nobody_elses() {
    for spelling in ["+49 (30) 12-34", " +49 30 1234", "+49301234"] {
        assert_eq!(of_phone(spelling, "web:submission:1"), "+49301234");
    }
    for unsure in ["010-1234-5678", "0049 30 1234", "49301234", "+30 1", " ask reception "] {
        assert_ne!(of_phone(unsure, "web:submission:1"), of_phone(unsure, "web:submission:2"), "{unsure}");
        assert_eq!(of_phone(unsure, "web:submission:1"), of_phone(unsure, "web:submission:1"), "a re-run finds it again");
    }
}

#[tokio::test]
async fn a_drill_before_the_commit_leaves_nothing_behind() {
    let folder = Folder::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let held = folder.desk_with(Stops::parse(&format!("desk.before-commit@{}", listener.local_addr().unwrap())).unwrap());
    let call = call(&held, StepKind::Record, "k1", &scene(None, None));
    let writing = held.write(&call);
    let looking = async {
        let (peer, _) = tokio::task::spawn_blocking(move || listener.accept().unwrap()).await.unwrap();
        // Another connection sees nothing before the commit.
        let found = folder.desk().look_up(&call).await.what;
        drop(peer);
        found
    };
    let (written, found) = tokio::join!(writing, looking);
    assert_eq!(found, Found::Absent);
    assert_eq!(written.what, Outcome::Applied("deal-1".to_owned()));
}

/// `SQLite` throws a log away whose file is empty: the records in it would be written again.
#[tokio::test]
async fn i7_an_emptied_file_beside_its_log_is_not_opened() {
    let folder = Folder::new();
    let (file, log) = (folder.0.join("desk.db"), folder.0.join("desk.db-wal"));
    let standing = folder.desk();
    worked(&standing, "website:submission:1", &scene(Some("a@example.com"), None)).await;
    let kept = std::fs::read(&log).unwrap();
    drop(standing);
    std::fs::write(&file, b"").unwrap();
    std::fs::write(&log, &kept).unwrap();
    let clock = Arc::new(Still(1_000));
    let refused = Desk::open(DeskParams { path: file, clock, stops: Arc::new(Stops::none()) }).err().unwrap();
    assert!(refused.contains("is missing or empty"), "{refused}");
    assert_eq!(std::fs::read(&log).unwrap(), kept);
}
