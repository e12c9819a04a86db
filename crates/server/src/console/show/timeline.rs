//! What the journal says, in order.

use maud::{Markup, html};

use super::super::page::{said, when};
use crate::views::Happening;

pub(super) fn timeline(timeline: &[Happening]) -> Markup {
    html! {
        ol.timeline {
            @for happening in timeline {
                li {
                    (when(happening.at)) " " (said(&happening.says))
                    details {
                        summary.soft { (happening.kind) " by " (said(&happening.actor)) ", entry " (happening.seq) }
                        dl {
                            dt { "Stream" } dd { code { (happening.stream) } }
                            @for (name, value) in happening.facts.iter() {
                                dt { (name) }
                                dd { (said(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))) }
                            }
                            @for blob in &happening.blobs { dt { "Blob" } dd { code { (blob) } } }
                        }
                    }
                }
            }
        }
    }
}
