//! Vectors that were made once: found by what they were made of, and gone with the words.

use serde_json::json;
use skein_core::memory::episode::{EpisodeSource, ImportedEpisode};
use skein_core::{Digest, EpisodeId, ItemId, Viewer};
use skein_store::memory::{DROPPED_VECTORS_MAX, StoredVector};

use crate::fixtures::{World, both, wait_until};

const SYSTEM: Viewer = Viewer::System("test");

/// Something that was brought and is remembered.
fn remembered(world: &World, text: &str) -> (ItemId, EpisodeId) {
    let brought = ImportedEpisode { source: EpisodeSource::Text, content: json!(text), speaker: None, node_id: None };
    let (viewer, draft) = (world.anna.clone(), brought.to_draft(None).unwrap());
    let item = world.write(move |tx| tx.append_item(&viewer, &draft)).item.header.id;
    wait_until("everything is ingested", || {
        while world.write(|tx| tx.ingest(&SYSTEM)).is_some() {}
        world.read(|tx| Ok(tx.ingested(&SYSTEM)? == tx.end(&SYSTEM)?))
    });
    (item, EpisodeId::from_bytes(*item.as_bytes()))
}

fn keep(world: &World, embedder: &'static str, episode: EpisodeId, text: &str, vector: &[u8]) {
    let made = [StoredVector { episode, content: Digest::of(text.as_bytes()), vector: vector.to_vec() }];
    world.write(move |tx| tx.store_vectors(&SYSTEM, embedder, &made));
}

fn kept(world: &World, embedder: &'static str, text: &str) -> Option<Vec<u8>> {
    let content = Digest::of(text.as_bytes());
    world.read(move |tx| tx.vectors(&SYSTEM, embedder, &[content])).remove(&content)
}

fn redact(world: &World, item: ItemId) {
    let viewer = world.anna.clone();
    world.write(move |tx| tx.redact_item(&viewer, item, "asked to"));
}

both! {
    fn a_vector_is_kept_once_for_each_embedder_and_text(world: &World) {
        let (_, first) = remembered(world, "Herons nest in May.");
        let (_, again) = remembered(world, "Herons nest in May.");
        keep(world, "one", first, "Herons nest in May.", &[1; 8]);
        keep(world, "one", again, "Herons nest in May.", &[2; 8]);
        keep(world, "two", again, "Herons nest in May.", &[3; 9]);
        assert_eq!(kept(world, "one", "Herons nest in May."), Some(vec![1; 8]));
        assert_eq!(kept(world, "two", "Herons nest in May."), Some(vec![3; 9]));
        assert_eq!((kept(world, "one", "Herons"), kept(world, "three", "Herons nest in May.")), (None, None));
        let lengths = world.read(|tx| Ok((tx.vector_bytes(&SYSTEM, "two")?, tx.vector_bytes(&SYSTEM, "three")?)));
        assert_eq!(lengths, (Some(9), None));
        let many: Vec<Digest> = (0..200).map(|number: u32| Digest::of(&number.to_be_bytes())).collect();
        let anna = world.anna.clone();
        assert!(world.read(move |tx| tx.vectors(&SYSTEM, "one", &many)).is_empty());
        assert!(world.store.read_blocking(move |tx| tx.vectors(&anna, "one", &[])).is_err(), "they are nobody's to read");
        assert_eq!(world.verify(true).breaks, []);
    }

    fn redacted_words_take_their_vectors_along_and_get_no_new_ones(world: &World) {
        let (item, episode) = remembered(world, "Herons nest in May.");
        let (_, other) = remembered(world, "Bitterns boom.");
        for embedder in ["one", "two"] {
            keep(world, embedder, episode, "Anna: Herons nest in May.", &[1; 8]);
            keep(world, embedder, other, "Bitterns boom.", &[2; 8]);
        }
        redact(world, item);
        for embedder in ["one", "two"] {
            assert_eq!(kept(world, embedder, "Anna: Herons nest in May."), None);
            assert_eq!(kept(world, embedder, "Bitterns boom."), Some(vec![2; 8]));
        }
        // Whoever was still at it when the words were destroyed.
        keep(world, "one", episode, "Anna: Herons nest in May.", &[1; 8]);
        assert_eq!(kept(world, "one", "Anna: Herons nest in May."), None);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn vectors_that_nobody_uses_any_more_are_thrown_away_in_pieces(world: &World) {
        let (_, episode) = remembered(world, "Herons nest in May.");
        let many: Vec<StoredVector> = (0..=DROPPED_VECTORS_MAX)
            .map(|number| StoredVector { episode, content: Digest::of(&number.to_be_bytes()), vector: vec![1; 8] })
            .collect();
        for embedder in ["former", "serving", "another"] {
            let many = many.clone();
            world.write(move |tx| tx.store_vectors(&SYSTEM, embedder, &many));
        }
        world.write(|tx| {
            tx.use_vectors(&SYSTEM, "serving", 1_000)?;
            tx.use_vectors(&SYSTEM, "serving", 10)?;
            tx.use_vectors(&SYSTEM, "another", 1_000)?;
            tx.use_vectors(&SYSTEM, "former", 10)
        });
        assert_eq!(world.read(|tx| tx.unused_embedder(&SYSTEM)), None);
        world.clock.advance(100);
        let unused = world.read(|tx| tx.unused_embedder(&SYSTEM));
        assert_eq!(unused.as_deref(), Some("former"));
        let drop_some = || world.write(|tx| tx.drop_unused_vectors(&SYSTEM, "former"));
        assert!(drop_some());
        assert_eq!(world.read(|tx| tx.unused_embedder(&SYSTEM)).as_deref(), Some("former"), "one is left");
        assert_eq!((drop_some(), drop_some()), (true, false));
        assert_eq!(world.read(|tx| tx.unused_embedder(&SYSTEM)), None);
        assert!(!world.write(|tx| tx.drop_unused_vectors(&SYSTEM, "serving")), "what is used stays");
        assert!(world.write(|tx| tx.drop_vectors(&SYSTEM, "another")), "unless it is to be made anew");
        assert_eq!(world.read(|tx| tx.vector_bytes(&SYSTEM, "serving")), Some(8));
    }
}
