//! Rates, waits that a target asks for, and its outages: each is a state of the target, and no effect pays for it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod world;

use std::sync::Arc;

use domain::gate::Phase;
use domain::time::Clock;
use serde_json::json;
use world::crm::{Act, Crm, Filter, config};
use world::{DAY, HOUR, HandClock, MINUTE, World};

fn lead(n: usize) -> String {
    json!({"submission_id": format!("s{n}"), "email": format!("p{n}@example.com"), "message": format!("Please send a quote for {n} chairs")}).to_string()
}

fn key(n: usize) -> String {
    format!("web:submission:s{n}")
}

fn clock(world: &World) -> Arc<dyn Clock> {
    Arc::<HandClock>::clone(&world.clock)
}

/// The engine's entries about the target, in order.
async fn told(world: &World) -> Vec<String> {
    let entries = world.app.store.journal_after(None, 100_000).await.unwrap();
    entries.into_iter().map(|entry| entry.kind).filter(|kind| kind.starts_with("target.")).collect()
}

/// 500 leads in a minute, an API that answers four searches and ten other calls a second, with and without a rate of ours.
#[tokio::test]
async fn c066_a_storm_of_429_writes_every_lead_once_in_bounded_time() {
    for (extra, says, bound) in [("rate = \"4/s\"", "", 15 * MINUTE), ("", "retry-after: 1\r\n", 30 * MINUTE), ("", "", 30 * MINUTE)] {
        let crm = Crm::open().await;
        let world = World::with(&config(crm.address, Some("strong"), extra)).await;
        crm.set_quota(clock(&world), [4, 10], says);
        for n in 0..500 {
            world.post("web", &lead(n)).await;
            world.clock.advance(120);
        }
        let began = world.clock.now();
        world.work_for(DAY).await;
        assert_eq!(
            (crm.records().len(), crm.posts()),
            (500, 500),
            "{extra} {says}: a success is never repeated because a neighbour got 429"
        );
        for n in (0..500).step_by(71) {
            assert_eq!(world.states(&key(n)).await, ["deal=verified"], "{extra} {says}");
        }
        let took = world.clock.now().since(began);
        assert!(took < bound, "{extra} {says}: {took} ms");
        assert!(extra.is_empty() || crm.turned_away() == 0, "{extra}: {} were told 429 though the rate was kept", crm.turned_away());
    }
}

/// A wait in seconds, a date, and a word that is neither: nothing more is asked of the target until it is over.
#[tokio::test]
async fn a_wait_that_a_target_asks_for_holds_for_all_its_effects() {
    for (says, wait) in
        [("retry-after: 90\r\n", 90_000), ("retry-after: Mon, 02 Mar 2026 09:20:00 GMT\r\n", 296_000), ("retry-after: soon\r\n", 1_000)]
    {
        let crm = Crm::open().await;
        let world = World::with(&config(crm.address, Some("strong"), "")).await;
        crm.set_quota(clock(&world), [0, 0], says);
        for n in 0..20 {
            world.post("web", &lead(n)).await;
        }
        world.work_for(0).await;
        assert_eq!(crm.turned_away(), 1, "{says}: one was told, and all wait");
        crm.set_quota(clock(&world), [99, 99], "");
        world.work_for(wait - 1).await;
        assert_eq!(crm.posts(), 0, "{says}");
        world.work_for(wait + 2 * MINUTE).await;
        assert_eq!(crm.records().len(), 20, "{says}");
        assert!(told(&world).await.is_empty(), "who says that it is busy is there");
    }
}

/// An hour's outage: nobody's attempts are used up, few calls are made, and what waited goes oldest first.
#[tokio::test]
async fn an_outage_is_one_state_of_the_target_and_uses_up_nothing() {
    let crm = Crm::open().await;
    let world = World::with(&config(crm.address, Some("strong"), "")).await;
    crm.set_filter(Filter::Broken);
    for n in 0..60 {
        world.post("web", &lead(n)).await;
        world.work_for(MINUTE).await;
        world.clock.advance(1_000);
    }
    let asked = crm.gets();
    assert!(asked < 150, "{asked} calls in an hour, of 60 effects");
    for n in 0..60 {
        let dossier = world.dossier(&key(n)).await;
        let step = &dossier.effects[0].0.steps[0];
        assert!(matches!(step.phase, Phase::Planned { .. }) && step.attempts.is_empty(), "{n}: {:?}", step.phase);
    }
    let kinds = told(&world).await;
    assert_eq!((kinds[0].as_str(), kinds.iter().filter(|kind| *kind == "target.away").count()), ("target.away", 1));
    crm.set_filter(Filter::Honoured);
    world.work_for(2 * MINUTE).await;
    assert_eq!(told(&world).await.last().unwrap(), "target.back");
    let order: Vec<String> = crm.records().iter().map(|r| r["external_key"].as_str().unwrap().to_owned()).collect();
    assert_eq!(order, (0..60).map(key).collect::<Vec<_>>(), "oldest first");
}

/// A restart in the middle of an outage tries once, at the time that the book says.
#[tokio::test]
async fn an_outage_outlives_a_restart() {
    let crm = Crm::open().await;
    let world = World::with(&config(crm.address, Some("strong"), "")).await;
    crm.set_filter(Filter::Broken);
    for n in 0..20 {
        world.post("web", &lead(n)).await;
    }
    world.work_for(10 * MINUTE).await;
    let (asked, away) = (crm.gets(), world.app.store.away().await.unwrap());
    let probe_at = away.get("crm").unwrap().probe_at;
    let world = world.restart().await;
    let until_then = probe_at.since(world.clock.now());
    assert!(until_then > 1, "{away:?}");
    world.work_for(until_then - 1).await;
    assert_eq!(crm.gets(), asked, "it is known to be away");
    crm.set_filter(Filter::Honoured);
    world.work_for(HOUR).await;
    assert_eq!((crm.records().len(), world.app.store.away().await.unwrap().len()), (20, 0));
}

/// Answers that are lost after the write are an outage as well: the one that tries is looked up, never sent again.
#[tokio::test]
async fn a_target_that_swallows_answers_gets_one_try_at_a_time() {
    let crm = Crm::open().await;
    let world = World::with(&config(crm.address, Some("strong"), "")).await;
    crm.script(vec![], Act::Drop);
    for n in 0..40 {
        world.post("web", &lead(n)).await;
    }
    world.work_for(DAY).await;
    assert_eq!((crm.records().len(), crm.posts()), (40, 40));
    for n in 0..40 {
        assert_eq!(world.states(&key(n)).await, ["deal=verified"]);
    }
}

/// The door, the workers and a bound: never more at the target than it says.
#[tokio::test(flavor = "multi_thread")]
async fn a_targets_concurrency_holds_with_many_workers() {
    use world::process::Process;
    let crm = Crm::open().await;
    crm.script(vec![], Act::Wait);
    let process = Process::start(&config(crm.address, Some("strong"), "concurrency = 2\ntimeout = \"60s\""), None).await;
    for n in 0..6 {
        process.post("web", &lead(n)).await;
    }
    for round in 0..6 {
        crm.reached.acquire().await.unwrap().forget();
        assert!(crm.posts() <= round + 2, "{} at once", crm.posts() - round);
        crm.release.add_permits(1);
    }
    for n in 0..6 {
        process.settled(&key(n)).await;
    }
    assert_eq!(crm.records().len(), 6);
}
