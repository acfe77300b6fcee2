//! Disk usage: for administrators, and not recounted for every request.

use serde_json::{Value, json};
use skein_core::Digest;
use skein_store::blobs::COUNT_KEPT_MS;

use crate::server_fixture::{ServerFixture, both};

const STORAGE: &str = "/api/v1/storage";

async fn asked(world: &ServerFixture) -> Value {
    let answer = world.get(STORAGE).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json()
}

/// So much text that nothing makes it smaller.
fn long(kilobytes: usize) -> String {
    (0..kilobytes * 16).map(|number: usize| Digest::of(&number.to_be_bytes()).to_string()).collect()
}

both! {
    async fn the_database_is_as_large_as_what_is_kept_in_it(world: &ServerFixture) {
        let before = asked(world).await["database"].clone();
        for _ in 0..8 {
            world.note(&long(900)).await;
        }
        let after = asked(world).await["database"].clone();
        let kind = if world.is_on_postgres() { "postgresql" } else { "sqlite" };
        assert_eq!((&before["kind"], &after["kind"]), (&json!(kind), &json!(kind)));
        // What waits to be moved into SQLite's file may have been larger before.
        let grown = after["bytes"].as_i64().unwrap() - before["bytes"].as_i64().unwrap();
        assert!((3 << 20..30 << 20).contains(&grown), "{before} became {after}");
    }

    async fn attached_bytes_are_counted_once_in_a_while(world: &ServerFixture) {
        let counted = |objects: u64, bytes: u64, after_ms: i64| {
            json!({ "objects": objects, "bytes": bytes, "countedAt": crate::server_fixture::START.plus(after_ms) })
        };
        assert_eq!(asked(world).await["blobs"], counted(0, 0, 0));
        for bytes in ["herons", "egrets and storks", "herons"] {
            assert_eq!(world.upload("/api/v1/blobs", "text/plain", bytes).await.status, 201);
        }
        world.clock.advance(COUNT_KEPT_MS - 1);
        assert_eq!(asked(world).await["blobs"], counted(0, 0, 0), "they were counted a moment ago");
        world.clock.advance(1);
        assert_eq!(asked(world).await["blobs"], counted(2, 23, COUNT_KEPT_MS), "the same bytes are kept once");
    }
}
