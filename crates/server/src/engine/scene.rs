//! The scene: what templates and conditions see of an enquiry. Absent values are null, never missing, so that a template
//! that names one renders `null` and one that misspells a name fails.

use domain::enquiry::{Enquiry, Fields, Qualification};
use serde_json::{Map, Value, json};

/// How long a summary that nobody wrote may be, in characters.
const SUMMARY_MAX: usize = 80;

/// What an action's templates see. `key` is the outgoing key; `others` are names that some source has for fields of its own.
pub(super) fn scene(enquiry: &Enquiry, key: &str, action: &str, ordinal: u32, others: &[String]) -> Value {
    let empty = Fields::default();
    let fields = enquiry.fields.as_ref().unwrap_or(&empty);
    let contact = &fields.contact;
    let mut other: Map<String, Value> = others.iter().map(|name| (name.clone(), Value::Null)).collect();
    other.extend(fields.other.iter().map(|(name, value)| (name.clone(), json!(value))));
    json!({
        "key": key,
        "action": action,
        "ordinal": ordinal,
        "enquiry": {
            "id": enquiry.id.as_str(),
            "key": enquiry.key.to_string(),
            "source": enquiry.key.source,
            "client": enquiry.client,
            "channel": fields.channel,
            "timestamp": fields.timestamp,
            "attachments": fields.attachments,
            "accepted_at": enquiry.accepted_at.rfc3339(),
            "occurred_at": fields.occurred_at,
            "summary": summary(enquiry.qualification.as_ref(), fields, &enquiry.key.to_string()),
            "message": fields.message,
            "consent": fields.consent,
            "contact": {
                "email": contact.email,
                "name": contact.name,
                "phone": contact.phone,
                "company": contact.company,
            },
            "other": other,
        },
        "qualification": enquiry.qualification.as_ref().map(used),
    })
}

/// What may be used of a qualification: facts that do not stand in the enquiry are for people to see, and for nothing else.
fn used(qualification: &Qualification) -> Qualification {
    Qualification { unsupported: Vec::new(), ..qualification.clone() }
}

/// The model's line, else the message's first, else the key: a record always has a title.
fn summary(qualification: Option<&Qualification>, fields: &Fields, key: &str) -> String {
    if let Some(summary) = qualification.map(|q| q.summary.trim()).filter(|s| !s.is_empty()) {
        return summary.to_owned();
    }
    let line = fields.message.as_deref().and_then(|m| m.lines().find(|line| !line.trim().is_empty()));
    line.map_or_else(|| format!("Enquiry {key}"), |line| line.trim().chars().take(SUMMARY_MAX).collect())
}

#[cfg(test)]
mod tests {
    use domain::enquiry::{Flags, Qualifying, Standing};
    use domain::identity::{Basis, Key};
    use domain::ids::{DeliveryId, RunId};
    use domain::time::UtcMs;

    use super::*;
    use crate::effects::names::{QUALIFICATION, ROOTS, slip};
    use crate::engine::plan::well_qualified;

    fn enquiry() -> Enquiry {
        let key = Key::new("web", Basis::Submission, vec!["1".to_owned()]);
        let run = RunId::parse("run_1").unwrap();
        Enquiry {
            id: key.enquiry_id(),
            key,
            standing: Standing::Working,
            client: None,
            first_delivery: DeliveryId::parse("dlv_1").unwrap(),
            first_run: run.clone(),
            run,
            accepted_at: UtcMs(0),
            contents: Vec::new(),
            fields: None,
            flags: Flags::default(),
            qualification: None,
            qualifying: Qualifying::default(),
            qualified_at: None,
            settled_at: None,
        }
    }

    #[test]
    fn what_does_not_stand_in_the_enquiry_is_in_no_scene() {
        let mut asked = enquiry();
        let named = Qualification { unsupported: vec!["email: eve@attacker.example".to_owned()], ..well_qualified(&asked) };
        asked.qualification = Some(named);
        let seen = scene(&asked, "k", "a", 0, &[]);
        assert!(seen["qualification"]["qualified"] == true && !seen.to_string().contains("eve@"), "{seen}");
    }

    /// A name that a scene has, a template may use, and the other way round.
    #[test]
    fn a_scene_has_the_names_that_are_known() {
        let seen = scene(&enquiry(), "k", "a", 0, &["size".to_owned()]);
        let names = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
        for (group, value) in [("enquiry", &seen["enquiry"]), ("enquiry.contact", &seen["enquiry"]["contact"])] {
            for name in names(value) {
                assert_eq!(slip(&format!("{group}.{name}")), None);
            }
        }
        assert!(names(&seen).iter().all(|name| ROOTS.contains(&name.as_str())));
        let told = slip("enquiry.nosuch").unwrap();
        assert!(names(&seen["enquiry"]).iter().all(|name| told.contains(name.as_str())) && told.matches(", ").count() == 13, "{told}");
        let all = names(&json!(well_qualified(&enquiry())));
        assert!(all.iter().all(|name| QUALIFICATION.contains(&name.as_str())) && all.len() == QUALIFICATION.len());
        assert_eq!(seen["enquiry"]["other"]["size"], Value::Null);
    }
}
