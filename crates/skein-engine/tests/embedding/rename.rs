//! A new name of somebody who said very much: it is filed page by page, nobody waits for it, and a process that dies leaves it to
//! the next.

use skein_core::NodeId;
use skein_core::memory::episode::episode_of;
use skein_engine::memory::{Embedding, EpisodeStatus};

use crate::conversations::Model;
use crate::engine_fixture::{EngineFixture, FixtureStore};

/// More than one page.
const SAID: usize = 600;

async fn talked(world: &EngineFixture) -> (Model, Option<NodeId>, skein_core::ConversationId) {
    let (model, id) = (world.model("Magnolia").await, world.conversation("Long").await);
    let mut last = Some(world.say(id, None, "Tell me everything.", None).await);
    for number in 0..SAID {
        last = Some(world.say(id, last, &format!("Thing {number} of many."), Some(&model)).await);
    }
    world.engine.remember_all().await.unwrap();
    (model, last, id)
}

async fn named(world: &EngineFixture, name: &str) -> usize {
    world.recall(name).await.page.rows.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_said_very_much_is_renamed_page_by_page_also_after_a_death() {
    let place = FixtureStore::sqlite();
    let world = place.open(Embedding::BuiltIn).await;
    let (mut model, last, id) = talked(&world).await;
    world.rename(&mut model, "Hyacinth").await;
    assert!(world.engine.remember_next().await.unwrap().unwrap().is_more);
    assert!(world.index().await.is_retelling, "it was only noted");
    let heron = world.say(id, last, "A heron came by.", None).await;
    assert!(world.engine.remember_next().await.unwrap().unwrap().is_more);
    assert!(world.index().await.is_retelling, "a page is not all");
    let heron = world.engine.episode(&world.caller, episode_of(heron)).await.unwrap();
    assert_eq!(heron.status, EpisodeStatus::Indexed, "nobody waits for it");
    drop(world);

    let world = place.open(Embedding::BuiltIn).await;
    let begun = world.engine.remember_next().await.unwrap().unwrap();
    assert!(begun.is_more && world.index().await.is_retelling, "it goes on where it was left");
    world.engine.remember_all().await.unwrap();
    assert!(!world.index().await.is_retelling);
    assert_eq!(named(&world, "Magnolia").await, 0);
    assert!(named(&world, "Hyacinth").await > 0);
}
