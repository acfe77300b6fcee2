//! From one embedder to another: the old vectors serve until the new ones are all there.

use skein_engine::memory::{EmbedStep, Embedding, SemanticSearch};

use skein_engine::memory::Rebuild;

use crate::engine_fixture::{FixtureStore, Mood, Server, both, fresh};

const SYSTEM: skein_core::Viewer = skein_core::Viewer::System("test");
const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
const HERON: &str = "The heron stands in the reeds.";
const TAX: &str = "The tax office wrote again.";

both! {
    async fn the_old_vectors_serve_until_the_new_ones_are_there(place: FixtureStore) {
        let server = Server::start();
        let world = place.open(Embedding::BuiltIn).await;
        let item = world.bring("What is to be forgotten.").await;
        world.bring(HERON).await;
        assert_eq!(world.settle().await, EmbedStep::Nothing);
        drop(world);
        let world = place.open(server.embedding("m")).await;
        server.feel(Mood::Fails(503));
        assert!(matches!(world.settle().await, EmbedStep::Later(_)));
        let state = world.index().await;
        assert!(!state.embedder.starts_with("endpoint") && state.configured.starts_with("endpoint"), "{state:?}");
        assert!(state.failure.is_some());
        world.bring(TAX).await;
        world.engine.redact_item(&world.caller, fresh(&world.caller), item, "asked to".to_owned()).await.unwrap();
        let recalled = world.recall("a bird in the reeds").await;
        assert_eq!(recalled.searched.meaning, SemanticSearch::Searched, "by the table that is built in");
        assert_eq!(recalled.page.rows[0].snippet.text, HERON);
        drop(world);
        server.feel(Mood::Good);
        let world = place.open(server.embedding("m")).await;
        assert_eq!(world.settle().await, EmbedStep::Nothing);
        let state = world.index().await;
        assert_eq!((state.episodes, state.with_vector), (2, 2));
        assert!(state.embedder.starts_with("endpoint m ") && state.switching.is_none(), "{state:?}");
        assert_eq!(world.found("waterfowl").await, [HERON]);
        assert!(!place.dir.path().join("index.next").exists() && !place.dir.path().join("index.old").exists());
    }

    async fn switching_back_and_between_endpoints_loses_nothing(place: FixtureStore) {
        let server = Server::start();
        let world = place.open(server.embedding("first")).await;
        world.bring(HERON).await;
        world.settle().await;
        drop(world);
        let world = place.open(server.embedding("second")).await;
        world.bring(TAX).await;
        world.engine.remember_all().await.unwrap();
        let query = world.recall("reeds").await;
        assert_eq!(query.page.rows.len(), 1);
        world.settle().await;
        assert!(world.index().await.embedder.starts_with("endpoint second "));
        assert_eq!(world.found("finances").await, [TAX]);
        drop(world);
        let asked = server.requests();
        let world = place.open(server.embedding("first")).await;
        world.settle().await;
        assert_eq!(server.count(HERON), 2, "each made one");
        assert!(server.requests() > asked, "the first knew nothing of what came later");
        assert_eq!((world.index().await.episodes, world.index().await.with_vector), (2, 2));
        drop(world);
        let world = place.open(Embedding::BuiltIn).await;
        world.settle().await;
        let state = world.index().await;
        assert_eq!((state.embedder == state.configured, state.with_vector), (true, 2));
        assert_eq!(world.found("heron").await, [HERON]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_old_embedder_words_answer_until_the_new_one_has_caught_up() {
    let (place, server) = (FixtureStore::sqlite(), Server::start());
    let world = place.open(server.embedding("first")).await;
    world.bring(HERON).await;
    world.settle().await;
    drop(world);
    let world = place.open(server.embedding("second")).await.followed();
    server.feel(Mood::Fails(500));
    let state = world.until("the failure is seen", |state| state.failure.is_some()).await;
    assert!(state.embedder.starts_with("endpoint first "), "{state:?}");
    let recalled = world.recall("heron").await;
    assert_eq!((recalled.searched.meaning, recalled.page.rows.len()), (SemanticSearch::EmbedderGone, 1));
    server.feel(Mood::Good);
    world.until("the new one serves", |state| state.embedder.starts_with("endpoint second ")).await;
    assert_eq!(world.found("waterfowl").await, [HERON]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_switch_goes_on_where_it_was_left_and_survives_a_half_done_swap() {
    let (place, server) = (FixtureStore::sqlite(), Server::start());
    let world = place.open(Embedding::BuiltIn).await;
    let said: Vec<String> = (0..700).map(|number| format!("Note {number} of a heron.")).collect();
    for text in &said {
        world.bring(text).await;
    }
    world.settle().await;
    drop(world);
    let world = place.open(server.embedding("m")).await;
    world.engine.remember_all().await.unwrap();
    assert_eq!(world.engine.embed_next().await.unwrap(), Some(EmbedStep::Done));
    let state = world.index().await;
    let switching = state.switching.unwrap();
    assert!(switching.to.starts_with("endpoint m ") && (1..700).contains(&switching.episodes), "{switching:?}");
    drop(world);

    // As a process leaves it that dies between the two renamings.
    let world = place.open(server.embedding("m")).await;
    assert_eq!(world.settle().await, EmbedStep::Nothing);
    for text in &said {
        assert_eq!(server.count(text), 1, "{text}");
    }
    drop(world);
    let [next, old] = ["index.next", "index.old"].map(|name| place.dir.path().join(name));
    std::fs::rename(place.index(), &next).unwrap();
    std::fs::create_dir(&old).unwrap();
    let world = place.open(server.embedding("m")).await;
    let state = world.index().await;
    assert_eq!((state.episodes, state.with_vector), (700, 700));
    assert!(!next.exists() && !old.exists());
}

both! {
    async fn another_model_under_the_same_name_is_told_and_can_be_got_out_of(place: FixtureStore) {
        let server = Server::start();
        let world = place.open(server.embedding("m")).await;
        world.bring(HERON).await;
        assert_eq!(world.settle().await, EmbedStep::Nothing);
        server.feel(Mood::Longer);
        let recalled = world.recall("waterfowl").await;
        assert_eq!(recalled.searched.meaning, SemanticSearch::EmbedderFailed);
        let failure = world.index().await.failure.unwrap();
        assert!(failure.said.contains("vectors of 5 numbers where 4 are wanted"), "{failure:?}");
        assert!(failure.said.contains("another model") && failure.said.contains("skein index rebuild --anew"), "{failure:?}");
        world.bring(TAX).await;
        drop(world);
        let world = place.open(server.embedding("m")).await;
        assert!(matches!(world.settle().await, EmbedStep::Later(_)));
        let failure = world.index().await.failure.unwrap();
        assert!(failure.said.contains("another model"), "{failure:?}");
        assert_eq!(world.found("heron").await, [HERON], "words answer meanwhile");
        drop(world);

        let world = place.open(server.embedding("m")).await;
        let request = fresh(&world.caller);
        let anew = Rebuild { is_anew: true };
        let begun = world.engine.rebuild_index(&world.caller, request, anew).await.unwrap();
        assert!(!begun.is_replay);
        assert_eq!(world.settle().await, EmbedStep::Nothing);
        let state = world.index().await;
        assert_eq!((state.with_vector, state.failure.clone()), (2, None), "{state:?}");
        assert!(state.embedder.starts_with("endpoint m "));
        assert_eq!(world.found("waterfowl").await, [HERON]);
        let asked = server.requests();
        assert!(world.engine.rebuild_index(&world.caller, request, anew).await.unwrap().is_replay);
        assert_eq!((world.index().await.episodes, server.requests()), (2, asked), "a repeat forgets nothing");
    }

    async fn vectors_of_a_former_embedder_are_thrown_away_after_a_day(place: FixtureStore) {
        let (place, server) = (place.stopped(), Server::start());
        let clock = place.clock.clone().unwrap();
        let kept = async |world: &crate::engine_fixture::EngineFixture, embedder: &str| {
            let embedder = embedder.to_owned();
            world.store.read(move |tx| tx.vector_bytes(&SYSTEM, &embedder)).await.unwrap().is_some()
        };
        let world = place.open(server.embedding("first")).await;
        world.bring(HERON).await;
        world.settle().await;
        let first = world.index().await.embedder;
        drop(world);
        clock.advance(DAY_MS / 2);
        let world = place.open(server.embedding("second")).await;
        world.settle().await;
        let second = world.index().await.embedder;
        assert!(second.starts_with("endpoint second "));
        assert_eq!((kept(&world, &first).await, kept(&world, &second).await), (true, true), "one may still go back");
        drop(world);
        clock.advance(DAY_MS - 1);
        let world = place.open(server.embedding("second")).await;
        world.settle().await;
        assert_eq!((kept(&world, &first).await, kept(&world, &second).await), (true, true), "it was used while it served");
        drop(world);
        clock.advance(2);
        let world = place.open(server.embedding("second")).await;
        world.settle().await;
        assert_eq!((kept(&world, &first).await, kept(&world, &second).await), (false, true));
    }
}
