//! Many readers at once: how many are worked on, how much of their answers is held, and what the rest are told.

use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::HttpBody as _;
use domain::time::{Later, UtcMs};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};

use super::*;
use crate::views::fixture::NOW;

/// Nobody's patience ever ends.
struct Patient;

impl Clock for Patient {
    fn now(&self) -> UtcMs {
        NOW
    }

    fn sleep_until(&self, _: UtcMs) -> Later<'_> {
        Box::pin(std::future::pending())
    }
}

/// A desk that counts who reads it, and lets one go on for each permit.
struct Counting {
    reading: AtomicUsize,
    most: AtomicUsize,
    gate: Semaphore,
    /// Bytes in the one record.
    record: usize,
}

impl Counting {
    fn of(record: usize, permits: usize) -> Arc<Self> {
        Arc::new(Self { reading: AtomicUsize::new(0), most: AtomicUsize::new(0), gate: Semaphore::new(permits), record })
    }
}

#[async_trait]
impl DeskBook for Counting {
    async fn deals(&self, _: Option<&str>, _: Option<i64>, _: usize) -> Result<PageView<Value>, String> {
        self.most.fetch_max(self.reading.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        self.gate.acquire().await.map_err(|e| e.to_string())?.forget();
        self.reading.fetch_sub(1, Ordering::SeqCst);
        Ok(PageView { items: vec![json!({"id": "x".repeat(self.record)})], next_cursor: None })
    }

    async fn contacts(&self, _: Option<i64>, _: usize) -> Result<PageView<Value>, String> {
        Err("not asked here".to_owned())
    }
}

const PLACES: usize = 3;
const ROOM: u32 = 200 << 10;
/// Two of them are more than the room.
const LONG: usize = 150 << 10;

async fn app(desk: &Arc<Counting>, clock: Arc<dyn Clock>) -> App {
    let desk: Arc<dyn DeskBook> = Arc::<Counting>::clone(desk);
    App::start_as(Some(desk), Turns::with_room(clock, PLACES, ROOM)).await
}

fn deals() -> Request<Body> {
    Request::get("/api/v1/desk/deals").header("host", "localhost").body(Body::empty()).unwrap()
}

/// Lets everything that can go on do so.
async fn settle() {
    for _ in 0..1_000 {
        yield_now().await;
    }
}

#[tokio::test]
async fn a_few_are_worked_on_at_once_and_all_are_answered() {
    let desk = Counting::of(1, 0);
    let app = app(&desk, Arc::new(Patient)).await;
    let mut jobs = JoinSet::new();
    for _ in 0..50 {
        jobs.spawn(app.router.clone().oneshot(deals()));
    }
    settle().await;
    assert_eq!(desk.reading.load(Ordering::SeqCst), PLACES);
    // Probes are open to all, and wait for nobody.
    assert_eq!(read(app.send(Request::get("/healthz").body(Body::empty()).unwrap()).await).await.0, StatusCode::OK);
    desk.gate.add_permits(50);
    for answer in jobs.join_all().await {
        assert_eq!(answer.unwrap().status(), StatusCode::OK);
    }
    assert_eq!(desk.most.load(Ordering::SeqCst), PLACES);
}

#[tokio::test]
async fn one_that_has_waited_too_long_is_told_to_come_again() {
    let desk = Counting::of(1, 0);
    // Patience ends as soon as one has to wait at all.
    let app = app(&desk, Arc::new(Still)).await;
    let mut jobs = JoinSet::new();
    for _ in 0..PLACES {
        jobs.spawn(app.router.clone().oneshot(deals()));
    }
    settle().await;
    let late = app.send(deals()).await;
    assert_eq!(late.headers()["retry-after"], "2");
    let (status, body) = read(late).await;
    assert_eq!((status, &body["code"]), (StatusCode::SERVICE_UNAVAILABLE, &json!("busy")));
    desk.gate.add_permits(PLACES);
    for answer in jobs.join_all().await {
        assert_eq!(answer.unwrap().status(), StatusCode::OK);
    }
}

/// Callers that go away in the middle do not make place for others beside what is still read for them.
#[tokio::test]
async fn a_caller_that_is_gone_keeps_its_place_until_its_reading_ends() {
    let desk = Counting::of(1, 0);
    let app = app(&desk, Arc::new(Patient)).await;
    for _ in 0..20 {
        let mut job = JoinSet::new();
        job.spawn(app.router.clone().oneshot(deals()));
        settle().await;
        job.shutdown().await;
    }
    assert_eq!(desk.most.load(Ordering::SeqCst), PLACES);
    desk.gate.add_permits(20);
    assert_eq!(app.send(deals()).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn long_answers_share_a_room_until_they_are_taken() {
    let desk = Counting::of(LONG, 9);
    let patient = app(&desk, Arc::new(Patient)).await;
    let first = patient.send(deals()).await;
    assert!(first.body().size_hint().exact().unwrap() > u64::try_from(LONG).unwrap());
    let mut second = JoinSet::new();
    second.spawn(patient.router.clone().oneshot(deals()));
    settle().await;
    assert!(second.try_join_next().is_none(), "it waits for the first to be taken");
    assert_eq!(read(first).await.0, StatusCode::OK);
    let second = second.join_next().await.unwrap().unwrap().unwrap();
    assert_eq!(read(second).await.0, StatusCode::OK);
}

#[tokio::test]
async fn without_room_in_time_one_is_told_to_come_again_and_a_short_answer_needs_none() {
    let desk = Counting::of(LONG, 9);
    let app = app(&desk, Arc::new(Still)).await;
    let first = app.send(deals()).await;
    assert_eq!(read(app.send(deals()).await).await.1["code"], "busy");
    assert_eq!(app.get("/api/v1/targets").await.0, StatusCode::OK);
    drop(first);
    assert_eq!(read(app.send(deals()).await).await.0, StatusCode::OK);
}
