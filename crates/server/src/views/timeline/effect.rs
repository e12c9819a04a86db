//! The sentences about effects: every word of the gate (DESIGN section 4) as a person would say it.

use super::Told;

/// An effect, or one step of it.
pub(super) fn says(what: &str, told: Told<'_>) -> Option<String> {
    let sentence = of_whole(what, told).or_else(|| of_sending(what, told)).or_else(|| of_asking(what, told))?;
    let ignored = told.maybe("ignored").map_or_else(String::new, |why| format!(" It changed nothing: {why}."));
    Some(format!("'{}' on {}: {sentence}.{ignored}", told.text("action"), told.text("target")))
}

fn of_whole(what: &str, told: Told<'_>) -> Option<String> {
    Some(match what {
        "planned" => "planned".to_owned(),
        "waiting" => "waits for other actions to be done".to_owned(),
        "held" => format!("held for a person{}", told.because()),
        "skipped" => format!("will not be done{}", told.because()),
        "postponed" => format!("put off until {}{}", told.text("until"), told.because()),
        "dismissed" => "a person decided that it is not to be done".to_owned(),
        // As books of an earlier version say it.
        "released" if told.maybe("state") == Some("skipped") => "a person decided that it is not to be done".to_owned(),
        "released" => "a person let it go on".to_owned(),
        // A replay: the step is where it was, and the target is asked about it.
        "decided" if told.maybe("from").is_some_and(|from| told.maybe("phase") == Some(from)) => {
            format!("the {} is looked at again, as a person asked", told.text("step"))
        }
        "decided" => format!("a person decided about the {}: from {} to {}", told.text("step"), told.text("from"), told.text("phase")),
        _ => return None,
    })
}

fn of_sending(what: &str, told: Told<'_>) -> Option<String> {
    let (attempt, step) = (told.number("attempt"), told.text("step"));
    let record = told.maybe("external_id").map_or_else(String::new, |id| format!(" {id}"));
    Some(match what {
        "intended" => format!("the gate let attempt {attempt} at the {step} proceed; the intent was durable before anything was sent"),
        "not_sent" => format!("attempt {attempt} at the {step} was definitely not done{}", told.because()),
        "refused" => format!("the target refused the {step} of attempt {attempt}"),
        "exists_already" => format!("the target says that it has the key of this {step} already, so it is looked up"),
        "answered" => format!("the target answered attempt {attempt} with the {step}{record}"),
        "unknown" => {
            format!("attempt {attempt} at the {step} got no answer that proves anything, so its outcome is unknown{}", told.because())
        }
        "lost" => format!("the worker of attempt {attempt} at the {step} is gone, so its outcome is unknown"),
        "late_answer" => format!("an answer to an attempt at the {step} came late and was kept{record}"),
        "given_up" => format!("no more attempts are made at the {step}; a person is asked"),
        _ => return None,
    })
}

fn of_asking(what: &str, told: Told<'_>) -> Option<String> {
    let step = told.text("step");
    let record = told.maybe("external_id").map_or_else(String::new, |id| format!(" {id}"));
    Some(match what {
        "found" if told.maybe("phase") == Some("doubled") => format!("a look-up found more than one {step} with our key, an alarm"),
        "found" if told.number("matches") > 1 => {
            format!("a look-up found {} matches for the {step}; the oldest was taken:{record}", told.number("matches"))
        }
        "found" => format!("a look-up found the {step}{record} with our key; nothing is sent again"),
        "absent" if told.maybe("phase") == Some("planned") => format!("a look-up proved that no {step} with our key is there"),
        "absent" => format!("a look-up found no {step} with our key, which proves nothing yet"),
        "look_failed" => format!("a look-up for the {step} gave no usable answer{}", told.because()),
        "verified" => format!("the {step}{record} was read back and carries our key"),
        "mismatched" => {
            let differs = told.maybe("differs").map_or_else(String::new, |what| format!(": {what}"));
            format!("the {step}{record} was read back and differs{differs}")
        }
        "read_gone" => format!("the {step}{record} was not there to be read back"),
        "read_failed" => format!("the {step}{record} could not be read back{}", told.because()),
        _ => return None,
    })
}
