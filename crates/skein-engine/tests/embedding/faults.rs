//! Bad days of an endpoint: nothing is lost, nothing is there twice, words answer meanwhile, and it is seen and tried again.

use skein_engine::memory::{EmbedStep, SemanticSearch};

use crate::engine_fixture::{EngineFixture, FixtureStore, Mood, Server, both};

const HERON: &str = "The heron stands in the reeds.";

/// Something was embedded before the endpoint's bad day begins.
async fn begun(place: &FixtureStore, server: &Server) -> EngineFixture {
    let world = place.open(server.embedding("m")).await;
    world.bring("A sonata was played.").await;
    assert_eq!(world.settle().await, EmbedStep::Nothing);
    world
}

/// A bad day: what is said then is found by its words; when it is over, by its meaning.
async fn survives(mood: Mood) {
    let (place, server) = (FixtureStore::sqlite(), Server::unreliable());
    let world = begun(&place, &server).await.followed();
    server.feel(mood.clone());
    world.bring(HERON).await;
    let state = world.until("the failure is seen", |state| state.failure.is_some()).await;
    let failure = state.failure.unwrap();
    assert!(failure.failures >= 1 && !failure.said.is_empty(), "{failure:?}");
    assert!(!failure.said.contains("heron") && !failure.said.contains("sky"), "nobody's words are told: {failure:?}");
    let recalled = world.recall("heron").await;
    assert_eq!(recalled.page.rows.iter().map(|found| found.snippet.text.as_str()).collect::<Vec<_>>(), [HERON]);
    assert_eq!(recalled.searched.meaning, SemanticSearch::EmbedderFailed);
    server.feel(Mood::Good);
    let state = world.until("everything has its vector", |state| state.with_vector == 2).await;
    assert_eq!((state.episodes, state.failure.clone()), (2, None), "{mood:?}: {state:?}");
    assert_eq!(world.found("waterfowl").await, [HERON], "{mood:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_wrong_dimensions_are_refused_and_tried_again() {
    survives(Mood::WrongDimensions).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_what_is_no_number_is_refused_and_tried_again() {
    survives(Mood::NotANumber).await;
    survives(Mood::Zero).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_nothing_at_all_is_tried_again() {
    survives(Mood::Nothing).await;
    survives(Mood::Garbled).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_errors_are_tried_again() {
    survives(Mood::Fails(500)).await;
    survives(Mood::Fails(401)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_refusals_of_everything_are_tried_again() {
    survives(Mood::Fails(400)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_one_that_hangs_is_left_and_tried_again() {
    survives(Mood::Hangs).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_fewer_vectors_than_texts_are_none() {
    let (place, server) = (FixtureStore::sqlite(), Server::start());
    let world = begun(&place, &server).await;
    server.feel(Mood::Fewer);
    world.bring(HERON).await;
    world.bring("The bittern is shy.").await;
    assert!(matches!(world.settle().await, EmbedStep::Later(_)));
    assert_eq!(world.index().await.with_vector, 1, "none is given to the wrong text");
}

both! {
    async fn fault_one_bad_text_keeps_no_other_from_its_vector(place: FixtureStore) {
        let server = Server::start();
        let world = begun(&place, &server).await;
        for mood in [Mood::Dislikes("cursed"), Mood::BreaksAt("cursed"), Mood::Omits("cursed")] {
            server.feel(mood.clone());
            let bad = format!("A cursed text, for {mood:?}.");
            world.bring(HERON).await;
            world.bring(&bad).await;
            world.bring("The tax office wrote again.").await;
            assert_eq!(world.settle().await, EmbedStep::Nothing, "{mood:?}");
            let state = world.index().await;
            assert_eq!((state.episodes - state.with_vector, state.failure), (1, None), "{mood:?}");
            assert!(world.found("cursed text").await.contains(&bad), "its words find it");
            server.feel(Mood::Good);
            let settled = world.settle().await;
            assert_eq!((settled, world.index().await.with_vector), (EmbedStep::Nothing, state.with_vector), "it is left alone for a while");
            // Whoever starts again tries again, and needs nothing else.
            let before = server.count(&bad);
            let elsewhere = place.elsewhere(server.embedding("m")).await;
            elsewhere.settle().await;
            let again = (elsewhere.index().await.with_vector, server.count(&bad) - before);
            assert_eq!(again, (state.episodes, 1), "{mood:?}");
            drop(elsewhere);
            world.engine.forget_index().await.unwrap();
            world.settle().await;
            assert_eq!(world.index().await.with_vector, state.episodes);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_a_question_without_a_vector_is_answered_by_words_in_time() {
    let (place, server) = (FixtureStore::sqlite(), Server::unreliable());
    let world = begun(&place, &server).await;
    world.bring(HERON).await;
    world.settle().await;
    assert_eq!(world.recall("waterfowl").await.searched.meaning, SemanticSearch::Searched);
    server.feel(Mood::Hangs);
    let recalled = world.recall("reeds").await;
    assert_eq!((recalled.searched.meaning, recalled.page.rows.len()), (SemanticSearch::EmbedderFailed, 1));
    let before = server.requests();
    let recalled = world.recall("reeds").await;
    assert_eq!((recalled.searched.meaning, recalled.page.rows.len()), (SemanticSearch::EmbedderFailed, 1));
    assert_eq!(server.requests(), before, "the next one does not wait for it");
}
