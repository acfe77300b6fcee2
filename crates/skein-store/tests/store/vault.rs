//! Sealed values: for their owner alone, replaced and destroyed for good, carried by backups and by no bundle.

use serde_json::json;
use skein_core::account::Grant;
use skein_core::garden::record::{Act, Record};
use skein_core::{ItemId, RecordId, Viewer};
use skein_store::backup::{backup, restore};
use skein_store::bundle::Authority;
use skein_store::catalog::vault::{SealedSecret, SealedValue};
use skein_store::{Location, Store, StoreError, StoreOptions};
use skein_testkit::postgres::{Cluster, Database};

use crate::catalog::{SYSTEM, change, delete, found, make, shared};
use crate::fixtures::{START, World, both, content, rule_of};

pub(crate) fn sealed(value_version: i64, key_id: &str, ciphertext: &[u8]) -> SealedValue {
    SealedValue {
        value_version,
        key_id: key_id.to_owned(),
        wrapped_key: vec![1, 0, 255],
        ciphertext: ciphertext.to_vec(),
    }
}

/// A secret of Anna's with a value.
pub(crate) fn secret(world: &World, ciphertext: &'static [u8]) -> Record {
    let (viewer, data) = (world.anna.clone(), json!({ "name": "k", "type": "api_key", "valueVersion": 1 }));
    let made = content("Secret", data);
    world.write(move |tx| {
        let record = tx.create_entry(&viewer, made.clone(), None)?;
        tx.put_sealed(&viewer, record.id, &sealed(1, "key-a", ciphertext))?;
        Ok(record)
    })
}

fn value(world: &World, viewer: &Viewer, secret: RecordId) -> Result<Option<SealedSecret>, StoreError> {
    let viewer = viewer.clone();
    world.try_read(move |tx| tx.sealed(&viewer, secret))
}

fn rotate(world: &World, record: &Record, ciphertext: &'static [u8]) -> Record {
    let rotated = change(world, &world.anna, record, json!({ "valueVersion": record.version + 1 }), Act::Rotated);
    let (viewer, id, version) = (world.anna.clone(), record.id, record.version + 1);
    world.write(move |tx| tx.put_sealed(&viewer, id, &sealed(version, "key-a", ciphertext)));
    rotated
}

/// Whether any file of a SQLite store holds some bytes, once its log was written back.
fn holds(world: &World, needle: &[u8]) -> bool {
    let files = std::fs::read_dir(world.folder.path()).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.is_file()).any(|path| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(needle.len()).any(|window| window == needle)
    })
}

both! {
    fn a_value_is_kept_for_its_owner_and_skein(world: &World) {
        let record = secret(world, b"ciphertext");
        let kept = value(world, &world.anna, record.id).unwrap().unwrap();
        assert_eq!((kept.secret, kept.owner, &kept.value), (record.id, world.anna.owner(), &sealed(1, "key-a", b"ciphertext")));
        assert_eq!(value(world, &SYSTEM, record.id).unwrap(), Some(kept.clone()));
        assert!(!format!("{kept:?}").contains("105"), "{kept:?}");
    }

    fn br_secret_002a_a_value_is_for_nobody_else_refuses(world: &World) {
        let record = secret(world, b"ciphertext");
        let record = change(world, &world.anna, &record, json!({ "shared": true }), Act::Plain);
        let grant = Grant { item: ItemId::from_bytes([1; 16]), owner: world.anna.owner(), until: START.plus(1_000) };
        let admin = Viewer::Admin { user: world.bert.owner(), grant };
        assert!(found(world, &admin, record.id).is_ok(), "a grant shows the metadata");
        for viewer in [&world.bert, &admin] {
            assert!(matches!(value(world, viewer, record.id), Err(StoreError::NotFound(_))), "{viewer:?}");
            let (author, id) = (viewer.clone(), record.id);
            let put = world.try_write(move |tx| tx.put_sealed(&author, id, &sealed(1, "key-b", b"forged")));
            assert!(matches!(put, Err(StoreError::NotFound(_))), "{viewer:?}");
            let author = viewer.clone();
            let destroyed = world.try_write(move |tx| tx.destroy_sealed(&author, id));
            assert!(matches!(destroyed, Err(StoreError::NotFound(_))), "{viewer:?}");
            let author = viewer.clone();
            let listed = world.try_read(move |tx| tx.sealed_under_other_key(&author, "", None, 10));
            assert!(matches!(listed, Err(StoreError::Forbidden)), "{viewer:?}");
        }
        assert_eq!(value(world, &world.anna, record.id).unwrap().unwrap().value, sealed(1, "key-a", b"ciphertext"));
    }

    fn only_a_secret_has_a_value_and_only_the_one_of_its_version(world: &World) {
        let other = make(world, &world.anna, crate::catalog::service("weather")).id;
        let viewer = world.anna.clone();
        let put = world.try_write(move |tx| tx.put_sealed(&viewer, other, &sealed(1, "key-a", b"x")));
        assert!(matches!(put, Err(StoreError::NotFound(_))));
        let (viewer, id) = (world.anna.clone(), secret(world, b"ciphertext").id);
        let put = world.try_write(move |tx| tx.put_sealed(&viewer, id, &sealed(2, "key-a", b"x")));
        assert_eq!(rule_of(put), "BR-SECRET-001");
    }

    fn br_secret_001_a_rotation_replaces_the_value_holds(world: &World) {
        let record = secret(world, b"old ciphertext");
        rotate(world, &record, b"new ciphertext");
        assert_eq!(value(world, &world.anna, record.id).unwrap().unwrap().value, sealed(2, "key-a", b"new ciphertext"));
        assert_eq!(world.verify(true).breaks, []);
    }

    fn br_secret_001_a_rotated_value_is_gone_before_the_next_is_put_refuses(world: &World) {
        let record = secret(world, b"old ciphertext");
        let renamed = change(world, &world.anna, &record, json!({ "name": "other" }), Act::Plain);
        assert!(value(world, &world.anna, record.id).unwrap().is_some(), "another name leaves it");
        change(world, &world.anna, &renamed, json!({ "valueVersion": 2 }), Act::Rotated);
        assert_eq!(value(world, &world.anna, record.id).unwrap(), None);
        let (viewer, id) = (world.anna.clone(), record.id);
        let late = world.try_write(move |tx| tx.put_sealed(&viewer, id, &sealed(1, "key-a", b"old ciphertext")));
        assert_eq!(rule_of(late), "BR-SECRET-001");
    }

    fn br_secret_002_a_deleted_secret_has_no_value_left_holds(world: &World) {
        let record = secret(world, b"ciphertext");
        delete(world, &world.anna, record.id).unwrap();
        assert!(matches!(value(world, &world.anna, record.id), Err(StoreError::NotFound(_))));
        assert_eq!(world.tamper("DELETE FROM vault"), Ok(0), "the row went with the secret");
        let record = secret(world, b"ciphertext");
        let (viewer, id) = (world.anna.clone(), record.id);
        assert!(world.write(move |tx| tx.destroy_sealed(&viewer, id)));
        assert_eq!(value(world, &world.anna, record.id).unwrap(), None);
    }

    fn values_are_wrapped_anew_unless_they_changed_meanwhile(world: &World) {
        let ids: Vec<RecordId> = (0..5).map(|_| secret(world, b"ciphertext").id).collect();
        let page = world.read(|tx| tx.sealed_under_other_key(&SYSTEM, "key-b", None, 2));
        assert_eq!((page.rows.len(), page.next), (2, Some(page.rows[1].secret)));
        let stale = world.read(|tx| tx.sealed_under_other_key(&SYSTEM, "key-b", None, 100)).rows;
        let mut listed: Vec<RecordId> = stale.iter().map(|row| row.secret).collect();
        listed.sort();
        assert_eq!(listed, { let mut ids = ids.clone(); ids.sort(); ids });
        rotate(world, &found(world, &world.anna, stale[0].secret).unwrap(), b"rotated");
        delete(world, &world.anna, stale[1].secret).unwrap();
        let rows = stale.clone();
        let wrapped = world.write(move |tx| rows.iter().map(|row| tx.rewrap_sealed(&SYSTEM, row, "key-b", &[9])).collect::<Result<Vec<bool>, _>>());
        assert_eq!(wrapped, [false, false, true, true, true]);
        assert_eq!(value(world, &world.anna, stale[0].secret).unwrap().unwrap().value.ciphertext, b"rotated");
        let anew = value(world, &world.anna, stale[2].secret).unwrap().unwrap().value;
        assert_eq!((anew.key_id.as_str(), anew.wrapped_key, anew.ciphertext), ("key-b", vec![9], b"ciphertext".to_vec()));
        assert_eq!(world.read(|tx| tx.sealed_under_other_key(&SYSTEM, "key-b", None, 100)).rows.len(), 1);
        let (viewer, row) = (world.anna.clone(), stale[2].clone());
        assert!(matches!(world.try_write(move |tx| tx.rewrap_sealed(&viewer, &row, "key-c", &[8])), Err(StoreError::Forbidden)));
    }

    fn values_go_with_a_backup_to_both_databases_and_with_no_bundle(world: &World) {
        let ciphertext: &'static [u8] = b"CANARY-IN-THE-VAULT";
        let record = rotate(world, &secret(world, b"before"), ciphertext);
        let gone = secret(world, b"gone");
        delete(world, &world.anna, gone.id).unwrap();
        let bundle = crate::bundle::export_all(world, world.anna.owner());
        let parts = crate::bundle::unzip(&bundle);
        assert!(parts.values().all(|part| !part.windows(ciphertext.len()).any(|window| window == ciphertext)));
        assert!(String::from_utf8_lossy(&parts["records.jsonl"]).contains("valueVersion"), "its metadata is exported");
        for target in [World::sqlite(), World::postgres()] {
            crate::bundle::try_import(&target, &bundle, &Authority::Installation).unwrap();
            let id = record.id;
            assert_eq!(target.read(move |tx| tx.sealed(&SYSTEM, id)), None, "an imported secret waits for its value");
            assert_eq!(target.verify(true).breaks, []);
        }
        let taken = tempfile::tempdir().unwrap();
        backup(&world.store, &world.blobs, &taken.path().join("copy"), &mut |_| {}).unwrap();
        let database = Database::fresh(Cluster::shared());
        for location in [Location::Directory(taken.path().join("restored")), Location::Postgres(database.url().to_owned())] {
            restore(&taken.path().join("copy"), &location, &world.blobs, &mut |_| {}).unwrap();
            let store = Store::open(StoreOptions { connections: 1, ..StoreOptions::at(location) }).unwrap();
            let (id, viewer) = (record.id, world.anna.clone());
            let restored = store.read_blocking(move |tx| tx.sealed(&viewer, id)).unwrap().unwrap();
            assert_eq!(restored.value, sealed(2, "key-a", ciphertext));
            let others = store.read_blocking(|tx| tx.sealed_under_other_key(&SYSTEM, "", None, 10)).unwrap();
            assert_eq!(others.rows.len(), 1);
        }
    }

    fn health_is_noted_by_the_owner_and_seen_with_the_record(world: &World) {
        let open = make(world, &world.anna, shared(crate::catalog::service("open"))).id;
        let hidden = make(world, &world.anna, crate::catalog::service("hidden")).id;
        let viewer = world.anna.clone();
        world.write(move |tx| {
            tx.set_health(&viewer, open, "down", Some(&"e\0é".repeat(900)), None)?;
            tx.set_health(&viewer, open, "healthy", None, Some(12))?;
            tx.set_health(&SYSTEM, hidden, "down", Some(&"e\0é".repeat(900)), None)
        });
        let seen = |viewer: &Viewer| { let viewer = viewer.clone(); world.read(move |tx| tx.health_of(&viewer, &[open, hidden])) };
        let all = seen(&world.anna);
        assert_eq!((all[&open].status.as_str(), all[&open].latency_ms, all[&open].checked_at), ("healthy", Some(12), START));
        assert_eq!(all[&hidden].error.as_ref().unwrap().chars().count(), 1_000);
        assert_eq!(seen(&SYSTEM), all);
        assert_eq!(seen(&world.bert).into_keys().collect::<Vec<_>>(), [open]);
        let (viewer, other) = (world.bert.clone(), world.bert.clone());
        assert!(matches!(world.try_write(move |tx| tx.set_health(&viewer, open, "down", None, None)), Err(StoreError::Forbidden)));
        assert!(matches!(world.try_write(move |tx| tx.set_health(&other, hidden, "down", None, None)), Err(StoreError::NotFound(_))));
        let viewer = world.anna.clone();
        assert!(world.try_write(move |tx| tx.set_health(&viewer, open, "fine", None, None)).is_err());
        delete(world, &world.anna, open).unwrap();
        assert_eq!(seen(&SYSTEM).len(), 1);
    }
}

#[test]
fn what_a_rotation_or_deletion_destroys_leaves_the_file() {
    let mut world = World::sqlite();
    let (old, new): (&'static [u8], &'static [u8]) = (b"CANARY-OF-THE-FIRST-VALUE", b"CANARY-OF-THE-SECOND-VALUE");
    let record = secret(&world, old);
    let directory = world.store.location().clone();
    reopen(&mut world, &directory);
    assert!(holds(&world, old), "the search finds what is there");
    let record = rotate(&world, &record, new);
    reopen(&mut world, &directory);
    assert!(!holds(&world, old) && holds(&world, new));
    delete(&world, &world.anna, record.id).unwrap();
    reopen(&mut world, &directory);
    assert!(!holds(&world, new));
}

/// Closing a store writes its log back into the file.
fn reopen(world: &mut World, location: &Location) {
    let elsewhere = tempfile::tempdir().unwrap();
    let nowhere = Store::open(StoreOptions::at(Location::Directory(elsewhere.path().to_owned()))).unwrap();
    drop(std::mem::replace(&mut world.store, nowhere));
    let options = StoreOptions { clock: Some(world.clock.clone()), ..StoreOptions::at(location.clone()) };
    world.store = Store::open(options).unwrap();
}
