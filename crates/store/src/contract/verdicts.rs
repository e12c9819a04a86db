//! The verdicts: what the book makes of an arrival, given what it knows.

use domain::enquiry::Standing;
use domain::identity::{Basis, Key};

use super::Harness;
use super::fixture::{WINDOW, accept, at, enter, key, lease, post, stand};
use crate::Store;
use crate::model::{EnquiryChange, ReviewKind, Step, Verdict};

pub(super) async fn i2_a_redelivery_names_the_first_run_delivery_and_time_and_does_nothing(h: &mut dyn Harness) {
    let first = accept(&*h.store(), post("1", "77", "hello").at(3)).await;
    let much_later = 400 * 86_400_000;
    h.restart(at(4));
    let store = h.store();
    let again = accept(&*store, post("2", "77", "hello").at(much_later)).await;
    assert_eq!((again.verdict, again.duplicate_suppressed, again.weak), (Verdict::Redelivery, true, false));
    assert_eq!((again.enquiry.as_ref(), again.key.as_ref()), (first.enquiry.as_ref(), first.key.as_ref()));
    assert_eq!((again.first_run, again.first_delivery, again.first_at), (first.first_run, Some(first.id), Some(at(3))));
    let dossier = store.dossier(first.enquiry.as_ref().unwrap()).await.unwrap().unwrap();
    assert_eq!((dossier.version, dossier.deliveries.len()), (1, 2));
    let facts = &dossier.entries[1].facts;
    assert_eq!((facts.text("first_run"), facts.text("first_delivery")), (Some("run_1"), Some("dlv_1")));
    assert_eq!(facts.text("attempted_at"), Some(at(much_later).rfc3339().as_str()));
    assert_eq!(lease(&*store, much_later, 9).await.enquiries.len(), 1, "the first's work, and no other");
}

pub(super) async fn i4_other_content_is_held_under_the_next_variant_with_a_review_item(h: &mut dyn Harness) {
    let store = h.store();
    let first = enter(&*store, post("1", "77", "a")).await;
    for (n, body, variant) in [("2", "b", 2), ("3", "c", 3)] {
        let item = accept(&*store, post(n, "77", body)).await;
        assert_eq!((item.verdict, item.duplicate_suppressed), (Verdict::Conflict, false));
        assert_eq!(item.key, Some(key("77").with_variant(variant).to_string()));
        let dossier = store.dossier(&item.enquiry.unwrap()).await.unwrap().unwrap();
        assert_eq!(dossier.enquiry.standing, Standing::Held);
        assert_eq!(dossier.enquiry.flags.conflict_with.as_ref(), Some(&first));
        assert_eq!((dossier.reviews.len(), dossier.reviews[0].kind, dossier.reviews[0].holds), (1, ReviewKind::Conflict, true));
        assert_eq!(dossier.entries[0].facts.text("conflict_with"), Some(first.as_str()));
        assert_eq!(dossier.entries[1].kind, "review.opened");
    }
    let again = accept(&*store, post("4", "77", "b").at(9)).await;
    assert_eq!((again.verdict, again.key), (Verdict::Redelivery, Some("web:submission:77~2".to_owned())));
    assert_eq!(again.first_delivery.unwrap().as_str(), "dlv_2");
    assert_eq!(lease(&*store, 9, 9).await.enquiries.len(), 1, "what is held is not worked on");
}

pub(super) async fn i4_a_revision_makes_its_content_known_under_the_first(h: &mut dyn Harness) {
    let store = h.store();
    let first = enter(&*store, post("1", "77", "a")).await;
    let second = enter(&*store, post("2", "77", "b")).await;
    let kept = store.dossier(&first).await.unwrap().unwrap();
    let merged = store.dossier(&second).await.unwrap().unwrap();
    let mut revised = kept.enquiry;
    revised.contents.extend(merged.enquiry.contents.iter().copied());
    let gone = domain::enquiry::Enquiry { standing: Standing::Merged, ..merged.enquiry };
    let change = |enquiry, version| EnquiryChange { enquiry, version, fence: None, due: None, keep_lease: false };
    let enquiries = vec![change(revised, kept.version), change(gone, merged.version)];
    store.commit(Step { at: at(5), enquiries, ..Step::default() }).await.unwrap();
    let again = accept(&*store, post("3", "77", "b").at(9)).await;
    assert_eq!((again.verdict, again.enquiry.as_ref()), (Verdict::Redelivery, Some(&first)));
    let third = accept(&*store, post("4", "77", "c").at(9)).await;
    assert_eq!(third.key.as_deref(), Some("web:submission:77~3"), "a variant is never used again");
}

pub(super) async fn i3_a_look_alike_is_linked_and_held_inside_the_window_only(h: &mut dyn Harness) {
    let store = h.store();
    let first = enter(&*store, post("1", "77", "hello").alike()).await;
    let close = accept(&*store, post("2", "78", "hello").alike().at(WINDOW)).await;
    assert_eq!((close.verdict, close.duplicate_suppressed), (Verdict::LookAlike, false));
    let dossier = store.dossier(close.enquiry.as_ref().unwrap()).await.unwrap().unwrap();
    let flags = &dossier.enquiry.flags;
    assert_eq!((flags.look_alike_of.as_ref(), flags.hold, dossier.enquiry.standing), (Some(&first), true, Standing::Accepted));
    assert_eq!(dossier.entries[0].facts.text("look_alike_of"), Some(first.as_str()));
    let mut free = post("3", "79", "hello").alike().at(WINDOW + 1);
    free.proposal.hold_look_alikes = false;
    let free = accept(&*store, free).await;
    let dossier = store.dossier(&free.enquiry.unwrap()).await.unwrap().unwrap();
    assert_eq!((dossier.enquiry.flags.look_alike_of, dossier.enquiry.flags.hold), (close.enquiry, false), "linked to the latest");
    let far = accept(&*store, post("4", "80", "hello").alike().at(2 * WINDOW + 2)).await;
    assert_eq!(far.verdict, Verdict::Accepted);
    let unmapped = accept(&*store, post("5", "81", "hello").at(2 * WINDOW + 2)).await;
    assert_eq!(unmapped.verdict, Verdict::Accepted);
}

pub(super) async fn a_copy_under_a_weak_key_is_suppressed_inside_the_window_and_a_look_alike_after_it(h: &mut dyn Harness) {
    let store = h.store();
    let first = accept(&*store, post("1", "-", "hello").weak()).await;
    assert_eq!((first.verdict, first.weak), (Verdict::Accepted, true));
    let copy = accept(&*store, post("2", "-", "hello").weak().at(WINDOW)).await;
    assert_eq!((copy.verdict, copy.weak, copy.duplicate_suppressed), (Verdict::Redelivery, true, true));
    let later = accept(&*store, post("3", "-", "hello").weak().at(WINDOW + 1)).await;
    assert_eq!(later.verdict, Verdict::LookAlike);
    let dossier = store.dossier(later.enquiry.as_ref().unwrap()).await.unwrap().unwrap();
    assert_eq!((dossier.enquiry.key.variant, dossier.enquiry.flags.look_alike_of), (2, first.enquiry));
    assert!(dossier.enquiry.flags.hold && dossier.enquiry.flags.weak_key);
    let copy = accept(&*store, post("4", "-", "hello").weak().at(WINDOW + 2)).await;
    assert_eq!((copy.verdict, copy.enquiry), (Verdict::Redelivery, later.enquiry), "a copy of the latest");
}

pub(super) async fn a_person_undoes_a_suppression_whatever_the_verdict_would_be(h: &mut dyn Harness) {
    let store = h.store();
    let weak = enter(&*store, post("1", "-", "hello").weak()).await;
    enter(&*store, post("2", "77", "a").alike()).await;
    let cases = [
        (post("3", "-", "hello").weak().at(1), weak.clone(), 2),
        (post("4", "-", "hello").weak().at(86_400_000), weak_variant(&weak, &*store).await, 3),
        (post("5", "77", "a").alike(), key("77").enquiry_id(), 2),
        (post("6", "77", "b").alike(), key("77").enquiry_id(), 3),
        (post("7", "78", "a").alike(), key("77").with_variant(2).enquiry_id(), 1),
        (post("8", "79", "new"), key("79").enquiry_id(), 1),
    ];
    for (post, from, variant) in cases {
        let item = accept(&*store, post.separate("ada")).await;
        assert_eq!((item.verdict, item.duplicate_suppressed), (Verdict::Accepted, false), "{}", item.id);
        let dossier = store.dossier(&item.enquiry.unwrap()).await.unwrap().unwrap();
        let enquiry = dossier.enquiry;
        assert_eq!((enquiry.standing, enquiry.flags.hold, enquiry.key.variant), (Standing::Accepted, false, variant), "{}", item.id);
        // Separated from what it repeats; what repeats nothing is separated from nothing.
        let expected = (from != enquiry.id).then_some(from);
        assert_eq!(enquiry.flags.separated_from, expected, "{}", item.id);
        assert_eq!(dossier.entries[0].actor, "ada");
        assert_eq!(dossier.reviews, []);
    }
    let again = accept(&*store, post("9", "77", "b").at(9)).await;
    assert_eq!((again.verdict, again.key.as_deref()), (Verdict::Redelivery, Some("web:submission:77~3")));
}

async fn weak_variant(id: &domain::ids::EnquiryId, store: &dyn Store) -> domain::ids::EnquiryId {
    store.dossier(id).await.unwrap().unwrap().enquiry.key.with_variant(2).enquiry_id()
}

pub(super) async fn i8_an_event_known_under_an_earlier_rule_is_a_redelivery_or_a_conflict_there(h: &mut dyn Harness) {
    let store = h.store();
    let old = Key::new("web", Basis::Time, vec!["2026-03-02T09:15:04Z".to_owned(), "-".to_owned()]);
    let mut first = post("1", "-", "a").alike();
    first.proposal.candidate.keys = vec![old.clone()];
    let first = enter(&*store, first).await;
    stand(&*store, &first, Standing::Settled).await.unwrap();
    let again = accept(&*store, post("2", "77", "a").alike().once(old.clone()).at(5)).await;
    assert_eq!((again.verdict, again.enquiry.as_ref()), (Verdict::Redelivery, Some(&first)));
    let other = accept(&*store, post("3", "77", "b").once(old.clone()).at(5)).await;
    assert_eq!((other.verdict, other.key), (Verdict::Conflict, Some(old.with_variant(2).to_string())));
    assert_eq!(store.resolve("web:submission:77").await.unwrap(), []);
}

/// Under the earlier rule's key it would be outside its window again and again: a new enquiry with every redelivery.
pub(super) async fn i2_what_was_told_apart_under_an_earlier_rule_is_entered_under_the_current_one(h: &mut dyn Harness) {
    let store = h.store();
    let old = post("1", "-", "hello").weak();
    let old_key = old.proposal.candidate.keys[0].clone();
    let first = enter(&*store, old).await;
    let day = 86_400_000;
    let item = accept(&*store, post("2", "77", "hello").once(old_key.clone()).at(day)).await;
    assert_eq!((item.verdict, item.key.as_deref()), (Verdict::LookAlike, Some("web:submission:77")));
    let dossier = store.dossier(item.enquiry.as_ref().unwrap()).await.unwrap().unwrap();
    assert_eq!(dossier.enquiry.flags.look_alike_of, Some(first));
    let again = accept(&*store, post("3", "77", "hello").once(old_key).at(9 * day)).await;
    assert_eq!((again.verdict, again.enquiry, again.weak), (Verdict::Redelivery, item.enquiry, false));
}
