//! The way of a vector: made once, kept, found again, and gone with the words it was made of.

use skein_core::Digest;
use skein_core::memory::episode::EpisodeSource;
use skein_engine::memory::{EmbedStep, Embedding, SemanticSearch};
use skein_testkit::litellm::Litellm;

use crate::engine_fixture::{FixtureStore, Server, both, fresh};

const SYSTEM: skein_core::Viewer = skein_core::Viewer::System("test");
const HERON: &str = "The heron stands in the reeds.";
const TAX: &str = "The tax office wrote again.";

both! {
    async fn what_was_said_is_found_by_what_it_means_to_the_endpoint(place: FixtureStore) {
        let server = Server::start();
        let world = place.open(server.embedding("m")).await;
        for text in [HERON, TAX, "A sonata was played."] {
            world.bring(text).await;
        }
        assert_eq!(world.settle().await, EmbedStep::Nothing);
        let recalled = world.recall("waterfowl").await;
        let best = &recalled.page.rows[0];
        assert_eq!((best.snippet.text.as_str(), recalled.page.rows.len()), (HERON, 1));
        assert!(best.parts.similarity.unwrap() > 0.9 && best.words.is_empty(), "{best:?}");
        assert_eq!(recalled.searched.meaning, SemanticSearch::Searched);
        let state = world.index().await;
        assert_eq!((state.episodes, state.with_vector), (3, 3));
        assert!(state.embedder.starts_with("endpoint m ") && state.embedder == state.configured, "{state:?}");
        assert_eq!((state.failure, state.switching), (None, None));
        assert_eq!(server.count(HERON), 1);
    }

    async fn what_was_embedded_once_is_not_sent_again(place: FixtureStore) {
        let server = Server::start();
        let world = place.open(server.embedding("m")).await;
        for text in [HERON, TAX] {
            world.bring(text).await;
        }
        world.bring_as(EpisodeSource::Message, HERON).await;
        world.settle().await;
        assert_eq!((server.count(HERON), server.count(TAX)), (1, 1), "the same words are sent once");
        world.engine.forget_index().await.unwrap();
        assert_eq!(world.settle().await, EmbedStep::Nothing);
        assert_eq!((world.index().await.episodes, world.index().await.with_vector), (3, 3));
        let asked = server.requests();
        drop(world);
        std::fs::remove_dir_all(place.index()).unwrap();
        let world = place.open(server.embedding("m")).await;
        assert_eq!(world.settle().await, EmbedStep::Nothing);
        assert_eq!((world.index().await.with_vector, server.requests()), (3, asked), "nobody is asked for what is known");
        assert_eq!(world.found("finances").await, [TAX]);
        assert!(world.engine.embedding_counts().known >= 2);
    }

    async fn redacted_words_leave_no_vector(place: FixtureStore) {
        let server = Server::start();
        let world = place.open(server.embedding("m")).await;
        let item = world.bring(HERON).await;
        world.bring(TAX).await;
        world.settle().await;
        let embedder = world.index().await.embedder;
        let kept = async |text: &str| {
            let own = [world.caller.user.as_bytes(), text.as_bytes()].concat();
            let (content, embedder) = (Digest::of(&own), embedder.clone());
            world.store.read(move |tx| tx.vectors(&SYSTEM, &embedder, &[content])).await.unwrap().len()
        };
        assert_eq!((kept(HERON).await, kept(TAX).await), (1, 1));
        world.engine.redact_item(&world.caller, fresh(&world.caller), item, "asked to".to_owned()).await.unwrap();
        assert_eq!((kept(HERON).await, kept(TAX).await), (0, 1), "it goes with the words, at once");
        world.settle().await;
        assert_eq!(world.found("waterfowl").await, Vec::<String>::new());
        assert_eq!((kept(HERON).await, world.index().await.episodes), (0, 1));
        assert_eq!(server.count(HERON), 1, "destroyed words are sent to nobody");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_is_reached_who_is_not_configured() {
    let (place, server) = (FixtureStore::sqlite(), Server::start());
    let world = place.open(Embedding::BuiltIn).await;
    world.bring(HERON).await;
    assert_eq!(world.settle().await, EmbedStep::Nothing);
    assert_eq!(world.found("heron").await, [HERON]);
    assert_eq!(server.requests(), 0);
    drop(world);
    let world = place.open(server.embedding("m")).await;
    assert_eq!(server.requests(), 0, "nor before there is something to be embedded");
    world.settle().await;
    assert!(server.requests() > 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_by_others_makes_the_vectors() {
    let (place, server) = (FixtureStore::sqlite(), Litellm::start());
    let key = skein_connect::credential::Credential::new(
        skein_core::catalog::secret::SecretType::ApiKey,
        Litellm::KEY.as_bytes(),
        None,
    );
    let options = skein_engine::memory::EndpointOptions {
        base_url: server.endpoint(),
        model: Litellm::EMBEDDER.to_owned(),
        dimensions: None,
        credential: Some(std::sync::Arc::new(key.unwrap())),
        time_max: std::time::Duration::from_secs(30),
    };
    let world = place.open(Embedding::endpoint(options).unwrap()).await;
    let said: Vec<String> = (0..150).map(|number| format!("Note {number} of many.")).collect();
    for text in &said {
        world.bring(text).await;
    }
    assert_eq!(world.settle().await, EmbedStep::Nothing);
    let state = world.index().await;
    assert_eq!((state.episodes, state.with_vector), (150, 150), "{state:?}");
    let recalled = world.recall("Note 77 of many.").await;
    assert_eq!(recalled.searched.meaning, SemanticSearch::Searched);
    let best = &recalled.page.rows[0];
    assert!(best.snippet.text == said[77] && best.parts.similarity.unwrap() > 0.99, "{best:?}");
}
