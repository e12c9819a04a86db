//! A plan: everything that a run is to meet, as values, made from a seed and cut down when a failure is looked for.

pub mod make;

use domain::gate::{Find, Policy};

/// One run's whole input.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where fates come from.
    pub seed: u64,
    /// What stands before anything happens.
    pub setup: Setup,
    /// The deliveries that senders make.
    pub sent: Vec<Sent>,
    /// What happens to processes, targets and the book, at a time.
    pub faults: Vec<(i64, Fault)>,
    /// What happens to single calls, by chance.
    pub fates: Fates,
    /// At which call of the store or of the outside something happens: counted from 0, over the whole run.
    pub at_calls: Vec<(u64, AtCall)>,
}

/// What stands before anything happens.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Processes that share the book. With one, a process that starts knows that the one before is dead.
    pub nodes: usize,
    /// Pieces of work at a time, a process.
    pub workers: usize,
    /// Targets, each with one action; the last one's action sends a message.
    pub targets: Vec<TargetSetup>,
    /// The longest a process stalls between its deadline check and the send, in ms.
    pub pause_max_ms: i64,
    /// Attempts before a person is asked.
    pub attempts_max: u32,
    /// Look-alikes wait for a person.
    pub hold_look_alikes: bool,
    /// Two clients share the book.
    pub clients: usize,
}

/// One target and its action.
#[derive(Clone, Debug)]
pub struct TargetSetup {
    /// How it is found by key.
    pub find: Find,
    /// It has contacts beside records, and ties between them.
    pub contacts: bool,
    /// Its records can be read back.
    pub reads: bool,
    /// The longest a sent request takes effect, in ms.
    pub settle_ms: i64,
    /// How long an answer is awaited, in ms.
    pub timeout_ms: i64,
    /// What its action says where it cannot be asked.
    pub policy: Policy,
    /// Its action sends a message to a person, after all the others.
    pub outward: bool,
}

/// One delivery that a sender makes, again and again until it is answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When first, in ms from the beginning.
    pub at: i64,
    /// Which source, by its place in `intake::SOURCES`.
    pub source: usize,
    /// Which original event.
    pub event: u32,
    /// Whose.
    pub contact: u32,
    /// Which content comes under the event's identity; 0 is the first.
    pub content: u8,
    /// The event whose message it repeats.
    pub repeats: Option<u32>,
    /// The body breaks off.
    pub broken: bool,
}

/// What happens at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A process dies; another one starts in its place.
    Crash {
        /// Which.
        node: usize,
        /// Until the next one starts, in ms.
        down_ms: i64,
    },
    /// A process stands still.
    Pause {
        /// Which.
        node: usize,
        /// For how long, in ms.
        ms: i64,
    },
    /// A target answers nobody.
    Outage {
        /// Which.
        target: usize,
        /// For how long, in ms.
        ms: i64,
    },
    /// A target refuses our credentials.
    Closed {
        /// Which.
        target: usize,
        /// For how long, in ms.
        ms: i64,
    },
    /// Nothing can be written to the book.
    DiskFull {
        /// For how long, in ms.
        ms: i64,
    },
    /// The clock is set back.
    ClockBack {
        /// By how much, in ms.
        ms: i64,
    },
    /// A source's identity rule is changed: every process is stopped and started with the new one.
    RuleChange,
    /// The words that targets render change: a configuration was mended.
    Reworded,
    /// A person replays an enquiry.
    Replay {
        /// Which, by a number.
        which: u64,
    },
    /// A person pauses a target, and lets it go on.
    PausedByPerson {
        /// Which.
        target: usize,
        /// For how long, in ms.
        ms: i64,
    },
    /// A person works on the review queue.
    Review,
    /// Somebody copies a record in the target, key and all.
    Twin {
        /// Which target.
        target: usize,
    },
}

/// What happens at one counted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtCall {
    /// Its process dies before the call is made.
    CrashBefore,
    /// Its process dies after the call took effect and before it hears of it.
    CrashAfter,
    /// The call takes effect, and its process is told that nobody knows: it is made again.
    Repeat,
}

/// How often what happens to single calls, in a thousand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fates {
    /// A call of the store takes its time.
    pub store_slow: u64,
    /// A write of the book fails, and did not happen.
    pub store_fails: u64,
    /// A write of the book fails, and did happen.
    pub store_lies: u64,
    /// A process dies at a call of the store or of the outside.
    pub crash: u64,
    /// A write to a target does not get its plain answer.
    pub write: u64,
    /// A look-up fails, or proves nothing.
    pub look: u64,
    /// A read-back fails, or finds nothing yet.
    pub read: u64,
    /// A record is another one than was written.
    pub edited: u64,
    /// Somebody copies a record as it comes to stand, key and all.
    pub twin: u64,
    /// The model fails, or answers garbage.
    pub model: u64,
    /// A sender hangs up before it is answered.
    pub hang_up: u64,
}

impl Fates {
    /// Nothing happens to any call.
    pub const NONE: Self = Self {
        store_slow: 0,
        store_fails: 0,
        store_lies: 0,
        crash: 0,
        write: 0,
        look: 0,
        read: 0,
        edited: 0,
        twin: 0,
        model: 0,
        hang_up: 0,
    };

    /// Each kind by its name, for cutting them down one by one.
    pub fn kinds(&mut self) -> [(&'static str, &mut u64); 11] {
        [
            ("slow store", &mut self.store_slow),
            ("failing store", &mut self.store_fails),
            ("store whose failures happened", &mut self.store_lies),
            ("crashes at calls", &mut self.crash),
            ("writes without their plain answer", &mut self.write),
            ("failing look-ups", &mut self.look),
            ("failing read-backs", &mut self.read),
            ("edited records", &mut self.edited),
            ("copied records", &mut self.twin),
            ("failing model", &mut self.model),
            ("senders that hang up", &mut self.hang_up),
        ]
    }
}

impl Fault {
    /// The process that it happens to.
    pub fn node(&self) -> Option<usize> {
        match self {
            Self::Crash { node, .. } | Self::Pause { node, .. } => Some(*node),
            Self::Outage { .. }
            | Self::Closed { .. }
            | Self::DiskFull { .. }
            | Self::ClockBack { .. }
            | Self::RuleChange
            | Self::Reworded
            | Self::Replay { .. }
            | Self::PausedByPerson { .. }
            | Self::Review
            | Self::Twin { .. } => None,
        }
    }
}
