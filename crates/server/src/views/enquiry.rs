//! An enquiry as an operator sees it.

use std::collections::BTreeMap;

use domain::enquiry::{Contact, Enquiry, Qualification, Standing};
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
    /// Who asks.
    pub contact: Contact,
    /// What is asked.
    pub message: Option<String>,
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
    /// When the structured result stood.
    pub qualified_at: Option<At>,
    /// When the last effect ended.
    pub settled_at: Option<At>,
    /// From arrival to the structured result.
    pub arrival_to_result_ms: Option<i64>,
}

/// How an enquiry came in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FlagsView {
    /// Its key rests on content alone.
    pub weak_key: bool,
    /// Its local event time stands for two instants, or for none.
    pub ambiguous_time: bool,
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
            contact: fields.contact,
            message: fields.message,
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

impl FlagsView {
    fn of(enquiry: &Enquiry) -> Self {
        let flags = &enquiry.flags;
        let name = |id: &Option<domain::ids::EnquiryId>| id.as_ref().map(ToString::to_string);
        Self {
            weak_key: flags.weak_key,
            ambiguous_time: flags.ambiguous_time,
            look_alike_of: name(&flags.look_alike_of),
            conflict_with: name(&flags.conflict_with),
            separated_from: name(&flags.separated_from),
            held: flags.hold || enquiry.standing == Standing::Held,
        }
    }
}
