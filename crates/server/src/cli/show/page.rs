//! The page about one enquiry: who and what, how long it took, its effects, deliveries, open reviews and timeline.

use super::super::read::flags;
use super::super::review::to_decide;
use super::super::table::{clipped, instant, span, table};
use crate::views::{ArrivalView, DeliveryView, DossierView, EffectView, EnquiryView, StepView, TargetView, attached, mended};

/// Everything about one enquiry. `program` is how the commands that are named begin; `targets` are those configured.
pub(super) fn of_enquiry(dossier: &DossierView, program: &str, targets: &[TargetView]) -> Vec<String> {
    let enquiry = &dossier.enquiry;
    let mut lines = vec![format!("{}  ({})", enquiry.key, enquiry.state)];
    lines.extend(about(enquiry));
    lines.extend(times(dossier));
    if !dossier.effects.is_empty() {
        lines.extend([String::new(), "Effects".to_owned()]);
        lines.extend(dossier.effects.iter().flat_map(|effect| of_effect(effect, &enquiry.key, targets)));
    }
    lines.extend([String::new(), "Deliveries".to_owned()]);
    lines.extend(dossier.deliveries.iter().flat_map(|delivery| of_delivery(delivery, program)));
    let open: Vec<_> = dossier.reviews.iter().filter(|review| review.closed_at.is_none()).collect();
    if !open.is_empty() {
        lines.extend([String::new(), "Waits for a person".to_owned()]);
        lines.extend(open.iter().flat_map(|review| to_decide(review, program)).map(|line| format!("  {line}")));
    }
    lines.extend([String::new(), "Timeline".to_owned()]);
    let rows = dossier.timeline.iter().map(|entry| vec![instant(entry.at), entry.actor.clone(), entry.says.clone()]).collect();
    lines.extend(table(2, 2, &["time (UTC)", "actor", "what happened"], rows));
    lines
}

/// A delivery of which something became no enquiry.
pub(super) fn of_arrival(arrival: &ArrivalView, program: &str) -> Vec<String> {
    let mut lines = vec![format!("{}  (delivery)", arrival.id)];
    if let Some(first) = arrival.items.first() {
        lines.push(fact("source", &first.source));
        lines.push(fact("arrived", &format!("{} UTC", instant(first.arrived_at))));
        let kept =
            if arrival.body.is_some() { format!("kept: {program} show {} --body", arrival.id) } else { "not kept any more".to_owned() };
        lines.push(fact("body", &format!("{} bytes, {kept}", first.body_len)));
        lines.extend(mended(&first.repairs).map(|mended| fact("mended", &mended)));
    }
    for item in arrival.items.iter().filter(|item| item.enquiry.is_none()) {
        let which = if arrival.items.len() > 1 { format!("item {}: ", item.item) } else { String::new() };
        let why = item.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
        lines.push(fact("verdict", &format!("{which}{}{why}", item.verdict.replace('_', "-"))));
    }
    if arrival.items.iter().any(|item| matches!(item.verdict, "quarantined" | "refused")) {
        let refused = arrival.items.iter().any(|item| item.verdict == "refused");
        let does = if refused { "lets it in, although it is not authentic" } else { "reads it again under the rule as it is now" };
        lines.push(fact("next", &format!("{program} replay {}   ({does})", arrival.id)));
    }
    lines
}

fn fact(name: &str, value: &str) -> String {
    format!("  {name:<9}{value}")
}

fn about(enquiry: &EnquiryView) -> Vec<String> {
    let contact = &enquiry.contact;
    let known = [&contact.name, &contact.email, &contact.phone, &contact.company].into_iter().flatten();
    let who = known.map(|text| clipped(text, 60)).collect::<Vec<_>>().join(", ");
    let mut lines = vec![fact("enquiry", &enquiry.id)];
    match (who.is_empty(), enquiry.erased) {
        (_, true) => lines.push(fact("who", "(erased)")),
        (true, false) => lines.push(fact("who", "nobody is named")),
        (false, false) => lines.push(fact("who", &who)),
    }
    lines.extend(enquiry.message.as_ref().map(|message| fact("what", &clipped(message, 85))));
    lines.extend(enquiry.attachments.iter().map(|attachment| fact("with", &clipped(&attached(attachment), 85))));
    if let Some(result) = &enquiry.qualification {
        let is = if result.qualified { "qualified" } else { "not qualified" };
        let priority = format!("{:?}", result.priority).to_lowercase();
        lines.push(fact(
            "result",
            &format!("{is}, {}, priority {priority}: {}", clipped(&result.request_type, 20), clipped(&result.summary, 50)),
        ));
        lines.extend((!result.unsupported.is_empty()).then(|| {
            let named = result.unsupported.iter().map(|named| clipped(named, 60)).collect::<Vec<_>>().join(", ");
            fact("not used", &format!("the model named what does not stand in the enquiry: {named}"))
        }));
    }
    let flags = flags(&enquiry.flags);
    if !flags.is_empty() {
        lines.extend(enquiry.flags.ambiguous.iter().map(|doubt| fact("doubt", &doubt.words())));
        let others = [&enquiry.flags.look_alike_of, &enquiry.flags.conflict_with, &enquiry.flags.separated_from];
        let others = others.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(", ");
        let see = if others.is_empty() { others } else { format!(" (see {others})") };
        lines.push(fact("flags", &format!("{}{see}", flags.join(", "))));
    }
    lines
}

/// The two spans that are promised to be on record.
fn times(dossier: &DossierView) -> Vec<String> {
    let after = |ms: Option<i64>, what: &str| ms.map_or_else(|| format!("no {what} yet"), |ms| format!("{what} after {}", span(ms)));
    let result = match (dossier.tries_in_vain(), dossier.arrival_to_result_ms) {
        (Some(tries), Some(ms)) => format!("no structured result ({} in vain, the last after {})", counted(tries), span(ms)),
        (_, ms) => after(ms, "structured result"),
    };
    let record = after(dossier.arrival_to_record_ms, "record");
    vec![fact("arrived", &format!("{} UTC; {result}, {record}", instant(dossier.enquiry.accepted_at)))]
}

fn counted(tries: i64) -> String {
    if tries == 1 { "1 try".to_owned() } else { format!("{tries} tries") }
}

fn of_effect(effect: &EffectView, key: &str, targets: &[TargetView]) -> Vec<String> {
    let again = if effect.ordinal == 0 { String::new() } else { format!(" #{}", effect.ordinal) };
    let record = effect.external_id.as_ref().map(|id| format!(" as {id}")).unwrap_or_default();
    let state = effect.state.replace('_', "-");
    let mut lines = vec![format!("  {}{again} in {}: {state}{record}   {}", effect.action, effect.target, effect.id)];
    lines.extend(effect.why.as_ref().map(|why| format!("    {why}")));
    lines.extend((effect.key != key).then(|| format!("    sent under the key {}", effect.key)));
    lines.extend(effect.due.map(|due| match targets.iter().find(|target| target.name == effect.target && target.state == "paused") {
        Some(paused) => format!("    waits: target {} is paused ({})", paused.name, paused.why.as_deref().unwrap_or("no reason given")),
        None => format!("    next try at {} UTC", instant(due)),
    }));
    // Before the first attempt the steps only repeat where the effect stands.
    if effect.steps.iter().any(|step| !step.attempts.is_empty()) {
        let rows = effect.steps.iter().flat_map(step_rows).collect();
        lines.extend(table(4, 2, &["step", "stands", "record", "attempt", "begun (UTC)", "outcome"], rows));
    }
    lines
}

/// A row for each attempt; the step itself is named in the first.
fn step_rows(step: &StepView) -> Vec<Vec<String>> {
    let record = step.external_id.clone().unwrap_or_default();
    let mut named = vec![step.step.to_owned(), step.phase.replace('_', "-"), record];
    if step.attempts.is_empty() {
        named.extend(["", "", ""].map(str::to_owned));
        return vec![named];
    }
    let mut rows = Vec::new();
    for attempt in &step.attempts {
        let mut row = std::mem::replace(&mut named, vec![String::new(); 3]);
        row.extend([attempt.attempt.to_string(), instant(attempt.begun_at), attempt.outcome.replace('_', "-")]);
        rows.push(row);
    }
    rows
}

/// No table: the command that undoes a suppression must stay on one line to be copied.
fn of_delivery(delivery: &DeliveryView, program: &str) -> Vec<String> {
    let verdict = delivery.verdict.replace('_', "-");
    let mut lines = vec![format!("  {}   {}   {verdict}", delivery.id, instant(delivery.arrived_at))];
    if let Some(suppression) = &delivery.suppression {
        let run = suppression.first_run.as_deref().unwrap_or("unknown");
        let attempted = instant(suppression.attempted_at);
        lines.push(format!("    duplicate_suppressed: true; first run {run}, attempted {attempted}"));
    }
    lines.extend(delivery.reason.as_ref().map(|why| format!("    {why}")));
    lines.extend(mended(&delivery.repairs).map(|mended| format!("    mended to be read: {mended}")));
    if delivery.weak_key && delivery.duplicate_suppressed {
        lines.push(format!("    another enquiry after all? {program} review {} separate", delivery.id));
    }
    lines
}

#[cfg(test)]
mod tests;
