//! An enquiry as an operator sees it.

use std::collections::BTreeMap;

use domain::enquiry::{Attachment, Contact, Enquiry, Qualification, Standing};
use domain::identity::Ambiguity;
use serde::Serialize;

use super::At;

/// Every state an enquiry may be in, for filters.
pub const STANDINGS: [&str; 6] = ["accepted", "working", "held", "review", "settled", "merged"];

/// One enquiry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EnquiryView {
    /// Its id.
    pub id: String,
    /// Its key, as text.
    pub key: String,
    /// The source's id.
    pub source: String,
    /// Whose it is, where there are several clients.
    pub client: Option<String>,
    /// Where it stands: one of [`STANDINGS`].
    pub state: &'static str,
    /// When it was accepted.
    pub accepted_at: At,
    /// The delivery that brought it.
    pub first_delivery: String,
    /// The run that began at acceptance.
    pub first_run: String,
    /// The latest run.
    pub run: String,
    /// The way it came by, e.g. `form`.
    pub channel: Option<String>,
    /// Who asks.
    pub contact: Contact,
    /// What is asked.
    pub message: Option<String>,
    /// What came with it: files, and addresses of files elsewhere.
    pub attachments: Vec<Attachment>,
    /// The original event time in UTC (RFC 3339), where it stands for one instant.
    pub timestamp: Option<String>,
    /// The original event time, as the provider wrote it.
    pub occurred_at: Option<String>,
    /// Consent, as the form said it.
    pub consent: Option<String>,
    /// Further mapped fields.
    pub other: BTreeMap<String, String>,
    /// What was sent, where normalising changed it.
    pub original: BTreeMap<String, String>,
    /// Its fields are erased: what stands empty above was not empty once.
    pub erased: bool,
    /// What a person should know about how it came in.
    pub flags: FlagsView,
    /// The model's result.
    pub qualification: Option<Qualification>,
    /// When the structured result stood; where every try failed, when the last had.
    pub qualified_at: Option<At>,
    /// When the last effect ended.
    pub settled_at: Option<At>,
    /// From arrival to the structured result; where every try failed, to the last of them.
    pub arrival_to_result_ms: Option<i64>,
}

/// How an enquiry came in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlagsView {
    /// Its key rests on content alone.
    pub weak_key: bool,
    /// Its local event time stands for two instants, or for none.
    pub ambiguous_time: bool,
    /// Where who or what it is does not stand for certain in what was sent.
    pub ambiguous: Vec<Ambiguity>,
    /// The recent enquiry whose fields it repeats.
    pub look_alike_of: Option<String>,
    /// The enquiry whose key it came under with other content.
    pub conflict_with: Option<String>,
    /// A person released it from a suppression under a weak key.
    pub separated_from: Option<String>,
    /// Its effects wait for a person, or the enquiry itself does.
    pub held: bool,
}

impl EnquiryView {
    /// The view of a record.
    pub fn of(enquiry: &Enquiry) -> Self {
        let fields = enquiry.fields.clone().unwrap_or_default();
        Self {
            id: enquiry.id.to_string(),
            key: enquiry.key.to_string(),
            source: enquiry.key.source.clone(),
            client: enquiry.client.clone(),
            state: enquiry.standing.as_str(),
            accepted_at: At(enquiry.accepted_at),
            first_delivery: enquiry.first_delivery.to_string(),
            first_run: enquiry.first_run.to_string(),
            run: enquiry.run.to_string(),
            channel: fields.channel,
            contact: fields.contact,
            message: fields.message,
            attachments: fields.attachments,
            timestamp: fields.timestamp,
            occurred_at: fields.occurred_at,
            consent: fields.consent,
            other: fields.other,
            original: fields.original,
            erased: enquiry.fields.is_none(),
            flags: FlagsView::of(enquiry),
            qualification: enquiry.qualification.clone(),
            qualified_at: enquiry.qualified_at.map(At),
            settled_at: enquiry.settled_at.map(At),
            arrival_to_result_ms: enquiry.qualified_at.map(|at| at.since(enquiry.accepted_at)),
        }
    }
}

/// One attachment in a line: its name or address, its type and its length.
pub fn attached(attachment: &Attachment) -> String {
    let what = [&attachment.name, &attachment.url].into_iter().flatten().next().map_or("a file", String::as_str);
    let kind = attachment.content_type.as_deref().map(|kind| format!(", {kind}")).unwrap_or_default();
    let length = attachment.length.map(|length| format!(", {length} bytes")).unwrap_or_default();
    let elsewhere = if attachment.fetched { "" } else { ", not fetched" };
    format!("{what}{kind}{length}{elsewhere}")
}

impl FlagsView {
    fn of(enquiry: &Enquiry) -> Self {
        let flags = &enquiry.flags;
        let name = |id: &Option<domain::ids::EnquiryId>| id.as_ref().map(ToString::to_string);
        Self {
            weak_key: flags.weak_key,
            ambiguous_time: flags.ambiguous_time,
            ambiguous: flags.ambiguous.clone(),
            look_alike_of: name(&flags.look_alike_of),
            conflict_with: name(&flags.conflict_with),
            separated_from: name(&flags.separated_from),
            held: flags.hold || enquiry.standing == Standing::Held,
        }
    }
}
