//! What became of each effect, with every attempt.

use maud::{Markup, html};

use super::super::page::{Frame, said, state, when};
use crate::views::{EffectView, StepView};

/// `frame` knows which targets are paused: what waits for one of them says so instead of when it is tried next.
pub(in crate::console) fn effects(effects: &[EffectView], frame: &Frame) -> Markup {
    let paused = |effect: &EffectView| frame.paused.iter().find(|(name, _)| *name == effect.target);
    html! {
        @if effects.is_empty() { p.soft { "Nothing is planned." } }
        @for effect in effects {
            div.item {
                h3 { (effect.action) " on " (effect.target) " " (state(effect.state)) }
                @if let Some(why) = &effect.why { p { (said(why)) } }
                dl {
                    @if let Some(id) = &effect.external_id { dt { "Record" } dd { code { (said(id)) } } }
                    dt { "Outgoing key" } dd { code { (said(&effect.key)) } }
                    dt { "Effect" } dd { code { (effect.id) } @if effect.ordinal > 0 { " (re-run " (effect.ordinal) ")" } }
                    @match (effect.due, paused(effect)) {
                        (Some(_), Some((name, why))) => { dt { "Waits" } dd { "target " (name) " is paused (" (said(why)) ")" } }
                        (Some(due), None) => { dt { "Next try" } dd { (when(due)) } }
                        (None, _) => {}
                    }
                }
                @if effect.steps.iter().any(|step| !step.attempts.is_empty()) {
                    details { summary { "Steps and attempts" } @for step in &effect.steps { (attempts(step)) } }
                }
            }
        }
    }
}

fn attempts(step: &StepView) -> Markup {
    html! {
        h3 { (step.step) " " (state(step.phase)) }
        @if let Some(why) = &step.why { p { (said(why)) } }
        @if !step.attempts.is_empty() {
            table {
                thead { tr { th { "Attempt" } th { "Begun" } th { "Outcome" } th { "Fence" } th { "Process" } } }
                tbody {
                    @for attempt in &step.attempts {
                        tr {
                            td { (attempt.attempt) }
                            td { (when(attempt.begun_at)) }
                            td {
                                (attempt.outcome.replace('_', " "))
                                @if let Some(id) = &attempt.external_id { " " code { (said(id)) } }
                            }
                            td { (attempt.fence) }
                            td { code { (attempt.process) } }
                        }
                    }
                }
            }
        }
    }
}
