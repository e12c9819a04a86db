//! Kept deliveries, read again.

use store::Delivery;

use super::*;

const LATER: UtcMs = UtcMs(NOW.0 + 3 * 86_400_000);

/// The records that the book has of a delivery, one per verdict.
fn kept(body: &str, headers: &[(&str, &str)], verdicts: &[Verdict]) -> Arrived {
    let arrival = arrive::arrival(&setup(), &raw(body, headers), NOW, &BookSecret::new([7; 32]), &SeededEntropy::new(9));
    let record = |(item, verdict): (u32, &Verdict)| {
        let weak = *verdict == Verdict::Redelivery;
        Delivery { item, verdict: *verdict, weak, duplicate_suppressed: weak, ..arrival.delivery.clone() }
    };
    Arrived { items: (0..).zip(verdicts).map(record).collect(), body: Some(arrival.body) }
}

/// What the book is asked to enter at a replay; or why there is none.
async fn replayed(source: SourceSetup, kept: Arrived, as_separate: bool) -> Result<Arrival, ReplayError> {
    let id = kept.items[0].id.to_string();
    let (intake, book) = intake_at(source, Some(kept), LATER);
    let error = intake.replay(&id, "robin", as_separate).await.unwrap_err();
    let asked = book.asked.lock().unwrap().pop();
    asked.ok_or(error)
}

#[tokio::test]
async fn a_quarantined_delivery_is_read_under_the_rule_that_holds_now() {
    let body = r#"{"key":"lead_77","text":"40 chairs"}"#;
    let kept = kept(body, &[("x-request-id", "r-1")], &[Verdict::Quarantined]);
    let before = kept.items[0].clone();
    let mut source = setup();
    source.rule.submission = vec![Place::parse("/key").unwrap()];
    source.map.insert("message".to_owned(), vec![Place::parse("/text").unwrap()]);
    let arrival = replayed(source, kept, false).await.unwrap();
    let proposal = enquiry(&arrival.items[0]);
    assert_eq!(proposal.candidate.keys[0].to_string(), "website:submission:lead_77");
    assert_eq!(proposal.fields.message.as_deref(), Some("40 chairs"));
    assert!(!proposal.separate);
    assert_eq!(arrival.by.as_deref(), Some("robin"));
    assert_ne!(arrival.delivery.id, before.id);
    assert_eq!((arrival.delivery.at, proposal.candidate.at), (LATER, NOW));
    assert_eq!(arrival.delivery.header_digest, before.header_digest);
    assert_eq!(arrival.delivery.request_id, before.request_id);
    assert_eq!(arrival.body.bytes, body.as_bytes());
    assert_eq!(arrival.delivery.body, arrival.body.digest());
}

/// Under another nonce the kept body would be nobody's for good, and no retention would see it.
#[tokio::test]
async fn i12_what_was_in_quarantine_is_entered_with_its_own_blob_and_a_separate_enquiry_with_a_new_one() {
    for (verdict, as_separate) in [(Verdict::Quarantined, false), (Verdict::Refused, false), (Verdict::Redelivery, true)] {
        let kept = kept(LEAD, &[], &[verdict]);
        let before = kept.body.clone().unwrap();
        let arrival = replayed(setup(), kept, as_separate).await.unwrap();
        assert_eq!(arrival.body == before, !as_separate, "{verdict:?}");
        assert_eq!((&arrival.body.bytes, arrival.delivery.body), (&before.bytes, arrival.body.digest()));
    }
    // Refused before nonces were kept there.
    let mut old = kept(LEAD, &[], &[Verdict::Refused]);
    let zeros = old.body.as_mut().unwrap();
    zeros.nonce = [0; 32];
    let arrival = replayed(setup(), old, false).await.unwrap();
    assert_ne!(arrival.body.nonce, [0; 32]);
    assert_eq!((arrival.body.bytes.as_slice(), arrival.delivery.body), (LEAD.as_bytes(), arrival.body.digest()));
}

#[tokio::test]
async fn c059_an_unauthentic_standard_webhook_is_released_under_its_key() {
    let mut source = SourceSetup { auth: Auth::StandardWebhooks { secrets: vec![] }, ..setup() };
    source.rule.submission = vec![Place::parse("header:webhook-id").unwrap()];
    for name in ["webhook-id", "svix-id"] {
        let kept = kept(LEAD, &[(name, "msg_8842")], &[Verdict::Refused]);
        let arrival = replayed(source.clone(), kept, false).await.unwrap();
        assert_eq!(enquiry(&arrival.items[0]).candidate.keys[0].to_string(), "website:submission:msg_8842");
    }
}

#[tokio::test]
async fn a_rule_that_reads_another_header_cannot_be_applied_again() {
    let mut source = setup();
    source.rule.submission = vec![Place::parse("header:x-lead").unwrap()];
    let error = replayed(source, kept(LEAD, &[("x-lead", "77")], &[Verdict::Quarantined]), false).await.unwrap_err();
    assert_eq!(error, ReplayError::NeedsHeader("x-lead".to_owned()));
}

#[tokio::test]
async fn a_weak_suppression_is_released_as_an_enquiry_of_its_own() {
    let body = r#"{"message":"40 chairs"}"#;
    let arrival = replayed(setup(), kept(body, &[], &[Verdict::Redelivery]), true).await.unwrap();
    assert!(enquiry(&arrival.items[0]).separate);
    let error = replayed(setup(), kept(body, &[], &[Verdict::Redelivery]), false).await.unwrap_err();
    assert_eq!(error, ReplayError::OnlySeparately);
}

#[tokio::test]
async fn of_a_batch_only_what_is_open_is_entered_again() {
    let body = format!(r#"[{LEAD},{{"message":"4 tables"}},{{"message":"1 desk"}}]"#);
    let verdicts = [Verdict::Accepted, Verdict::Redelivery, Verdict::Quarantined];
    let arrival = replayed(batch(), kept(&body, &[], &verdicts), true).await.unwrap();
    assert_eq!(aside(&arrival.items[0]).0, Verdict::Ignored);
    assert!(enquiry(&arrival.items[1]).separate);
    assert_eq!(aside(&arrival.items[2]).0, Verdict::Ignored);
    let arrival = replayed(batch(), kept(&body, &[], &verdicts), false).await.unwrap();
    assert_eq!(aside(&arrival.items[1]).0, Verdict::Ignored);
    assert!(!enquiry(&arrival.items[2]).separate);
    // Kept whole before `items` was named: now all of them are entered.
    let arrival = replayed(batch(), kept(&body, &[], &[Verdict::Quarantined]), false).await.unwrap();
    assert_eq!(arrival.items.iter().map(enquiry).count(), 3);
}

#[tokio::test]
async fn what_leaves_nothing_to_replay_is_told_apart() {
    let (intake, _) = intake_at(setup(), None, LATER);
    assert_eq!(intake.replay("dlv_1", "robin", false).await.unwrap_err(), ReplayError::Unknown);
    for verdict in [Verdict::Accepted, Verdict::Conflict, Verdict::Test] {
        assert_eq!(replayed(setup(), kept(LEAD, &[], &[verdict]), false).await.unwrap_err(), ReplayError::NothingToReplay);
        assert_eq!(replayed(setup(), kept(LEAD, &[], &[verdict]), true).await.unwrap_err(), ReplayError::NothingToSeparate);
    }
    let mut gone = kept(LEAD, &[], &[Verdict::Quarantined]);
    gone.body = None;
    assert_eq!(replayed(setup(), gone, false).await.unwrap_err(), ReplayError::BodyGone);
    let mut other = kept(LEAD, &[], &[Verdict::Quarantined]);
    other.body.as_mut().unwrap().bytes = b"{}".to_vec();
    assert_eq!(replayed(setup(), other, false).await.unwrap_err(), ReplayError::BodyDiffers);
    let elsewhere = SourceSetup { id: "other".to_owned(), ..setup() };
    let error = replayed(elsewhere, kept(LEAD, &[], &[Verdict::Quarantined]), false).await.unwrap_err();
    assert_eq!(error, ReplayError::NoSource("website".to_owned()));
}
