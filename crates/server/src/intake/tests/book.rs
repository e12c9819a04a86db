//! Deliveries into a real book: what the senders are answered.

use domain::ids::{DeliveryId, EnquiryId};
use serde_json::Value;
use store::sqlite::{Options, Sqlite};

use super::*;

/// A book in a directory of its own, which goes with it.
struct Book {
    intake: Arc<Intake>,
    directory: std::path::PathBuf,
}

impl Drop for Book {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.directory));
    }
}

fn book(name: &str, source: SourceSetup) -> Book {
    let directory = std::env::temp_dir().join(format!("oncebook-intake-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let options = Options {
        path: directory.join("book.db"),
        now: NOW,
        stream: StreamId::parse("str_1").unwrap(),
        new_secret: [7; 32],
        batch_max: 64,
        program: "test".to_owned(),
    };
    let (shut, _) = intake_at(source, None, NOW);
    Book { intake: Arc::new(Intake { store: Arc::new(Sqlite::open(options).unwrap()), ..shut }), directory }
}

async fn told(book: &Book, body: &str) -> Value {
    book.intake.deliver("website", raw(body, &[])).await.unwrap().json()
}

#[tokio::test]
async fn c001_i2_of_many_copies_at_once_one_is_the_first_and_the_rest_name_it() {
    let book = book("copies", setup());
    let copies: Vec<_> = (0..50)
        .map(|_| {
            let intake = Arc::clone(&book.intake);
            async move { intake.deliver("website", raw(LEAD, &[])).await.unwrap().json() }
        })
        .collect();
    let mut tasks = tokio::task::JoinSet::from_iter(copies);
    let mut answers = Vec::new();
    while let Some(answer) = tasks.join_next().await {
        answers.push(answer.unwrap());
    }
    let (first, rest): (Vec<&Value>, Vec<&Value>) = answers.iter().partition(|answer| answer["verdict"] == "accepted");
    assert_eq!((first.len(), rest.len()), (1, 49));
    for answer in rest {
        assert_eq!(answer["verdict"], "redelivery");
        assert_eq!(answer["duplicate_suppressed"], true);
        assert_eq!(answer["first_delivery"], first[0]["delivery"]);
        assert_eq!(answer["enquiry"], first[0]["enquiry"]);
    }
    // Armed by the first: nobody has to wait for the next due time.
    book.intake.accepted.notified().await;
}

#[tokio::test]
async fn c014_a_batch_sent_five_times_is_entered_once() {
    let book = book("batch", batch());
    let body = format!("[{LEAD},7]");
    let first = told(&book, &body).await;
    assert_eq!((&first["items"][0]["verdict"], &first["items"][1]["verdict"]), (&"accepted".into(), &"quarantined".into()));
    for _ in 0..4 {
        assert_eq!(told(&book, &body).await["items"][0]["verdict"], "redelivery");
    }
}

#[tokio::test]
async fn i4_other_content_under_a_known_key_is_a_conflict() {
    let book = book("conflict", setup());
    told(&book, LEAD).await;
    let answer = told(&book, &LEAD.replace("40 chairs", "41 chairs")).await;
    assert_eq!(answer["verdict"], "conflict");
    assert_eq!(answer["key"], "website:submission:lead_77~2");
    assert_eq!(answer.get("duplicate_suppressed"), None);
}

#[tokio::test]
async fn c011_a_weak_suppression_is_flagged_and_undone_by_a_person() {
    let book = book("weak", setup());
    let body = r#"{"email":"a@example.com","message":"40 chairs"}"#;
    told(&book, body).await;
    let answer = told(&book, body).await;
    assert_eq!((&answer["verdict"], &answer["weak_key"]), (&"redelivery".into(), &true.into()));
    let delivery = answer["delivery"].as_str().unwrap();
    let released = book.intake.replay(delivery, "robin", true).await.unwrap().json();
    assert_eq!(released["verdict"], "accepted");
    assert_ne!(released["enquiry"], answer["enquiry"]);
}

#[tokio::test]
async fn c059_an_unauthentic_delivery_is_released_and_its_next_copy_is_a_redelivery() {
    let auth = |secret: &str| Auth::Bearer {
        header: "authorization".to_owned(),
        prefix: "Bearer ".to_owned(),
        secrets: vec![Secret::new(secret)],
    };
    let book = book("released", SourceSetup { auth: auth("hush"), ..setup() });
    assert!(book.intake.deliver("website", raw(LEAD, &[])).await.is_err());
    // Chance comes from a seed here, so the id under which it is kept is known.
    let entropy = SeededEntropy::new(1);
    arrive::blob(vec![], &entropy);
    let kept = DeliveryId::draw(NOW, &entropy);
    let released = book.intake.replay(kept.as_str(), "robin", false).await.unwrap().json();
    assert_eq!((&released["verdict"], &released["key"]), (&"accepted".into(), &"website:submission:lead_77".into()));
    let copy = book.intake.deliver("website", raw(LEAD, &[("authorization", "Bearer hush")])).await.unwrap().json();
    assert_eq!(copy["verdict"], "redelivery");
    let enquiry = EnquiryId::parse(copy["enquiry"].as_str().unwrap()).unwrap();
    assert!(book.intake.store.dossier(&enquiry).await.unwrap().is_some());
}
