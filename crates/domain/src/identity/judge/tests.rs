use super::*;

const MINUTE: i64 = 60_000;
const DAY: i64 = 24 * 60 * MINUTE;

fn key(basis: Basis, value: &str) -> Key {
    Key::new("web", basis, vec![value.to_owned()])
}

fn content(text: &str) -> Digest {
    Digest::sha256(text.as_bytes())
}

fn known(key: &Key, body: &str, at: i64) -> Known {
    Known { enquiry: key.enquiry_id(), key: key.clone(), contents: vec![content(body)], accepted_at: UtcMs(at) }
}

fn candidate(key: &Key, body: &str, at: i64) -> Candidate {
    Candidate {
        keys: vec![key.clone()],
        contents: vec![content(body)],
        look_alike: Some(content("fields")),
        at: UtcMs(at),
        content_window_ms: 10 * MINUTE,
        look_alike_window_ms: 10 * MINUTE,
    }
}

#[test]
fn i2_the_same_content_under_a_known_key_is_a_redelivery_at_any_distance_in_time() {
    let k = key(Basis::Submission, "77");
    for at in [0, 1, DAY, 8 * DAY, 4_000 * DAY] {
        let verdict = judge(&candidate(&k, "a", at), &[known(&k, "a", 0)], None);
        assert!(matches!(verdict, Judgement::Redelivery { weak: false, of } if of.enquiry == k.enquiry_id()));
    }
}

#[test]
fn i3_another_id_is_another_enquiry_however_alike() {
    let (first, second) = (key(Basis::Submission, "1"), key(Basis::Submission, "2"));
    let recent = known(&first, "a", 0);
    let verdict = judge(&candidate(&second, "a", MINUTE), &[], Some(&recent));
    assert_eq!(verdict, Judgement::New { key: second.clone(), look_alike_of: Some(first.enquiry_id()) });
    let later = judge(&candidate(&second, "a", 11 * MINUTE), &[], Some(&recent));
    assert_eq!(later, Judgement::New { key: second, look_alike_of: None });
}

#[test]
fn look_alikes_are_off_where_no_message_is_mapped() {
    let (first, second) = (key(Basis::Submission, "1"), key(Basis::Submission, "2"));
    let without = Candidate { look_alike: None, ..candidate(&second, "a", 1) };
    assert!(matches!(judge(&without, &[], Some(&known(&first, "a", 0))), Judgement::New { look_alike_of: None, .. }));
}

#[test]
fn i4_other_content_under_a_known_key_is_a_conflict_under_the_next_variant() {
    let k = key(Basis::Submission, "77");
    let verdict = judge(&candidate(&k, "b", 1), &[known(&k, "a", 0)], None);
    assert_eq!(verdict, Judgement::Conflict { with: known(&k, "a", 0), key: k.with_variant(2) });
    let both = [known(&k.with_variant(2), "b", 1), known(&k, "a", 0)];
    let third = judge(&candidate(&k, "c", 2), &both, None);
    assert_eq!(third, Judgement::Conflict { with: known(&k, "a", 0), key: k.with_variant(3) });
    let again = judge(&candidate(&k, "b", 3), &both, None);
    assert!(matches!(again, Judgement::Redelivery { of, .. } if of.key.variant == 2));
}

#[test]
fn content_that_a_person_called_a_revision_is_a_redelivery() {
    let k = key(Basis::Submission, "77");
    let mut first = known(&k, "a", 0);
    first.contents.push(content("b"));
    assert!(matches!(judge(&candidate(&k, "b", 5), &[first], None), Judgement::Redelivery { .. }));
}

#[test]
fn i8_a_delivery_is_known_under_an_earlier_rule_too() {
    let (old, new) = (key(Basis::Time, "2026-03-02T09:15:04Z"), key(Basis::Submission, "77"));
    let both = Candidate { keys: vec![new, old.clone()], ..candidate(&old, "a", 1) };
    assert!(matches!(judge(&both, &[known(&old, "a", 0)], None), Judgement::Redelivery { of, .. } if of.key == old));
}

#[test]
fn i8_content_is_compared_as_the_rule_of_its_time_saw_it() {
    let k = key(Basis::Submission, "77");
    // What is volatile was changed since: the current digest is another, the earlier version's is the one on record.
    let again = Candidate { contents: vec![content("now"), content("then")], ..candidate(&k, "now", 9) };
    assert!(matches!(judge(&again, &[known(&k, "then", 0)], None), Judgement::Redelivery { .. }));
    let other = Candidate { contents: vec![content("now"), content("other")], ..again };
    assert!(matches!(judge(&other, &[known(&k, "then", 0)], None), Judgement::Conflict { .. }));
}

#[test]
fn copies_without_any_id_are_suppressed_and_flagged_inside_the_window_and_look_alikes_after_it() {
    let k = key(Basis::Content, "f00d");
    let copy = judge(&candidate(&k, "a", 9 * MINUTE), &[known(&k, "a", 0)], None);
    assert!(matches!(copy, Judgement::Redelivery { weak: true, .. }));
    let later = judge(&candidate(&k, "a", 11 * MINUTE), &[known(&k, "a", 0)], None);
    assert_eq!(later, Judgement::New { key: k.with_variant(2), look_alike_of: Some(k.enquiry_id()) });
    let copy_of_the_later =
        judge(&candidate(&k, "a", 12 * MINUTE), &[known(&k, "a", 0), known(&k.with_variant(2), "a", 11 * MINUTE)], None);
    assert!(matches!(copy_of_the_later, Judgement::Redelivery { of, .. } if of.key.variant == 2));
}
