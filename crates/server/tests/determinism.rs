//! The engine is deterministic when asked: one thread, a seeded chance, a clock moved by hand. Same seed, same journal head.

mod world;

use serde_json::json;
use world::{HOUR, World};

async fn head(seed: u64) -> Vec<String> {
    let world = World::seeded("", seed).await;
    for n in 0..12 {
        let body = json!({"submission_id": format!("s{}", n % 9), "email": format!("p{}@example.com", n % 4), "message": format!("Enquiry number {}", n % 9)});
        world.post("web", &body.to_string()).await;
        world.work_for(n * 1_000).await;
    }
    let world = world.restart().await;
    world.work_for(HOUR).await;
    world.verify().await.heads.iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "current_thread")]
async fn the_same_seed_gives_the_same_journal_head() {
    let first = head(7).await;
    assert_eq!(first.len(), 2, "two process starts, two streams");
    assert_eq!(first, head(7).await);
    assert_ne!(first, head(8).await);
}
