//! Bundles go from store to store and come back the same, on either database, whole or in pieces.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Write as _};
use std::ops::ControlFlow;

use bytes::Bytes;
use serde_json::{Value, json};
use skein_core::account::{Grant, Scope};
use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::{ItemDraft, ItemType};
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_core::{Digest, ItemId, Millis, UserId, Viewer};
use skein_store::bundle::{Authority, BadBundle, ExportScope, ExportSize, ImportResult, export, import};
use skein_store::timeline::items::{ItemQuery, StoredItem};
use skein_store::verify::Progress;
use skein_store::{StoreError, Tx};

use crate::fixtures::{World, both, content, note, object, user, wait_until};
use crate::relations::relate_as_before;

pub(crate) type Parts = BTreeMap<String, Vec<u8>>;

/// Everything that a round trip keeps: all but the manifest and the evidence of one store.
const KEPT: [&str; 3] = ["items.jsonl", "records.jsonl", "relations.jsonl"];

pub(crate) fn go_on(_: Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Where an export of everything written so far ends.
pub(crate) fn cut(world: &World) -> Cursor {
    let last = world.note_by(&world.bert, "marker").cursor;
    let mut cut = Cursor::START;
    wait_until("everything is settled", || {
        let owner = user(&world.bert);
        cut = world.read(move |tx| tx.cut(&Viewer::User(owner), owner));
        cut >= last
    });
    cut
}

pub(crate) fn export_at(world: &World, owner: UserId, cut: Cursor) -> Vec<u8> {
    let scope = ExportScope { viewer: Viewer::User(owner), owner, cut };
    let mut bundle = Vec::new();
    export(&world.store, &world.blobs, &scope, &mut bundle, &mut go_on).unwrap();
    bundle
}

pub(crate) fn export_all(world: &World, owner: UserId) -> Vec<u8> {
    export_at(world, owner, cut(world))
}

pub(crate) fn file_of(bundle: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bundle).unwrap();
    file
}

pub(crate) fn try_import(world: &World, bundle: &[u8], authority: &Authority) -> Result<ImportResult, StoreError> {
    import(&world.store, &world.blobs, file_of(bundle), authority, &mut go_on)
}

pub(crate) fn unzip(bundle: &[u8]) -> Parts {
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bundle)).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let read = |name: String| {
        let mut bytes = Vec::new();
        archive.by_name(&name).unwrap().read_to_end(&mut bytes).unwrap();
        (name, bytes)
    };
    names.into_iter().map(read).collect()
}

pub(crate) fn kept(bundle: &[u8]) -> Parts {
    let mut parts = unzip(bundle);
    parts.retain(|name, _| KEPT.contains(&name.as_str()) || name.starts_with("blobs/"));
    parts
}

pub(crate) fn count(world: &World) -> u64 {
    world.verify(false).items
}

fn put_blob(world: &World, bytes: &'static [u8]) -> skein_store::blobs::BlobRef {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(world.blobs.put(Bytes::from_static(bytes), "image/png")).unwrap()
}

pub(crate) fn event(name: &str) -> ItemDraft {
    ItemDraft::recorded(ItemType::SYSTEM_EVENT, &object(json!({ "event": name })))
}

/// Records that take patches, get shared and superseded.
fn write_records(tx: &mut Tx<'_>, viewer: &Viewer) -> Result<(), StoreError> {
    let long = |number: i64| json!({ "name": "Ünïcode ✂", "text": "x".repeat(10_000), "number": number, "share": 0.1 });
    let mut record = tx.create_record(viewer, content("Budget", long(0)), Some("weil".to_owned()))?;
    for number in 1..20 {
        let mut next = content("Budget", long(number));
        next.shared = number > 10;
        record = tx.update_record(viewer, record.id, record.hash, next, None)?;
    }
    tx.create_record(viewer, content("Belief", json!({ "nested": { "list": [1, 2.5, null, "é"] } })), None)?;
    let gone = tx.create_record(viewer, content("Belief", json!({ "name": "gone" })), None)?;
    tx.delete_record(viewer, gone.id, None, Some("vorbei".to_owned()))?;
    Ok(())
}

fn write_relations(tx: &mut Tx<'_>, viewer: &Viewer, items: [ItemId; 3]) -> Result<(), StoreError> {
    let [first, second, third] = items.map(Endpoint::Item);
    let draft = |kind, source, target| RelationDraft::new(kind, source, target, RelationAttributes::inferred(0.1));
    let kept = tx.relate(viewer, &draft(RelationKind::Mentions, first, second)?)?;
    let metadata = object(json!({ "inferred": true, "why": "später", "weight": 1.0 }));
    tx.edit_relation(viewer, kept.id, &RelationAttributes { confidence: Some(1.0 / 3.0), metadata })?;
    let gone = tx.relate(viewer, &draft(RelationKind::Mentions, first, third)?)?;
    tx.remove_relation(viewer, gone.id, "falsch")?;
    let fragment = Endpoint::Fragment { item: items[2], position: 7 };
    relate_as_before(tx, viewer, draft(RelationKind::Mentions, second, fragment)?)?;
    Ok(())
}

/// Corrected times, one of them withdrawn; two that were never corrected are withdrawn of things that stay in this store.
fn correct_times(tx: &mut Tx<'_>, viewer: &Viewer, items: [ItemId; 2], local: &[ItemId]) -> Result<(), StoreError> {
    tx.override_canonical_time(viewer, items[0], Some(Millis(-1)))?;
    tx.override_canonical_time(viewer, items[1], Some(Millis(5)))?;
    tx.override_canonical_time(viewer, items[1], None)?;
    local.iter().try_for_each(|id| tx.override_canonical_time(viewer, *id, None))
}

/// A history of Anna's in which everything happens that can, partly sealed; gives her last note.
pub(crate) fn history(world: &World) -> StoredItem {
    let texts = ["erste", "zweite \u{1F980}\u{2028}\"\\", "taken back", "to be destroyed", "fünfte"];
    let [first, second, undone, destroyed, fifth] = texts.map(|text| world.note(text).item.header.id);
    world.seal();
    let [blob, other] = [put_blob(world, b"picture"), put_blob(world, b"")];
    let viewer = world.anna.clone();
    let made = world.write(move |tx| {
        tx.undo_item(&viewer, undone)?;
        tx.redact_item(&viewer, destroyed, "auf Wunsch")?;
        write_records(tx, &viewer)?;
        write_relations(tx, &viewer, [first, second, fifth])?;
        let raw = ItemDraft::received(ItemType::parse("ModelResponse")?, vec![0, 1, 254, 255, b'\n'])?;
        let unknown =
            ItemDraft::stated(ItemType::parse("Weather2")?, object(json!({ "raw": "AAAA", "x": -0.0 })), None)?;
        tx.append_items(&viewer, &[raw, unknown, note("long ago", Some(Millis(-62_000_000_000_000)))])?;
        for attached in [&blob, &blob, &other] {
            tx.attach_blob(&viewer, attached)?;
        }
        let key = tx.create_key(&viewer, "schlüssel", Scope::Write, Digest::of(viewer.owner().as_bytes()))?;
        tx.revoke_key(&viewer, key)?;
        let hash = Digest::of(&[viewer.owner().as_bytes().as_slice(), b"until"].concat());
        tx.create_key_until(&viewer, "bis 2096", Scope::Read, hash, Some(Millis(4_000_000_000_000)))?;
        tx.append_item(&viewer, &event("branch.created"))?;
        tx.append_item(&viewer, &event("import.made"))?;
        Ok(tx.append_item(&viewer, &event("export.made"))?.item.header.id)
    });
    world.clock.advance(1_000);
    world.seal();
    let query = ItemQuery { item_type: Some(ItemType::SEAL), limit: 1, ..ItemQuery::default() };
    let viewer = world.anna.clone();
    let seal = world.read(move |tx| tx.items(&viewer, &query)).rows[0].item.header.id;
    let viewer = world.anna.clone();
    world.write(move |tx| correct_times(tx, &viewer, [first, fifth], &[made, seal]));
    world.seal();
    world.note("not sealed yet")
}

fn lines(bundle: &[u8], part: &str) -> Vec<Value> {
    let text = String::from_utf8(unzip(bundle).remove(part).unwrap()).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

both! {
    fn a_round_trip_over_both_databases_is_identical(world: &World) {
        history(world);
        let owner = user(&world.anna);
        let original = export_all(world, owner);
        let mut previous = original.clone();
        for other in [World::postgres(), World::sqlite()] {
            other.clock.advance(2_000);
            let imported = try_import(&other, &previous, &Authority::Installation).unwrap();
            assert_eq!((imported.owner, imported.skipped, imported.blobs), (owner, 0, 2));
            assert_eq!(imported.added, lines(&original, "items.jsonl").len() as u64);
            assert_eq!(other.verify(true).breaks, []);
            other.seal();
            let next = export_all(&other, owner);
            assert!(kept(&next) == kept(&original), "something came back in another way");
            assert_eq!(other.verify(true).breaks, []);
            previous = next;
        }
        assert_eq!(kept(&original).len(), KEPT.len() + 2);
    }

    fn no_bundle_is_larger_than_was_counted_before_it_was_written(world: &World) {
        history(world);
        let viewer = world.anna.clone();
        let bytes = (0..=255).cycle().take(100_000).collect();
        let draft = ItemDraft::received(ItemType::parse("Recording").unwrap(), bytes).unwrap();
        world.write(move |tx| tx.append_item(&viewer, &draft).map(drop));
        let owner = user(&world.anna);
        let counted = ExportSize::of_owner(&world.store, &world.anna, owner).unwrap();
        let bundle = export_all(world, owner);
        let entries = unzip(&bundle).len() as u64;
        assert!(counted.entries >= entries && counted.entries <= entries + 2, "{counted:?}: {entries} entries");
        assert!(counted.bytes >= bundle.len() as u64, "{counted:?}: {} bytes", bundle.len());
        assert!(counted.refuse_too_large("").is_ok());
    }

    fn importing_twice_adds_nothing(world: &World) {
        history(world);
        let bundle = export_all(world, user(&world.anna));
        let home = try_import(world, &bundle, &Authority::Owner(world.anna.clone())).unwrap();
        assert_eq!((home.added, home.blobs), (0, 0));
        let other = World::sqlite();
        other.clock.advance(2_000);
        let first = try_import(&other, &bundle, &Authority::Installation).unwrap();
        let items = count(&other);
        let second = try_import(&other, &bundle, &Authority::Installation).unwrap();
        assert_eq!((second.added, second.skipped, second.blobs), (0, first.added, 0));
        assert_eq!(count(&other), items);
    }

    fn a_later_bundle_brings_what_is_new_and_keeps_what_was_destroyed_here(world: &World) {
        let (owner, kept_note) = (user(&world.anna), world.note("stays").item.header.id);
        let gone = world.note("goes").item.header.id;
        let other = World::sqlite();
        try_import(&other, &export_all(world, owner), &Authority::Installation).unwrap();
        other.write(move |tx| tx.redact_item(&Viewer::User(owner), kept_note, "only there"));
        world.write(move |tx| tx.redact_item(&Viewer::User(owner), gone, "only here"));
        world.note("later");
        let imported = try_import(&other, &export_all(world, owner), &Authority::Installation).unwrap();
        // The redaction, the event that tells it, and the note.
        assert_eq!(imported.added, 3);
        let payload = |id| other.read(move |tx| tx.item(&Viewer::User(owner), id)).item.payload;
        assert_eq!((payload(kept_note), payload(gone)), (None, None));
        assert_eq!(other.verify(true).breaks, []);
    }

    fn a_stopped_import_is_continued(world: &World) {
        let (anna, bert) = (world.anna.clone(), world.bert.clone());
        let drafts: Vec<ItemDraft> = (0..450).map(|number| note(&number.to_string(), None)).collect();
        let others: Vec<ItemDraft> = (0..5_000).map(|_| note("another's", None)).collect();
        world.write(move |tx| {
            tx.append_items(&anna, &drafts[..100])?;
            tx.append_items(&bert, &others)?;
            tx.append_items(&anna, &drafts[100..]).map(drop)
        });
        let owner = user(&world.anna);
        let bundle = export_all(world, owner);
        let other = World::sqlite();
        let mut stop = |progress: Progress| {
            if progress.stage == "importing" { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let (file, all) = (file_of(&bundle), Authority::Installation);
        let stopped = import(&other.store, &other.blobs, file, &all, &mut stop);
        assert!(matches!(stopped, Err(StoreError::Bundle(BadBundle::Stopped))), "{stopped:?}");
        let rest = try_import(&other, &bundle, &all).unwrap();
        assert_eq!((rest.added, rest.skipped), (251, 200));
        assert!(kept(&export_all(&other, owner)) == kept(&bundle));
        assert_eq!(other.verify(true).breaks, []);
    }

    fn what_happens_after_the_cut_does_not_change_what_is_exported(world: &World) {
        let (owner, viewer) = (user(&world.anna), world.anna.clone());
        let [first, second] = ["a", "b"].map(|text| world.note(text).item.header.id);
        let (record, edge, loose) = world.write(move |tx| {
            let record = tx.create_record(&viewer, content("Budget", json!({ "name": "n" })), None)?;
            let draft = |position| {
                let target = Endpoint::Fragment { item: second, position };
                RelationDraft::new(RelationKind::Mentions, Endpoint::Item(first), target, RelationAttributes::inferred(0.5))
            };
            let edges = [draft(1)?, draft(2)?].map(|draft| relate_as_before(tx, &viewer, draft));
            let [edge, loose] = edges;
            Ok((record, edge?, loose?))
        });
        let cut = cut(world);
        let before = export_at(world, owner, cut);
        let viewer = world.anna.clone();
        world.write(move |tx| {
            tx.update_record(&viewer, record.id, record.hash, content("Budget", json!({ "name": "m" })), None)?;
            tx.edit_relation(&viewer, edge.id, &RelationAttributes::inferred(0.9))?;
            tx.remove_relation(&viewer, loose.id, "later")
        });
        assert!(export_at(world, owner, cut) == before);
    }

    fn a_payload_destroyed_during_the_export_goes_with_its_redaction(world: &World) {
        let (owner, viewer) = (user(&world.anna), world.anna.clone());
        let secret = world.note("a secret").item.header.id;
        let cut = cut(world);
        world.note("beyond the cut");
        world.write(move |tx| tx.redact_item(&viewer, secret, "asked for"));
        let bundle = export_at(world, owner, cut);
        let items = lines(&bundle, "items.jsonl");
        assert_eq!(items.last().unwrap()["type"], "Redaction");
        assert!(!String::from_utf8_lossy(&unzip(&bundle)["items.jsonl"]).contains("beyond the cut"));
        let other = World::sqlite();
        try_import(&other, &bundle, &Authority::Installation).unwrap();
        assert_eq!(other.verify(true).breaks, []);
    }

    fn a_lost_object_costs_nothing_else(world: &World) {
        let blob = put_blob(world, b"lost");
        let (viewer, hex, hash) = (world.anna.clone(), blob.hash().to_string(), blob.hash());
        world.write(move |tx| tx.attach_blob(&viewer, &blob));
        std::fs::remove_file(world.folder.path().join("blobs").join(&hex[..2]).join(&hex)).unwrap();
        let owner = user(&world.anna);
        let scope = ExportScope { viewer: world.anna.clone(), owner, cut: cut(world) };
        let mut bundle = Vec::new();
        let exported = export(&world.store, &world.blobs, &scope, &mut bundle, &mut go_on).unwrap();
        assert_eq!((exported.manifest.lost_blobs, exported.blobs), (vec![hash], 0));
        let other = World::sqlite();
        assert_eq!(try_import(&other, &bundle, &Authority::Installation).unwrap().blobs, 0);
    }

    fn only_who_may_read_an_owner_exports_them(world: &World) {
        world.note("mine");
        let (owner, cut) = (user(&world.anna), cut(world));
        let attempt = |viewer: Viewer| {
            let scope = ExportScope { viewer: viewer.clone(), owner, cut };
            let exported = export(&world.store, &world.blobs, &scope, &mut Vec::new(), &mut go_on);
            (world.try_read(move |tx| tx.cut(&viewer, owner)).map(drop), exported.map(drop))
        };
        let (asked, exported) = attempt(world.bert.clone());
        assert!(matches!((asked, exported), (Err(StoreError::NotFound(_)), Err(StoreError::NotFound(_)))));
        let scope = ExportScope { viewer: world.anna.clone(), owner, cut: Cursor { tx: i64::MAX, position: 1 } };
        let unsettled = export(&world.store, &world.blobs, &scope, &mut Vec::new(), &mut go_on);
        assert!(matches!(unsettled, Err(StoreError::Cursor(_))), "{unsettled:?}");
        let grant = Grant { item: ItemId::from_bytes([1; 16]), owner, until: Millis(i64::MAX) };
        let (asked, exported) = attempt(Viewer::Admin { user: user(&world.bert), grant });
        assert!(asked.is_ok() && exported.is_ok());
    }

    fn an_export_that_was_given_up_is_no_bundle(world: &World) {
        world.note("mine");
        let scope = ExportScope { viewer: world.anna.clone(), owner: user(&world.anna), cut: cut(world) };
        let mut bundle = Vec::new();
        let stopped = export(&world.store, &world.blobs, &scope, &mut bundle, &mut |_| ControlFlow::Break(()));
        assert!(matches!(stopped, Err(StoreError::Bundle(BadBundle::Stopped))), "{stopped:?}");
        let refused = try_import(world, &bundle, &Authority::Installation);
        assert!(matches!(refused, Err(StoreError::Bundle(BadBundle::NotABundle(_)))), "{refused:?}");
    }
}
