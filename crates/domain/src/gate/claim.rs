//! The gate for other engines: who may act on one (source, submission id, action), and what a claim came to.
//!
//! Owns the state kept per such key, the answer to a claim ([`decide`]) and what a report makes of it ([`report`]). Not
//! here: the key itself, journalling the decision before it is answered, and the HTTP forms. A state is written as a
//! compare-and-set by the store: two decisions on one state must not both be kept.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::ids::ClaimId;
use crate::time::UtcMs;

/// How long a claimant may act, unless it asks otherwise.
pub const LEASE_DEFAULT_MS: i64 = 300_000;
/// How long after its completion a claim suppresses others, unless it asks otherwise.
pub const WINDOW_DEFAULT_MS: i64 = 86_400_000;

/// What the store keeps per key: the current claim, and the one whose window ended before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimState {
    /// The current claim. Reports must name it.
    pub claim: ClaimId,
    /// The execution that got it.
    pub first_execution_id: Option<String>,
    /// The `Idempotency-Key` of the call that got it: only that call may be given it again.
    pub call_id: Option<String>,
    /// Digest of what is to be done, as the latest claim to give one gave it.
    pub content: Option<Digest>,
    /// When it was given.
    pub first_at: UtcMs,
    /// From this instant on its claimant must not act.
    pub lease_until: UtcMs,
    /// How long it suppresses others once it is done. Its own: what a later asker wishes is not looked at.
    pub window_ms: i64,
    /// What it came to.
    pub standing: Standing,
    /// The claim of an earlier window.
    pub previous: Option<Previous>,
}

/// What a claim came to. Done and definitely failed can be built on; *unknown* is a state, not an error (I6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// Its claimant may be acting.
    InProgress,
    /// It may have been carried out or not; somebody has to look.
    Unknown {
        /// When it became so.
        since: UtcMs,
        /// How.
        why: Doubt,
    },
    /// It was carried out.
    Done {
        /// When we were told: the window counts from here.
        completed_at: UtcMs,
        /// The record it made, where one was named.
        external_id: Option<String>,
    },
    /// Nothing was done, for certain.
    Failed {
        /// When we were told.
        failed_at: UtcMs,
        /// Why not.
        reason: NotDone,
    },
}

/// Why it is not known whether a claim was carried out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Doubt {
    /// Neither completed nor failed before its lease ended.
    LeaseEnded,
    /// Its claimant failed, and cannot say whether anything was done. Its words.
    Reported(String),
}

/// How it is known that nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotDone {
    /// Its claimant says so. Its words.
    Reported(String),
    /// Somebody looked in the target, and it was not there.
    LookedAbsent,
}

/// The claim of an earlier window, which a later `proceed` names.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Previous {
    /// Its id.
    pub claim: ClaimId,
    /// What it came to.
    pub outcome: Standing,
}

/// One request to act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// The id a claim gets if it proceeds now; drawn by the caller.
    pub claim: ClaimId,
    /// The call's `Idempotency-Key`.
    pub call_id: Option<String>,
    /// The asking engine's execution.
    pub execution_id: Option<String>,
    /// Digest of what is to be done.
    pub content: Option<Digest>,
    /// The window asked for. Not negative: the API refuses that.
    pub window_ms: Option<i64>,
    /// The lease asked for. Positive: the API refuses less.
    pub lease_ms: Option<i64>,
    /// The store's time.
    pub now: UtcMs,
}

/// The gate's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Act, under this claim, within the lease.
    Proceed {
        /// What reports must name.
        claim: ClaimId,
        /// What is left of the lease, counted from before the call was sent. Round down, never up.
        lease_ms: i64,
        /// How long it will suppress others once done.
        window_ms: i64,
        /// The claim of an earlier window.
        previous: Option<Previous>,
    },
    /// Done already.
    Suppressed(Seen),
    /// Another claimant, or another call of the same one, may be acting.
    InProgress(Seen),
    /// It may have been done; somebody has to look. Never handed out again silently.
    Unknown(Seen),
    /// The same key, other content (I4).
    Conflict(Seen),
}

/// What stood in the way: every answer but `proceed` carries it, with `duplicate_suppressed: true`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The claim in the way.
    pub claim: ClaimId,
    /// The execution that got it.
    pub first_execution_id: Option<String>,
    /// When it was given.
    pub first_at: UtcMs,
    /// When this attempt was made.
    pub attempted_at: UtcMs,
    /// What is left of the claim's lease; 0 once it is over.
    pub lease_ms: i64,
    /// How long the claim suppresses others once done.
    pub window_ms: i64,
    /// What it came to, as of this attempt.
    pub outcome: Standing,
}

/// Answers a claim. The second value is the state to keep, where it changed.
///
/// The *same call* is told by the current claim's call id. It is given its claim again while that one is open and leased,
/// so that a lost `proceed` does not lose the work; the lease does not start anew, for whoever got the first answer may
/// be acting too. Once the claim is done it is suppressed, even after the window: a later *call* may ask for the
/// work again, a repeated one is the old request, which has been served. Once it is unknown it is told so. After a
/// definite failure there is nothing to repeat, the old claim being closed, so it gets a new one like anybody else.
pub fn decide(state: Option<&ClaimState>, ask: &Ask) -> (Decision, Option<ClaimState>) {
    let Some(kept) = state else { return proceed(None, ask) };
    let state = kept.settled(ask.now);
    let seen = state.seen(ask.now);
    // Before all else and whatever the standing: what is asked for is not what this key stands for.
    if state.content.zip(ask.content).is_some_and(|(ours, theirs)| ours != theirs) {
        return (Decision::Conflict(seen), None);
    }
    let same_call = state.call_id.is_some() && state.call_id == ask.call_id;
    match &state.standing {
        Standing::InProgress if same_call => (state.handed_out(ask.now), None),
        Standing::InProgress => (Decision::InProgress(seen), None),
        Standing::Unknown { .. } => (Decision::Unknown(seen), (state != *kept).then_some(state)),
        // Only a completion starts the window, so that it can never end an open claim.
        Standing::Done { completed_at, .. } if !same_call && ask.now.since(*completed_at) >= state.window_ms => proceed(Some(&state), ask),
        Standing::Done { .. } => (Decision::Suppressed(seen), None),
        Standing::Failed { .. } => proceed(Some(&state), ask),
    }
}

/// A new claim, in place of one that is done and past its window, or definitely failed.
fn proceed(before: Option<&ClaimState>, ask: &Ask) -> (Decision, Option<ClaimState>) {
    let state = ClaimState {
        claim: ask.claim.clone(),
        first_execution_id: ask.execution_id.clone(),
        call_id: ask.call_id.clone(),
        // A claim that names no content must not make the key forget what it stands for.
        content: ask.content.or(before.and_then(|state| state.content)),
        first_at: ask.now,
        lease_until: ask.now.plus(ask.lease_ms.unwrap_or(LEASE_DEFAULT_MS)),
        window_ms: ask.window_ms.unwrap_or(WINDOW_DEFAULT_MS),
        standing: Standing::InProgress,
        previous: before.and_then(ClaimState::previous_for_the_next),
    };
    (state.handed_out(ask.now), Some(state))
}

/// What somebody has to say about a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// Its claimant carried it out.
    Complete {
        /// The claim.
        claim: ClaimId,
        /// The record that was made.
        external_id: Option<String>,
    },
    /// Its claimant failed.
    Fail {
        /// The claim.
        claim: ClaimId,
        /// Whether it is certain that nothing was done.
        definite: bool,
        /// Its words.
        reason: String,
    },
    /// A person, or the claimant, looked in the target.
    Looked {
        /// The claim.
        claim: ClaimId,
        /// The record that is there.
        found: Option<String>,
    },
}

/// Why a report changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportRefused {
    /// The claim is not the current one. If it reports a completion, the work may have been done twice: raise it.
    #[error("the report names claim {named}; the current claim is {current}")]
    OtherClaim {
        /// What the report names.
        named: ClaimId,
        /// What stands.
        current: ClaimId,
    },
    /// Two completions name different records: one too many may be in the target.
    #[error("the claim was completed with {first}; the report says {reported}")]
    OtherRecord {
        /// The record that stays.
        first: String,
        /// The record this report names.
        reported: String,
    },
    /// A failure of what is done.
    #[error("the claim is done")]
    Done,
    /// Doubt about what definitely failed.
    #[error("the claim has definitely failed")]
    Failed,
    /// A look at what nobody doubts.
    #[error("only an unknown claim is ended by a look in the target")]
    NotUnknown,
    /// *Not there* while somebody may still act under the claim.
    #[error("absence counts only once the lease is over, at {}", until.rfc3339())]
    StillLeased {
        /// When it is.
        until: UtcMs,
    },
}

/// Takes a report. It must name the current claim: one that comes late must not close its successor.
pub fn report(state: &ClaimState, report: Report, now: UtcMs) -> Result<ClaimState, ReportRefused> {
    let state = state.settled(now);
    let (Report::Complete { claim, .. } | Report::Fail { claim, .. } | Report::Looked { claim, .. }) = &report;
    if *claim != state.claim {
        return Err(ReportRefused::OtherClaim { named: claim.clone(), current: state.claim });
    }
    let standing = match report {
        Report::Complete { external_id, .. } => completed(&state.standing, external_id, now)?,
        Report::Fail { definite: true, reason, .. } => failed(&state.standing, reason, now)?,
        Report::Fail { definite: false, reason, .. } => doubted(&state.standing, reason, now)?,
        Report::Looked { found, .. } => looked(&state, found, now)?,
    };
    Ok(ClaimState { standing, ..state })
}

/// A completion counts whenever it comes: late, when unknown, and also after a definite failure, as long as no successor
/// has the key. The model lets it count only while in progress or unknown, and holds with this too (tried on it, same
/// states): a completion tells of a record that is there, a failure of one that was not. Reports overtake each other
/// (an error branch says *failed* because its *complete* got no answer), and a person may have looked too early;
/// believing the failure then would free the key for a second record.
fn completed(standing: &Standing, reported: Option<String>, now: UtcMs) -> Result<Standing, ReportRefused> {
    match standing {
        Standing::InProgress | Standing::Unknown { .. } | Standing::Failed { .. } => {
            Ok(Standing::Done { completed_at: now, external_id: reported })
        }
        Standing::Done { completed_at, external_id } => match (external_id, reported) {
            (Some(first), Some(reported)) if *first != reported => Err(ReportRefused::OtherRecord { first: first.clone(), reported }),
            // The window goes on counting from the first completion; an id not named then is news and no contradiction.
            (first, reported) => Ok(Standing::Done { completed_at: *completed_at, external_id: first.clone().or(reported) }),
        },
    }
}

/// The claimant's own word ends doubt too, late as it may be. The first reason stays.
fn failed(standing: &Standing, reason: String, now: UtcMs) -> Result<Standing, ReportRefused> {
    match standing {
        Standing::InProgress | Standing::Unknown { .. } => Ok(Standing::Failed { failed_at: now, reason: NotDone::Reported(reason) }),
        Standing::Failed { .. } => Ok(standing.clone()),
        Standing::Done { .. } => Err(ReportRefused::Done),
    }
}

/// Doubt never undoes what is settled: its copy may arrive after somebody has looked. Words explain more than a lease's end.
fn doubted(standing: &Standing, reason: String, now: UtcMs) -> Result<Standing, ReportRefused> {
    match standing {
        Standing::InProgress => Ok(Standing::Unknown { since: now, why: Doubt::Reported(reason) }),
        Standing::Unknown { since, why: Doubt::LeaseEnded } => Ok(Standing::Unknown { since: *since, why: Doubt::Reported(reason) }),
        Standing::Unknown { why: Doubt::Reported(_), .. } => Ok(standing.clone()),
        Standing::Done { .. } => Err(ReportRefused::Done),
        Standing::Failed { .. } => Err(ReportRefused::Failed),
    }
}

/// *Found* is adopted at once. *Absent* frees the key, so it waits for the lease's end: a repeated call may have given
/// the claim to two processes, and one of them failing says nothing of the other, which may act until then.
fn looked(state: &ClaimState, found: Option<String>, now: UtcMs) -> Result<Standing, ReportRefused> {
    match (&state.standing, found) {
        (Standing::Unknown { .. }, Some(id)) => Ok(Standing::Done { completed_at: now, external_id: Some(id) }),
        (Standing::Unknown { .. }, None) if now < state.lease_until => Err(ReportRefused::StillLeased { until: state.lease_until }),
        (Standing::Unknown { .. }, None) => Ok(Standing::Failed { failed_at: now, reason: NotDone::LookedAbsent }),
        (Standing::InProgress | Standing::Done { .. } | Standing::Failed { .. }, _) => Err(ReportRefused::NotUnknown),
    }
}

impl ClaimState {
    /// The state as of `now`: a claim still open when its lease ends is unknown from that instant. What a sweep keeps, so
    /// that the claim stands in review before anybody asks.
    #[must_use]
    pub fn settled(&self, now: UtcMs) -> Self {
        let mut state = self.clone();
        if state.standing == Standing::InProgress && now >= state.lease_until {
            state.standing = Standing::Unknown { since: state.lease_until, why: Doubt::LeaseEnded };
        }
        state
    }

    fn handed_out(&self, now: UtcMs) -> Decision {
        Decision::Proceed {
            claim: self.claim.clone(),
            lease_ms: self.lease_until.since(now),
            window_ms: self.window_ms,
            previous: self.previous.clone(),
        }
    }

    fn seen(&self, now: UtcMs) -> Seen {
        Seen {
            claim: self.claim.clone(),
            first_execution_id: self.first_execution_id.clone(),
            first_at: self.first_at,
            attempted_at: now,
            lease_ms: self.lease_until.since(now).max(0),
            window_ms: self.window_ms,
            outcome: self.standing.clone(),
        }
    }

    /// A completed claim is what its successor names. A failed one left nothing behind, and hands on what it named itself.
    fn previous_for_the_next(&self) -> Option<Previous> {
        match &self.standing {
            Standing::Done { .. } => Some(Previous { claim: self.claim.clone(), outcome: self.standing.clone() }),
            Standing::Failed { .. } | Standing::InProgress | Standing::Unknown { .. } => self.previous.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
