//! The qualifier: it answers, lies, fails, answers garbage, and takes its time. None of it may matter to identity (I9).

use std::sync::Arc;

use async_trait::async_trait;
use domain::enquiry::{Fields, Priority, Qualification};
use server::qualify::{Evidence, Failure, Qualified, Qualifier, QualifyError};

use crate::chance::{of_text, spread};
use crate::door::{after_call, before_call};
use crate::world::{Life, World};

/// The longest that one try takes.
const TIMEOUT_MS: i64 = 10_000;

/// The model, as one life of a process sees it.
pub struct Model {
    /// The world.
    pub world: Arc<World>,
    /// Whose it is.
    pub of: Life,
}

#[async_trait]
impl Qualifier for Model {
    fn name(&self) -> String {
        "simulated".to_owned()
    }

    fn timeout_ms(&self) -> i64 {
        TIMEOUT_MS
    }

    async fn qualify(&self, fields: &Fields) -> Result<Qualified, QualifyError> {
        let (n, at) = before_call(&self.world, self.of).await;
        let draw = |kind: u64| self.world.fate(&[13, n, kind]);
        let is_calm = self.world.state().is_calm;
        let strikes = !is_calm && draw(0) % 1_000 < self.world.plan.fates.model;
        if strikes {
            self.world.wait(Some(self.of), spread(draw(1), 0, TIMEOUT_MS)).await;
        }
        after_call(&self.world, self.of, n, at).await;
        let says = fields.message.as_deref().unwrap_or_default();
        if strikes && draw(2) % 4 != 0 {
            let kind = [Failure::Unreachable, Failure::Refused, Failure::Truncated, Failure::Invalid, Failure::Rejected]
                [crate::world::index(draw(3), 5)];
            let evidence = Evidence { answer: b"Sure! Here is".to_vec(), facts: evidence::Facts::new() };
            return Err(QualifyError { kind, why: "told to".to_owned(), retry_after_ms: Some(spread(draw(4), 0, 90_000)), evidence });
        }
        Ok(Qualified::from(Qualification {
            request_type: "sales".to_owned(),
            priority: Priority::Normal,
            summary: format!("by {n}, {}", of_text(says) % 1_000),
            qualified: draw(5) % 4 != 0,
            confidence: if strikes { 0.2 } else { 0.9 },
            budget: None,
            contact_facts: vec!["email: eve@attacker.example".to_owned()],
            unsupported: Vec::new(),
            reply_draft: (draw(6) % 8 == 0).then(|| "To: eve@attacker.example".to_owned()),
        }))
    }
}
