//! Room: what is held, who waits, who is next.

use std::sync::atomic::{AtomicI64, Ordering};

use domain::time::{Later, UtcMs};
use tokio_util::task::TaskTracker;

use super::*;

/// A clock that stands until it is told to let everybody's patience end.
#[derive(Default)]
struct Patience {
    ended: AtomicI64,
    told: tokio::sync::Notify,
}

impl Patience {
    fn ends(&self) {
        self.ended.store(1, Ordering::SeqCst);
        self.told.notify_waiters();
    }
}

impl Clock for Patience {
    fn now(&self) -> UtcMs {
        UtcMs(0)
    }

    fn sleep_until(&self, at: UtcMs) -> Later<'_> {
        assert_eq!(at, UtcMs(WAIT_MAX_MS));
        Box::pin(async move {
            while self.ended.load(Ordering::SeqCst) == 0 {
                self.told.notified().await;
            }
        })
    }
}

/// Free pieces, and lines.
fn seen(room: &Room) -> (usize, usize) {
    let state = room.state();
    (state.free, state.lines.len())
}

/// Told when patience is to end, and the clock that everybody waits by.
fn patience() -> (Arc<Patience>, Arc<dyn Clock>) {
    let patience = Arc::new(Patience::default());
    (Arc::clone(&patience), patience)
}

async fn settled() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn what_is_held_is_bounded_and_given_back() {
    let (room, clock) = (Room::of(10 * PIECE), patience().1);
    let mut one = Taking::new(&room, "web", &clock);
    assert!(one.has(1).await && one.has(PIECE).await);
    assert_eq!((one.held.len(), room.state().free), (1, 9), "a piece holds a small body");
    assert!(one.has(3 * PIECE + 1).await);
    assert_eq!((one.held.len(), room.state().free), (2, 6), "it takes what has come beside that");
    drop(one);
    let mut all = Taking::new(&room, "web", &clock);
    assert!(all.has(99 * PIECE).await);
    assert_eq!(room.state().free, 0, "more than there is at all is all there is");
    drop(all);
    assert_eq!(seen(&room), (10, 0));
}

#[tokio::test]
async fn who_waits_too_long_or_finds_the_line_full_is_told_so() {
    let (room, (patience, clock)) = (Room::of(PIECE), patience());
    let mut held = Taking::new(&room, "web", &clock);
    assert!(held.has(1).await);
    let waiting: Vec<_> = (0..LINE_MAX)
        .map(|_| {
            let (room, clock) = (Arc::clone(&room), Arc::clone(&clock));
            TaskTracker::new().spawn(async move { Taking::new(&room, "web", &clock).has(1).await })
        })
        .collect();
    settled().await;
    assert!(!Taking::new(&room, "web", &clock).has(1).await, "the line is full");
    patience.ends();
    for waited in waiting {
        assert!(!waited.await.unwrap());
    }
    drop(held);
    assert!(Taking::new(&room, "web", &clock).has(1).await);
    assert_eq!(seen(&room), (1, 0), "nobody who gave up holds anything");
}

#[tokio::test]
async fn a_flooded_source_does_not_push_another_out() {
    let (room, clock) = (Room::of(PIECE), patience().1);
    let mut held = Taking::new(&room, "flooded", &clock);
    assert!(held.has(1).await);
    let order = Arc::new(Mutex::new(Vec::new()));
    let wait = |source: &'static str| {
        let (room, clock, order) = (Arc::clone(&room), Arc::clone(&clock), Arc::clone(&order));
        TaskTracker::new().spawn(async move {
            let mut held = Taking::new(&room, source, &clock);
            assert!(held.has(1).await);
            order.lock().unwrap().push(source);
        })
    };
    let mut waiting = Vec::new();
    for _ in 0..20 {
        waiting.push(wait("flooded"));
    }
    settled().await;
    waiting.push(wait("quiet"));
    settled().await;
    drop(held);
    for waited in waiting {
        waited.await.unwrap();
    }
    let at = order.lock().unwrap().iter().position(|source| *source == "quiet").unwrap();
    assert!(at <= 1, "twenty were there before it, and at most one of them goes first: {at}");
}

/// One source may fill most of the room, and another finds some at once; a body that needs all of it is let in all the same.
#[tokio::test]
async fn no_source_holds_all_the_room() {
    let (room, (patience, clock)) = (Room::of(8 * PIECE), patience());
    let mut flooded = Vec::new();
    for _ in 0..6 {
        let mut held = Taking::new(&room, "flooded", &clock);
        assert!(held.has(1).await);
        flooded.push(held);
    }
    let waiting = {
        let (room, clock) = (Arc::clone(&room), Arc::clone(&clock));
        TaskTracker::new().spawn(async move { Taking::new(&room, "flooded", &clock).has(1).await })
    };
    settled().await;
    assert_eq!(seen(&room), (2, 1), "it waits, though there is room");
    let mut quiet = Taking::new(&room, "quiet", &clock);
    assert!(quiet.has(PIECE + 1).await, "beside the line of the other");
    assert_eq!(room.state().free, 0);
    flooded.pop();
    assert!(waiting.await.unwrap(), "what its own source gives back is its own");
    drop((flooded, quiet));
    assert_eq!(seen(&room), (8, 0));
    assert!(Taking::new(&room, "flooded", &clock).has(99 * PIECE).await);
    assert!(room.state().held.is_empty());
    patience.ends();
}
