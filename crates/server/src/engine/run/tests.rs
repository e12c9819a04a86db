//! Places: who waits behind whom, and what a stop waits for.

use std::collections::BTreeMap;

use domain::time::{Clock, Later, SeededEntropy};
use tokio::task::yield_now;
use tokio_util::task::TaskTracker;

use super::*;
use crate::engine::{Conditions, Parts, hasty};
use crate::qualify::rules::Rules;
use crate::stops::Stops;
use crate::views::fixture::{Book, NOW};

/// A clock that stands; whoever sleeps lets the others go on for a moment.
struct Standing;

impl Clock for Standing {
    fn now(&self) -> UtcMs {
        NOW
    }

    fn sleep_until(&self, _: UtcMs) -> Later<'_> {
        Box::pin(yield_now())
    }
}

/// An engine with one place and nothing to do for an enquiry but to qualify it.
async fn over(book: &Book) -> Arc<Engine> {
    let parts = Parts {
        store: Arc::clone(&book.store),
        clock: Arc::new(Standing),
        entropy: Arc::new(SeededEntropy::new(1)),
        targets: BTreeMap::new(),
        actions: Vec::new(),
        qualifier: Arc::new(Rules),
        conditions: Conditions::compile(Vec::new()).unwrap(),
        settings: hasty(),
        wake: Arc::default(),
        stops: Arc::new(Stops::none()),
    };
    Arc::new(Engine::new(parts).await.unwrap())
}

async fn free_place(engine: &Arc<Engine>) -> Place {
    loop {
        if let Some(place) = engine.place() {
            return place;
        }
        yield_now().await;
    }
}

#[tokio::test]
async fn what_arrives_waits_behind_older_work_and_a_stop_for_a_place_that_was_given_out() {
    let book = Book::open();
    let engine = over(&book).await;
    assert!(engine.place().is_none(), "before anybody works there is no place");
    let stop = CancellationToken::new();
    let running = TaskTracker::new().spawn(Arc::clone(&engine).run(stop.clone()));

    let held = free_place(&engine).await;
    let older = book.deliver("web", "older", "Avery", "a message").await.enquiry.unwrap();
    engine.parts.wake.notify_one();
    while !engine.waits.load(Ordering::SeqCst) {
        yield_now().await;
    }
    assert!(engine.place().is_none(), "older work waits in the book: what arrives waits behind it");
    drop(held);
    let held = free_place(&engine).await;
    let standing = book.store.case(&older).await.unwrap().unwrap().enquiry.standing;
    assert_eq!(standing.as_str(), "settled", "it was done before there was a place again");

    stop.cancel();
    for _ in 0..1_000 {
        yield_now().await;
    }
    assert!(!running.is_finished(), "a stop waits for the place that was given out");
    drop(held);
    running.await.unwrap();
    assert!(engine.place().is_none(), "nothing new is begun");
}
