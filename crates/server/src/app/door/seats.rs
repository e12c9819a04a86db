//! Seats: which connections are open, since when each says nothing, and which one makes room for another when all are taken.
//!
//! A connection that is in the middle of a request keeps its seat. One that idles keeps it as long as nobody needs it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use domain::time::{Clock, UtcMs};
use tokio_util::sync::CancellationToken;

/// Who has only just come, or has only just been answered, is about to say something.
const IDLE_MIN_MS: i64 = 1_000;

/// A connection that is at a request.
const AT_WORK: i64 = i64::MAX;

/// All the seats there are.
pub(super) struct Seats {
    max: usize,
    clock: Arc<dyn Clock>,
    taken: Mutex<Taken>,
}

#[derive(Default)]
struct Taken {
    next: u64,
    by: BTreeMap<u64, Place>,
}

struct Place {
    idle_since: Arc<AtomicI64>,
    leave: CancellationToken,
}

/// A connection's seat; free again when this is dropped.
pub(super) struct Seat {
    seats: Arc<Seats>,
    number: u64,
    idle_since: Arc<AtomicI64>,
    /// Told when another one needs the seat.
    pub(super) leave: CancellationToken,
}

impl Seats {
    pub(super) fn new(max: usize, clock: Arc<dyn Clock>) -> Arc<Self> {
        Arc::new(Self { max, clock, taken: Mutex::default() })
    }

    /// A seat for one more; if all are taken, that of the one that has idled longest. `None`: nobody idles.
    pub(super) fn take(self: &Arc<Self>) -> Option<Seat> {
        let now = self.clock.now();
        let mut taken = self.taken();
        if taken.by.len() >= self.max {
            let longest = taken.by.iter().min_by_key(|(_, place)| place.idle_since.load(Ordering::SeqCst))?;
            let (&number, since) = (longest.0, longest.1.idle_since.load(Ordering::SeqCst));
            if since == AT_WORK || now.since(UtcMs(since)) < IDLE_MIN_MS {
                return None;
            }
            taken.by.remove(&number)?.leave.cancel();
        }
        let number = taken.next;
        taken.next += 1;
        let (idle_since, leave) = (Arc::new(AtomicI64::new(now.0)), CancellationToken::new());
        taken.by.insert(number, Place { idle_since: Arc::clone(&idle_since), leave: leave.clone() });
        Some(Seat { seats: Arc::clone(self), number, idle_since, leave })
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// A request has come: until it is answered, the seat is kept.
    pub(super) fn works(&self) {
        self.idle_since.store(AT_WORK, Ordering::SeqCst);
    }

    /// It is answered.
    pub(super) fn idles(&self) {
        self.idle_since.store(self.seats.clock.now().0, Ordering::SeqCst);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.taken().by.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Later;

    use super::*;

    struct At(AtomicI64);

    impl Clock for At {
        fn now(&self) -> UtcMs {
            UtcMs(self.0.load(Ordering::SeqCst))
        }

        fn sleep_until(&self, _: UtcMs) -> Later<'_> {
            Box::pin(std::future::pending())
        }
    }

    #[test]
    fn who_idles_longest_makes_room_and_who_works_stays() {
        let clock = Arc::new(At(AtomicI64::new(0)));
        let seats = Seats::new(3, Arc::<At>::clone(&clock));
        let (works, first, second) = (seats.take().unwrap(), seats.take().unwrap(), seats.take().unwrap());
        works.works();
        assert!(seats.take().is_none(), "they have only just come");
        clock.0.store(IDLE_MIN_MS, Ordering::SeqCst);
        first.idles();
        let third = seats.take().unwrap();
        assert!(second.leave.is_cancelled() && !first.leave.is_cancelled() && !works.leave.is_cancelled());
        drop(second);
        assert!(seats.take().is_none(), "the seat of one who left is another's by now");
        clock.0.store(2 * IDLE_MIN_MS, Ordering::SeqCst);
        drop(seats.take().unwrap());
        assert!(first.leave.is_cancelled() && !third.leave.is_cancelled());
        for seat in [&first, &third] {
            seat.works();
        }
        drop(seats.take().expect("one has left, and its seat was given back"));
    }
}
