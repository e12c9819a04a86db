//! The main job on embedded defaults: enquiries become deals and follow-ups, each once.

mod world;

use serde_json::json;
use world::World;

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
