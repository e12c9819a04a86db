//! The sentences about how an enquiry came in and what became of it as a whole.

use super::Told;

/// A delivery, by its verdict.
pub(super) fn received(told: Told<'_>) -> String {
    let (delivery, source, key) = (told.text("delivery"), told.text("source"), told.text("key"));
    let reason = told.maybe("reason").map_or_else(String::new, |reason| format!(": {reason}"));
    let came = format!("Delivery {delivery} from {source}");
    let said = verdict(&came, key, &reason, told);
    match told.mended() {
        Some(mended) => format!("{said} It was mended to be read: {mended}."),
        None => said,
    }
}

fn verdict(came: &str, key: &str, reason: &str, told: Told<'_>) -> String {
    match told.text("verdict") {
        "accepted" => format!("{came} was accepted as a new enquiry, {key}."),
        "redelivery" => redelivered(came, told),
        "conflict" => format!("{came} brought other content under a key that is entered already: held as {key}."),
        "look_alike" => format!("{came} was accepted as an enquiry of its own, {key}; its fields repeat a recent one's."),
        "quarantined" => format!("{came} could not be understood and was kept whole{reason}."),
        "test" => format!("{came} was a sender's test{reason}."),
        "ignored" => format!("{came} asked for no work{reason}."),
        "refused" => format!("{came} was not authentic{reason}."),
        other => format!("{came} arrived: {other}."),
    }
}

fn redelivered(came: &str, told: Told<'_>) -> String {
    let (first, run) = (told.text("first_delivery"), told.text("first_run"));
    let weak = if told.is("weak") { " The key rests on content alone, so a person can undo this." } else { "" };
    // Whether that run did anything is not said: the first may be held itself.
    format!("{came} brought a known event again: suppressed as a duplicate of {first} (run {run}).{weak}")
}

/// An enquiry.
pub(super) fn of_enquiry(what: &str, told: Told<'_>) -> Option<String> {
    Some(match what {
        "normalised" => format!("{} was normalised: {}.", told.text("field"), told.text("how")),
        "qualified" => qualified(told),
        "not_qualified" => not_qualified(told),
        "settled" if told.0.get("arrival_to_settled_ms").is_some() => {
            format!("Every effect has ended, {} ms after the arrival.", told.number("arrival_to_settled_ms"))
        }
        "settled" => "Every effect has ended.".to_owned(),
        "revised" => format!("A person said that {} is a revision of this enquiry.", told.text("revision")),
        "merged" => format!("A person said that this is a revision of {}: nothing is done for it.", told.text("into")),
        "separated" => "A person said that this is an enquiry of its own: it is taken up.".to_owned(),
        _ => return None,
    })
}

fn qualified(told: Told<'_>) -> String {
    let worth = if told.is("qualified") { "worth a follow-up" } else { "not worth a follow-up" };
    let doubt = if told.is("uncertain") { ", which is uncertain" } else { "" };
    let suspect = told.maybe("suspect").map_or_else(String::new, |why| format!(" A person should look: {why}."));
    let again = match (told.0.get("kept"), told.is("kept")) {
        (Some(_), true) => " It is kept as the latest result.",
        (Some(_), false) => " The earlier result stays.",
        (None, _) => "",
    };
    format!(
        "{} called it {}, {worth}, with {} % confidence{doubt}, {}.{suspect}{again}",
        told.text("qualifier"),
        told.text("request_type"),
        told.number("confidence_percent"),
        took(told)
    )
}

fn took(told: Told<'_>) -> String {
    match told.0.get("run_to_result_ms") {
        Some(_) => format!("{} ms after the run began", told.number("run_to_result_ms")),
        None => format!("{} ms after the arrival", told.number("arrival_to_result_ms")),
    }
}

fn not_qualified(told: Told<'_>) -> String {
    let next = match told.maybe("next_try") {
        Some(at) => format!(" The next try is at {at}."),
        None => " It was the last: it goes on without.".to_owned(),
    };
    format!("Try {} of {} gave no result{}.{next}", told.number("attempt"), told.text("qualifier"), told.because())
}
