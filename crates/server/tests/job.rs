//! The main job on embedded defaults: enquiries become deals and follow-ups, each once.

mod world;

use serde_json::json;
use world::crm::{self, Crm};
use world::process::Process;
use world::{World, mails};

const KEY: &str = "web:submission:lead_77";

const LEAD: &str =
    r#"{"submission_id":"lead_77","email":"Avery@Example.com","name":"Avery Sample","message":"Need a quote for 40 chairs by Friday"}"#;

#[tokio::test]
async fn an_enquiry_becomes_one_deal_one_contact_and_one_follow_up() {
    let world = World::new().await;
    let answer = world.post("web", LEAD).await;
    assert_eq!((&answer["verdict"], &answer["key"]), (&json!("accepted"), &json!("web:submission:lead_77")));
    world.work_for(0).await;
    let deals = world.deals().await;
    assert_eq!(deals.iter().map(|d| d.key.as_str()).collect::<Vec<_>>(), ["web:submission:lead_77"]);
    assert_eq!(world.contacts().await.iter().map(|c| c.address.as_str()).collect::<Vec<_>>(), ["avery@example.com"]);
    let mails = world.mails();
    assert_eq!(mails.len(), 1);
    assert!(mails[0].contains("To: avery@example.com"), "{}", mails[0]);
    assert_eq!(world.states("web:submission:lead_77").await, ["deal=verified", "follow-up=verified"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_enquiries_of_one_person_at_once_share_one_contact() {
    let process = Process::start("", None).await;
    let posts = (0..20)
        .map(|n| json!({"submission_id": format!("p{n}"), "email": "One@Example.com", "message": format!("Request number {n}, please")}));
    let bodies: Vec<String> = posts.map(|body| body.to_string()).collect();
    let answers = futures(bodies.iter().map(|body| process.post("web", body))).await;
    assert!(answers.iter().all(|a| a["verdict"] == "accepted"));
    // Three a day go to one address; what exceeds them is held, and its enquiry waits for a person.
    let mut held = 0;
    for n in 0..20 {
        let dossier = process.rested(&format!("web:submission:p{n}")).await;
        held += usize::from(dossier["enquiry"]["state"] == "review");
    }
    let count = |page: serde_json::Value| page["items"].as_array().unwrap().len();
    assert_eq!(count(process.get("/api/v1/desk/deals?limit=1000").await), 20);
    assert_eq!(count(process.get("/api/v1/desk/contacts?limit=1000").await), 1);
    assert_eq!((mails(&process.dir.0).len(), held), (3, 17));
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_identical_posts_at_once_are_one_enquiry_one_deal_one_mail_and_49_recorded_redeliveries() {
    let process = Process::start("", None).await;
    let answers = futures((0..50).map(|_| process.post("web", LEAD))).await;
    let of = |verdict: &str| answers.iter().filter(|a| a["verdict"] == verdict).collect::<Vec<_>>();
    let (accepted, suppressed) = (of("accepted"), of("redelivery"));
    assert_eq!((accepted.len(), suppressed.len()), (1, 49));
    for answer in &suppressed {
        assert_eq!(answer["duplicate_suppressed"], true);
        assert_eq!((&answer["enquiry"], &answer["first_delivery"]), (&accepted[0]["enquiry"], &accepted[0]["delivery"]));
        assert!(answer["first_run"].is_string() && answer["attempted_at"].is_string());
    }
    let dossier = process.settled(KEY).await;
    assert_eq!(dossier["deliveries"].as_array().unwrap().iter().filter(|d| d["duplicate_suppressed"] == true).count(), 49);
    assert_eq!((process.deals(KEY).await, mails(&process.dir.0).len()), (1, 1));
    assert!(dossier["arrival_to_result_ms"].is_i64() && dossier["arrival_to_record_ms"].is_i64());
}

/// Two effects of one enquiry that come to rest at the same moment must not both overlook that the third may begin.
#[tokio::test(flavor = "multi_thread")]
async fn a_follow_up_that_waits_for_two_records_always_begins() {
    let crm = Crm::open().await;
    let more = "[[target]]\nname = \"desk\"\nkind = \"desk\"\n[[target]]\nname = \"mail\"\nkind = \"outbox\"\nfrom = \"desk@example.com\"\n\
                [[action]]\nname = \"entry\"\ntarget = \"desk\"\n\
                [[action]]\nname = \"follow-up\"\ntarget = \"mail\"\nafter = [\"deal\", \"entry\"]\n";
    let process = Process::start(&format!("{}{more}", crm::config(crm.address, Some("strong"), "")), None).await;
    for n in 0..300 {
        let body = json!({"submission_id": format!("t{n}"), "email": format!("t{n}@example.com"), "message": format!("Request {n}")});
        process.post("web", &body.to_string()).await;
    }
    for n in 0..300 {
        process.settled(&format!("web:submission:t{n}")).await;
    }
    assert_eq!((crm.records().len(), mails(&process.dir.0).len()), (300, 300));
}

/// All of them at once.
async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut pending: Vec<_> = all.map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = pending.iter().map(|_| None).collect();
    std::future::poll_fn(|cx| {
        for (future, slot) in pending.iter_mut().zip(&mut done) {
            if slot.is_none()
                && let std::task::Poll::Ready(output) = future.as_mut().poll(cx)
            {
                *slot = Some(output);
            }
        }
        if done.iter().all(Option::is_some) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}
