//! The enquiry's fields, how it came in, and its qualification.

use maud::{Markup, html};

use super::super::page::{link, said};
use crate::views::{EnquiryView, attached};

pub(super) fn fields(enquiry: &EnquiryView) -> Markup {
    let contact = &enquiry.contact;
    let named = [
        ("Name", &contact.name),
        ("Company", &contact.company),
        ("E-mail", &contact.email),
        ("Phone", &contact.phone),
        ("Happened", &enquiry.occurred_at),
        ("In UTC", &enquiry.timestamp),
        ("Channel", &enquiry.channel),
        ("Consent", &enquiry.consent),
    ];
    html! {
        @if enquiry.erased { p.notice { "Its fields are erased." } }
        @if let Some(message) = &enquiry.message { p.message dir="auto" { (message) } }
        dl {
            @for (name, value) in named { @if let Some(value) = value { dt { (name) } dd { (said(value)) } } }
            @for (name, value) in &enquiry.other { dt { (said(name)) } dd { (said(value)) } }
            @for attachment in &enquiry.attachments { dt { "Attached" } dd { (said(&attached(attachment))) } }
            dt { "Source" } dd { (said(&enquiry.source)) }
            @if let Some(client) = &enquiry.client { dt { "Client" } dd { (said(client)) } }
            dt { "Enquiry" } dd { (link(&enquiry.id)) }
            dt { "Run" } dd { code { (enquiry.run) } @if enquiry.run != enquiry.first_run { " (first: " code { (enquiry.first_run) } ")" } }
        }
        (flags(enquiry))
        @if !enquiry.original.is_empty() {
            details {
                summary { "As it was sent" }
                dl { @for (name, value) in &enquiry.original { dt { (name) } dd.message dir="auto" { (value) } } }
            }
        }
    }
}

fn flags(enquiry: &EnquiryView) -> Markup {
    let flags = &enquiry.flags;
    html! {
        @if flags.weak_key { p.soft { "Its key rests on content alone." } }
        @if flags.ambiguous_time { p.soft { "Its local event time stands for two instants, or for none." } }
        @for doubt in &flags.ambiguous { p.soft { "Not certain: " (doubt.words()) "." } }
        @if let Some(id) = &flags.look_alike_of { p { "Its fields repeat those of " (link(id)) "." } }
        @if let Some(id) = &flags.conflict_with { p { "It came under the key of " (link(id)) ", with other content." } }
        @if let Some(id) = &flags.separated_from { p { "A person told it apart from " (link(id)) "." } }
        @if flags.held { p.soft { "A person decides before anything is done." } }
    }
}

pub(super) fn qualification(enquiry: &EnquiryView) -> Markup {
    let Some(result) = &enquiry.qualification else {
        let why = if enquiry.qualified_at.is_some() { "Every try failed: it went on without." } else { "Not yet." };
        return html! { p.soft { (why) } };
    };
    html! {
        dl {
            dt { "Summary" } dd { (said(&result.summary)) }
            dt { "Type" } dd { (said(&result.request_type)) }
            dt { "Priority" } dd { (format!("{:?}", result.priority).to_lowercase()) }
            dt { "Worth a follow-up" } dd { (if result.qualified { "yes" } else { "no" }) ", confidence " (format!("{:.2}", result.confidence)) }
            @if let Some(budget) = &result.budget { dt { "Budget" } dd { (said(budget)) } }
            @for fact in &result.contact_facts { dt { "In the text" } dd { (said(fact)) } }
            @for fact in &result.unsupported { dt { "Not in the message" } dd { (said(fact)) " (named by the model, not used)" } }
        }
        @if let Some(draft) = &result.reply_draft {
            details { summary { "Draft answer" } p.message dir="auto" { (draft) } }
        }
    }
}
