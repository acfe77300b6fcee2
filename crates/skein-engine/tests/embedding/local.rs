//! Vectors that are computed in this process, by something slower than the built-in table.

use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use skein_engine::memory::{EmbedStep, Embedding, SemanticSearch};
use skein_recall::{EmbedError, Embedder, Fingerprint};

use crate::engine_fixture::{FixtureStore, meaning};

const HERON: &str = "The heron stands in the reeds.";

/// Works at texts only while it is let.
struct Slow(Mutex<mpsc::Receiver<()>>);

impl Embedder for Slow {
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new("slow")
    }

    fn dimensions(&self) -> usize {
        4
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        // Whoever is let go of works at once.
        let _ = self.0.lock().unwrap().recv();
        Ok(texts.iter().map(|text| meaning(text)).collect())
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fault_a_model_that_hangs_keeps_nobody_waiting() {
    let place = FixtureStore::sqlite();
    let (go_on, wait) = mpsc::channel();
    let world = place.open(Embedding::local(Arc::new(Slow(Mutex::new(wait))), Duration::from_millis(50))).await;
    world.bring(HERON).await;
    assert!(matches!(world.settle().await, EmbedStep::Later(_)));
    let recalled = world.recall("heron").await;
    assert_eq!(
        (recalled.page.rows.len(), recalled.searched.meaning),
        (1, SemanticSearch::Searched),
        "by the built-in table"
    );
    drop(go_on);
    let world = world.followed();
    world.until("the model serves", |state| state.embedder == "slow" && state.with_vector == 1).await;
    assert_eq!(world.found("waterfowl").await, [HERON]);
}

#[cfg(feature = "transformer")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_model_in_a_directory_makes_the_vectors() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../skein-recall/tests/golden/transformers/mean");
    let opened = skein_engine::memory::embedder::open_transformer(directory.as_ref()).unwrap();
    let fingerprint = opened.fingerprint();
    let place = FixtureStore::sqlite();
    let world = place.open(Embedding::local(opened, Duration::from_secs(60))).await;
    world.bring(HERON).await;
    assert_eq!(world.settle().await, EmbedStep::Nothing);
    let state = world.index().await;
    assert_eq!((state.embedder.as_str(), state.with_vector), (fingerprint.as_str(), 1));
    let recalled = world.recall(HERON).await;
    assert!(recalled.page.rows[0].parts.similarity.unwrap() > 0.99);
    assert_eq!(recalled.searched.meaning, SemanticSearch::Searched);
}

#[cfg(not(feature = "transformer"))]
#[test]
fn without_the_feature_it_is_said_how_to_build_it() {
    let Err(problem) = skein_engine::memory::embedder::open_transformer("/nowhere".as_ref()) else {
        panic!("there is no model")
    };
    assert!(problem.contains("--features transformer"), "{problem}");
}
