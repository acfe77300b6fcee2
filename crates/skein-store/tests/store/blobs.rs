//! Objects: durable before they are named, read only by who attached them, swept when nobody did.

use std::ops::Range;
use std::path::Path;

use bytes::Bytes;
use futures::TryStreamExt as _;
use skein_core::{Digest, Millis};
use skein_store::StoreError;
use skein_store::blobs::{Blobs, S3Options, SWEEP_AFTER_MS};
use skein_testkit::moto::Moto;

use crate::fixtures::{World, both};

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

async fn pieces(blobs: &Blobs, hash: Digest, part: Option<Range<u64>>) -> Vec<Bytes> {
    blobs.open(hash, part).await.unwrap().try_collect().await.unwrap()
}

fn far_future() -> Millis {
    Millis(4_000_000_000_000).plus(SWEEP_AFTER_MS)
}

/// Everything a place for objects promises, whichever it is.
fn keeps_objects(world: &World, blobs: &Blobs) {
    let picture = Bytes::from_static(b"\x89PNG not really");
    let named = run(blobs.put(picture.clone(), "image/png")).unwrap();
    let orphan = run(blobs.put(Bytes::from_static(b"nobody names me"), "text/plain")).unwrap();
    assert_eq!(named.hash(), Digest::of(&picture));
    let (viewer, blob) = (world.anna.clone(), named.clone());
    world.write(move |tx| tx.attach_blob(&viewer, &blob));
    assert_eq!(run(blobs.get(named.hash())).unwrap(), picture);
    let opened = |part| run(async { pieces(blobs, named.hash(), part).await.concat() });
    assert_eq!((opened(None), opened(Some(1..4))), (picture.to_vec(), b"PNG".to_vec()));
    assert_eq!(run(blobs.sweep(&world.store, Millis(0))).unwrap(), 0);
    assert_eq!(run(blobs.sweep(&world.store, far_future())).unwrap(), 1);
    assert_eq!(run(blobs.get(named.hash())).unwrap(), picture);
    assert!(matches!(run(blobs.get(orphan.hash())), Err(StoreError::NotFound(_))));
}

both! {
    fn mg_blob_001_a_directory_keeps_attachments_with_their_type_holds(world: &World) {
        keeps_objects(world, &world.blobs);
    }

    fn knowing_a_hash_is_not_being_allowed_to_read(world: &World) {
        let blob = run(world.blobs.put(Bytes::from_static(b"private"), "text/plain")).unwrap();
        let (viewer, named) = (world.anna.clone(), blob.clone());
        world.write(move |tx| tx.attach_blob(&viewer, &named));
        let (viewer, hash) = (world.anna.clone(), blob.hash());
        assert_eq!(world.read(move |tx| tx.blob(&viewer, hash)), blob);
        let viewer = world.bert.clone();
        assert!(matches!(world.try_read(move |tx| tx.blob(&viewer, hash)), Err(StoreError::NotFound(_))));
    }

    fn mg_blob_001_an_attachment_without_a_media_type_refuses(world: &World) {
        let blob = run(world.blobs.put(Bytes::from_static(b"x"), "picture")).unwrap();
        let viewer = world.anna.clone();
        assert_eq!(crate::fixtures::rule_of(world.try_write(move |tx| tx.attach_blob(&viewer, &blob))), "MG-BLOB-001");
    }
}

#[test]
fn an_s3_service_written_by_others_keeps_objects() {
    let moto = Moto::start();
    let options = S3Options {
        endpoint: moto.endpoint().to_owned(),
        bucket: Moto::BUCKET.to_owned(),
        region: "us-east-1".to_owned(),
        access_key: "test".to_owned(),
        secret_key: "test".to_owned(),
    };
    let blobs = Blobs::s3(&options).unwrap();
    keeps_objects(&World::sqlite(), &blobs);
    // More than one part.
    let large = Bytes::from(vec![7; (17 << 20) + 1]);
    let kept = run(blobs.put(large.clone(), "image/png")).unwrap();
    assert_eq!((kept.size(), run(blobs.get(kept.hash())).unwrap()), ((17 << 20) + 1, large));
}

fn unfinished(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("uploads")).map_or(0, Iterator::count)
}

#[test]
fn a_blob_that_was_given_up_leaves_nothing_behind_and_a_sweep_takes_what_a_dead_process_left() {
    let (folder, world) = (tempfile::tempdir().unwrap(), World::sqlite());
    let blobs = Blobs::directory(folder.path()).unwrap();
    let mut incoming = blobs.begin().unwrap();
    incoming.push(b"half of it").unwrap();
    std::fs::write(folder.path().join("uploads").join("left"), "by a dead process").unwrap();
    assert_eq!(unfinished(folder.path()), 2);
    run(blobs.sweep(&world.store, Millis(0))).unwrap();
    assert_eq!(unfinished(folder.path()), 1, "the one that still arrives stays");
    incoming.push(b", and the rest").unwrap();
    let mut staged = incoming.finish().unwrap();
    let kept = run(blobs.keep(&mut staged, "text/plain")).unwrap();
    assert_eq!(run(blobs.get(kept.hash())).unwrap(), b"half of it, and the rest"[..]);
    assert_eq!(unfinished(folder.path()), 0);
    drop(blobs.begin().unwrap());
    assert_eq!(unfinished(folder.path()), 0);
}

#[test]
fn an_object_that_was_swapped_is_not_handed_out() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::directory(folder.path()).unwrap();
    let blob = run(blobs.put(Bytes::from_static(b"original"), "text/plain")).unwrap();
    let hex = blob.hash().to_string();
    std::fs::write(folder.path().join(&hex[..2]).join(&hex), "forged").unwrap();
    assert!(matches!(run(blobs.get(blob.hash())), Err(StoreError::Damaged(_))));
}

#[test]
fn an_object_is_read_piece_by_piece_and_the_last_piece_of_an_altered_one_is_held_back() {
    let folder = tempfile::tempdir().unwrap();
    let blobs = Blobs::directory(folder.path()).unwrap();
    let mut bytes = vec![7; 1 << 20];
    let blob = run(blobs.put(bytes.clone().into(), "text/plain")).unwrap();
    let read = run(pieces(&blobs, blob.hash(), None));
    assert_eq!(read.concat(), bytes);
    assert!(read.iter().all(|piece| piece.len() <= 64 << 10), "{} pieces", read.len());
    let empty = run(blobs.put(Bytes::new(), "text/plain")).unwrap();
    assert!(run(pieces(&blobs, empty.hash(), None)).is_empty());
    let hex = blob.hash().to_string();
    bytes[5] = 8;
    std::fs::write(folder.path().join(&hex[..2]).join(&hex), &bytes).unwrap();
    let mut handed_out = 0;
    let ended = run(async {
        let mut pieces = blobs.open(blob.hash(), None).await.unwrap();
        while let Some(piece) = pieces.try_next().await? {
            handed_out += piece.len();
        }
        Ok(())
    });
    assert!(matches!(ended, Err(StoreError::Damaged(_))) && handed_out < bytes.len(), "{ended:?} {handed_out}");
    assert!(matches!(run(blobs.open(Digest::of(b"x"), None)), Err(StoreError::NotFound(_))));
}

#[test]
fn an_unreachable_service_says_so() {
    let options = S3Options {
        endpoint: "http://127.0.0.1:1".to_owned(),
        bucket: "b".to_owned(),
        region: "r".to_owned(),
        access_key: "a".to_owned(),
        secret_key: "s".to_owned(),
    };
    let blobs = Blobs::s3(&options).unwrap();
    assert!(matches!(run(blobs.get(Digest::of(b""))), Err(StoreError::Blob(_))));
}
