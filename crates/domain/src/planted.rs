//! Mistakes that can be planted in the protocol, one at a time, to show that the simulator (`crates/sim`) would find them.
//!
//! Test only: without the feature `planted` none of them is there, and [`is`] is a constant. Each stands in one place of the
//! code, as the slip that it would be.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "each has its sentence in `ALL`")]
pub enum Bug {
    LookSkipped,
    ResetNotSent,
    CrashNotSent,
    WaitForgetsSettle,
    WaitForgetsPause,
    WaitForgetsLag,
    WaitNotRearmed,
    DeathForgetsSettle,
    PauseTakenForDeath,
    OneLookOnLag,
    LookBeforeTheWait,
    FailedLookIsAbsence,
    FoundIsNotAdopted,
    TwoFoundFirstTaken,
    ConflictIsRefusal,
    RefusedThoughOpen,
    AttemptsForgotten,
    AttemptsUnbounded,
    WindowUnchecked,
    NotThereWithoutWait,
    NotThereWithoutLook,
    DoneBeforeTheAnswer,
    DifferenceOverlooked,
    IntendedHasNoDue,
    BlindHasNoDue,
    ReleaseIgnoresOthers,
    DependentDoesNotWait,
    KeyOfTheRetry,
    ContentNotCompared,
    EarlierRulesForgotten,
    LookAlikeSuppressed,
    LookAlikeNotHeld,
    ConflictNotHeld,
    AckBeforeCommit,
    FenceDropped,
    FenceNotRaised,
    VersionDropped,
    ContactLockDropped,
    DeadlineForgotten,
    RenderedAnew,
    SentBeforeIntent,
    ModelStopsRecord,
    DoubtDoesNotHold,
    LateAnswerTakesLease,
    ClosedContactKeepsLock,
    NotThereKeepsPatience,
    PausedByHearsay,
}

impl Bug {
    /// Every mistake, with what it is.
    pub const ALL: [(Self, &'static str); 47] = [
        (Self::LookSkipped, "an unknown outcome is sent again without a look-up"),
        (Self::ResetNotSent, "a reset, a timeout or a 5xx counts as not sent"),
        (Self::CrashNotSent, "an attempt whose worker was lost counts as not sent"),
        (Self::WaitForgetsSettle, "the wait before 'absent' forgets how long a request may take effect"),
        (Self::WaitForgetsPause, "the wait before 'absent' forgets the longest pause"),
        (Self::WaitForgetsLag, "the wait before 'absent' forgets the index's lag"),
        (Self::WaitNotRearmed, "a second attempt does not begin the wait anew"),
        (Self::DeathForgetsSettle, "the wait after a known death forgets how long a request may take effect"),
        (Self::PauseTakenForDeath, "a worker that may only be paused is taken for dead"),
        (Self::OneLookOnLag, "a search index is asked once"),
        (Self::LookBeforeTheWait, "'absent' is believed before the wait is over"),
        (Self::FailedLookIsAbsence, "a look-up that failed is read as 'absent'"),
        (Self::FoundIsNotAdopted, "a record that is found is not adopted"),
        (Self::TwoFoundFirstTaken, "of two records found the first is taken, and nobody is told"),
        (Self::ConflictIsRefusal, "'exists already' is taken for a refusal"),
        (Self::RefusedThoughOpen, "an effect is refused although an earlier attempt is open"),
        (Self::AttemptsForgotten, "a second intent is made before the first's outcome is known"),
        (Self::AttemptsUnbounded, "attempts are not bounded"),
        (Self::WindowUnchecked, "a keyed write is sent again when the provider no longer knows its key"),
        (Self::NotThereWithoutWait, "'not there' is heard before the wait is over"),
        (Self::NotThereWithoutLook, "'not there' leads to a write, not to a look-up"),
        (Self::DoneBeforeTheAnswer, "an effect is done before its target has answered"),
        (Self::DifferenceOverlooked, "a record that was read back and differs is verified"),
        (Self::IntendedHasNoDue, "an intent that nobody answers for has no due time"),
        (Self::BlindHasNoDue, "a failed look-up leaves no due time"),
        (Self::ReleaseIgnoresOthers, "clearing one hold clears the others"),
        (Self::DependentDoesNotWait, "an action does not wait for those it comes after"),
        (Self::KeyOfTheRetry, "the outgoing key is made anew for each try"),
        (Self::ContentNotCompared, "other content under a known key is suppressed"),
        (Self::EarlierRulesForgotten, "a delivery is not looked up under earlier versions of its rule"),
        (Self::LookAlikeSuppressed, "a look-alike is suppressed as a redelivery"),
        (Self::LookAlikeNotHeld, "a look-alike is not held"),
        (Self::ConflictNotHeld, "other content under a known key is worked on before a person decides"),
        (Self::AckBeforeCommit, "a delivery is acknowledged that is not in the book"),
        (Self::FenceDropped, "the store takes a commit under a fence that is gone"),
        (Self::FenceNotRaised, "a lease is taken over without a higher fence"),
        (Self::VersionDropped, "the store takes a commit that was decided on an old version"),
        (Self::ContactLockDropped, "an open contact step gives its lock back"),
        (Self::DeadlineForgotten, "the deadline is not looked at before the send"),
        (Self::RenderedAnew, "a retry renders what it sends anew"),
        (Self::SentBeforeIntent, "a request leaves before its intent is durable"),
        (Self::ModelStopsRecord, "a failed qualification stops the record"),
        (Self::DoubtDoesNotHold, "a doubtful qualification does not hold a message"),
        // These four stood in the code until the simulator found them.
        (Self::LateAnswerTakesLease, "a late answer takes the lease from the worker that is at the effect"),
        (Self::ClosedContactKeepsLock, "a contact step that was closed keeps its lock for good"),
        (Self::NotThereKeepsPatience, "'not there' about what was never sent gives it up again at once"),
        (Self::PausedByHearsay, "a process goes on believing that a target is paused, whatever the book says"),
    ];
}

#[cfg(feature = "planted")]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Bug>> = const { std::cell::Cell::new(None) };
}

/// Plants one mistake in what this thread runs from now on, or none.
#[cfg(feature = "planted")]
pub fn plant(bug: Option<Bug>) {
    PLANTED.set(bug);
}

/// Whether this mistake is planted.
#[cfg(feature = "planted")]
pub fn is(bug: Bug) -> bool {
    PLANTED.get() == Some(bug)
}

/// No mistake is planted.
#[cfg(not(feature = "planted"))]
pub const fn is(_: Bug) -> bool {
    false
}
