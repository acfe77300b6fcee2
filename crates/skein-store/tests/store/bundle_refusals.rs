//! Tests that no store imports altered or hostile bundles, or bundles that would give their bearer further rights.

use std::io::Write as _;

use serde_json::{Value, json};
use skein_core::garden::delta::Delta;
use skein_core::garden::item::{Item, ItemDraft, ItemType, Payload};
use skein_core::garden::record::{self, ChangeNote, Record, RecordContent, RecordType};
use skein_core::garden::seal::SEAL_LEAVES_MAX;
use skein_core::{Digest, ItemId, Millis, RecordId, UserId, Viewer};
use skein_store::StoreError;
use skein_store::bundle::{Authority, BadBundle, ENTRIES_MAX, LINE_BYTES_MAX};

use crate::bundle::{Parts, count, cut, event, export_all, history, kept, try_import, unzip};
use crate::fixtures::{START, World, both, content, object, rule_of, user};

const PARTS: [&str; 4] = ["items", "seals", "records", "relations"];

fn zip_of(parts: &Parts) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in parts {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// A bundle that was altered by somebody who knows how to put the manifest right again.
pub(crate) struct Forged(Parts);

impl Forged {
    pub(crate) fn of(bundle: &[u8]) -> Self {
        Self(unzip(bundle))
    }

    pub(crate) fn lines(&self, part: &str) -> Vec<String> {
        std::str::from_utf8(&self.0[part]).unwrap().lines().map(str::to_owned).collect()
    }

    pub(crate) fn with(mut self, part: &str, edit: impl FnOnce(&mut Vec<String>)) -> Self {
        let mut lines = self.lines(part);
        edit(&mut lines);
        let text: String = lines.into_iter().map(|line| line + "\n").collect();
        self.0.insert(part.to_owned(), text.into_bytes());
        self
    }

    /// One more item at the end.
    pub(crate) fn and(self, item: &Item) -> Self {
        let line = line_of(item);
        self.with("items.jsonl", |lines| lines.push(line))
    }

    fn manifest(mut self, edit: impl FnOnce(&mut Value)) -> Self {
        let mut manifest: Value = serde_json::from_slice(&self.0["manifest.json"]).unwrap();
        edit(&mut manifest);
        self.0.insert("manifest.json".to_owned(), manifest.to_string().into_bytes());
        self
    }

    pub(crate) fn zip(self) -> Vec<u8> {
        let parts = self.0.clone();
        let right = self.manifest(|manifest| {
            for part in PARTS {
                let bytes = &parts[&format!("{part}.jsonl")];
                let lines = bytes.split(|byte| *byte == b'\n').count() - 1;
                manifest[part] =
                    json!({ "lines": lines, "bytes": bytes.len(), "sha256": Digest::of(bytes).to_string() });
            }
            manifest["blobs"] = json!(parts.keys().filter(|name| name.starts_with("blobs/")).count());
        });
        zip_of(&right.0)
    }
}

fn line_of(item: &Item) -> String {
    let (header, payload) = (&item.header, item.payload.as_ref().map(Payload::bytes));
    let payload = payload.map_or("null", |bytes| std::str::from_utf8(bytes).unwrap());
    format!(
        r#"{{"id":"{}","type":"{}","owner":"{}","realizedAt":"{}","canonicalAt":"{}","hash":"{}","payloadHash":"{}","payload":{payload}}}"#,
        header.id,
        header.item_type,
        header.owner,
        header.realized_at,
        header.canonical_at,
        item.hash,
        item.payload_hash
    )
}

/// An item nobody recorded, with hashes that fit.
pub(crate) fn made_up(owner: UserId, draft: ItemDraft) -> Item {
    draft.realize(ItemId::from_bytes([0xEE; 16]), owner, START)
}

fn said(owner: UserId, item_type: ItemType, data: Value) -> Item {
    made_up(owner, ItemDraft::recorded(item_type, &object(data)))
}

pub(crate) fn created(owner: UserId, record: RecordId, content: RecordContent) -> (Record, Item) {
    let note = ChangeNote { author: owner, reason: None, act: record::Act::Plain };
    let (record, delta) = record::create(record, owner, content, note, START).unwrap();
    (record, made_up(owner, delta.to_draft()))
}

pub(crate) fn refusal(world: &World, bundle: &[u8], authority: &Authority) -> StoreError {
    let before = count(world);
    let refused = try_import(world, bundle, authority).unwrap_err();
    assert_eq!(count(world), before, "something was written although {refused}");
    refused
}

fn bad(world: &World, bundle: &[u8]) -> BadBundle {
    match refusal(world, bundle, &Authority::Installation) {
        StoreError::Bundle(bad) => bad,
        other => panic!("expected a bad bundle, got {other:?}"),
    }
}

fn is_altered(world: &World, forged: Forged, part: &str) {
    let found = bad(world, &forged.zip());
    assert!(matches!(&found, BadBundle::Altered { part: named, .. } if named == part), "{part}: {found:?}");
}

pub(crate) fn names(world: &World, bundle: &[u8], id: ItemId) {
    let found = bad(world, bundle);
    assert!(matches!(&found, BadBundle::Item { item, .. } if *item == id), "{id}: {found:?}");
}

fn id_of(line: &str) -> ItemId {
    let line: Value = serde_json::from_str(line).unwrap();
    line["id"].as_str().unwrap().parse().unwrap()
}

/// A bundle of everything of Anna's, and a store that has never heard of her.
fn bundle_and_target(world: &World) -> (Vec<u8>, World) {
    history(world);
    let target = World::sqlite();
    target.clock.advance(10_000);
    (export_all(world, user(&world.anna)), target)
}

#[test]
fn a_bundle_with_more_entries_than_the_limit_is_refused_with_a_remedy() {
    let (bundle, target) = bundle_and_target(&World::sqlite());
    let mut full = unzip(&bundle);
    let name = |number: usize| format!("blobs/{}", Digest::of(&number.to_le_bytes()));
    let blobs = usize::try_from(ENTRIES_MAX).unwrap() + 1 - full.len();
    full.extend((0..blobs).map(|number| (name(number), Vec::new())));
    let refused = bad(&target, &zip_of(&full));
    assert!(matches!(&refused, BadBundle::TooLarge { problem, .. } if problem.contains("one by one")), "{refused}");
    // With one entry fewer it is read, and refused for what it holds.
    full.remove(&name(0));
    let refused = bad(&target, &zip_of(&full));
    assert!(!matches!(refused, BadBundle::TooLarge { .. }), "{refused}");
}

both! {
    fn altered_items_are_refused(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        let forged = || Forged::of(&bundle);
        is_altered(&target, forged().with("items.jsonl", |lines| {
            let line = lines.iter_mut().find(|line| line.contains("zweite")).unwrap();
            *line = line.replace("zweite", "dritte");
        }), "items.jsonl");
        let mut untouched = unzip(&bundle);
        untouched.get_mut("items.jsonl").unwrap().pop();
        assert!(matches!(bad(&target, &zip_of(&untouched)), BadBundle::Altered { .. }));
        let gone = forged().with("items.jsonl", |lines| {
            let line = lines.iter_mut().find(|line| line.contains("not sealed yet")).unwrap();
            *line = line.replace(r#"{"description":"not sealed yet"}"#, "null");
        });
        let id = id_of(gone.lines("items.jsonl").last().unwrap());
        names(&target, &gone.zip(), id);
    }

    fn items_that_seals_name_are_all_there_in_their_order(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        let sealed = |lines: &[String]| lines.iter().position(|line| line.contains("zweite")).unwrap();
        let lines = Forged::of(&bundle).lines("items.jsonl");
        let (place, id) = (sealed(&lines), id_of(&lines[sealed(&lines)]));
        let dropped = Forged::of(&bundle).with("items.jsonl", |lines| drop(lines.remove(place)));
        names(&target, &dropped.zip(), id);
        let swapped = Forged::of(&bundle).with("items.jsonl", |lines| lines.swap(place, place + 1));
        names(&target, &swapped.zip(), id);
        let note = said(user(&world.anna), ItemType::NOTE, json!({ "description": "put in" }));
        let inserted = Forged::of(&bundle).with("items.jsonl", |lines| lines.insert(place, line_of(&note)));
        names(&target, &inserted.zip(), id);
        let cut_off = Forged::of(&bundle).with("items.jsonl", |lines| lines.truncate(place));
        names(&target, &cut_off.zip(), id);
    }

    fn altered_seals_are_refused(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        assert!(Forged::of(&bundle).lines("seals.jsonl").len() < SEAL_LEAVES_MAX);
        let forged = |edit: fn(&mut Vec<String>)| Forged::of(&bundle).with("seals.jsonl", edit);
        is_altered(&target, forged(|lines| lines[0] = lines[0].replacen("\"root\":\"", "\"root\":\"0", 1)), "seals.jsonl");
        is_altered(&target, forged(|lines| drop(lines.remove(0))), "seals.jsonl");
        is_altered(&target, forged(|lines| drop(lines.pop())), "seals.jsonl");
        is_altered(&target, Forged::of(&bundle).manifest(|manifest| manifest["head"] = Value::Null), "seals.jsonl");
    }

    fn parts_that_are_not_what_the_items_amount_to_are_refused(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        for part in ["records.jsonl", "relations.jsonl"] {
            is_altered(&target, Forged::of(&bundle).with(part, |lines| drop(lines.pop())), part);
            is_altered(&target, Forged::of(&bundle).with(part, |lines| lines[0] = lines[0].replacen('1', "2", 1)), part);
            is_altered(&target, Forged::of(&bundle).with(part, |lines| lines.push("{}".to_owned())), part);
        }
    }

    fn altered_objects_are_refused(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        let name = format!("blobs/{}", Digest::of(b"picture"));
        let mut other_bytes = Forged::of(&bundle);
        other_bytes.0.insert(name.clone(), b"pictures".to_vec());
        is_altered(&target, other_bytes, &name);
        let mut missing = Forged::of(&bundle);
        missing.0.remove(&name);
        is_altered(&target, missing, "blobs/");
        let mut more = Forged::of(&bundle);
        let stranger = format!("blobs/{}", Digest::of(b"stranger"));
        more.0.insert(stranger.clone(), b"stranger".to_vec());
        assert_eq!(bad(&target, &more.zip()), BadBundle::UnknownEntry(stranger));
    }

    fn newer_formats_and_what_is_no_bundle_are_refused_by_name(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        let newer = Forged::of(&bundle).manifest(|manifest| *manifest = json!({ "format": 3, "shape": "another" }));
        assert_eq!(bad(&target, &zip_of(&newer.0)), BadBundle::NewerFormat { found: 3 });
        let mut unfinished = unzip(&bundle);
        unfinished.remove("manifest.json");
        for nothing in [zip_of(&unfinished), bundle[..bundle.len() - 30].to_vec(), b"PK".to_vec(), Vec::new()] {
            assert!(matches!(bad(&target, &nothing), BadBundle::NotABundle(_)));
        }
        for name in ["../evil", "/etc/passwd", "blobs/../../evil", "blobs/x", "notes.txt", "items.jsonl/"] {
            let mut more = unzip(&bundle);
            more.insert(name.to_owned(), Vec::new());
            assert_eq!(bad(&target, &zip_of(&more)), BadBundle::UnknownEntry(name.to_owned()));
        }
    }

    fn sealed_secrets_that_the_manifest_does_not_name_or_that_were_altered_are_refused(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        let mut unnamed = Forged::of(&bundle);
        unnamed.0.insert("secrets.sealed.json".to_owned(), b"{}\n".to_vec());
        assert_eq!(bad(&target, &unnamed.zip()), BadBundle::UnknownEntry("secrets.sealed.json".to_owned()));
        let named = |format: u64, kept: &[u8]| {
            let mut forged = Forged::of(&bundle);
            forged.0.insert("secrets.sealed.json".to_owned(), kept.to_vec());
            let part = json!({ "lines": 1, "bytes": 3, "sha256": Digest::of(b"{}\n").to_string() });
            forged.manifest(|manifest| {
                manifest["format"] = json!(format);
                manifest["secrets"] = part;
            })
        };
        assert!(matches!(bad(&target, &named(1, b"{}\n").zip()), BadBundle::NotABundle(_)));
        for altered in [&b"[]\n"[..], b"{}\n{}\n", b""] {
            is_altered(&target, named(2, altered), "secrets.sealed.json");
        }
        try_import(&target, &named(2, b"{}\n").zip(), &Authority::Installation).unwrap();
    }

    fn a_line_that_never_ends_is_refused(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        let mut bomb = Forged::of(&bundle);
        bomb.0.insert("items.jsonl".to_owned(), vec![b' '; LINE_BYTES_MAX + 1]);
        let zip = bomb.zip();
        assert!(zip.len() < LINE_BYTES_MAX / 100);
        assert!(matches!(bad(&target, &zip), BadBundle::TooLarge { .. }));
    }

    fn the_same_id_with_another_hash_is_refused(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        try_import(&target, &bundle, &Authority::Installation).unwrap();
        let last = id_of(Forged::of(&bundle).lines("items.jsonl").last().unwrap());
        let draft = crate::fixtures::note("rewritten", None);
        let rewritten = draft.realize(last, user(&world.anna), START);
        let forged = Forged::of(&bundle).with("items.jsonl", |lines| *lines.last_mut().unwrap() = line_of(&rewritten));
        let found = bad(&target, &forged.zip());
        assert!(matches!(found, BadBundle::Differs { item, .. } if item == last), "{found:?}");
    }

    fn a_record_that_both_sides_changed_is_refused(world: &World) {
        let (owner, viewer) = (user(&world.anna), world.anna.clone());
        let record = world.write(move |tx| tx.create_record(&viewer, content("Budget", json!({ "at": 1 })), None));
        let target = World::sqlite();
        try_import(&target, &export_all(world, owner), &Authority::Installation).unwrap();
        for (side, number) in [(world, 2), (&target, 3)] {
            let next = content("Budget", json!({ "at": number }));
            side.write(move |tx| tx.update_record(&Viewer::User(owner), record.id, record.hash, next.clone(), None));
        }
        world.note("would come along");
        let found = bad(&target, &export_all(world, owner));
        assert!(matches!(found, BadBundle::Diverged { record: named, .. } if named == record.id), "{found:?}");
    }

    fn histories_that_do_not_hold_together_are_refused(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        let owner = user(&world.anna);
        let (record, first) = created(owner, RecordId::from_bytes([0xDD; 16]), content("Budget", json!({ "at": 1 })));
        let note = ChangeNote { author: owner, reason: None, act: record::Act::Plain };
        let changed = record::update(&record, record.hash, content("Budget", json!({ "at": 2 })), note, START);
        let (_, delta) = changed.unwrap().unwrap();
        let alone = made_up(owner, delta.to_draft());
        let skipping = made_up(owner, Delta { version: 3, ..delta.clone() }.to_draft());
        let mistyped = made_up(owner, Delta { record_type: RecordType::parse("Note").unwrap(), ..delta }.to_draft());
        names(&target, &Forged::of(&bundle).and(&alone).zip(), alone.header.id);
        for mut next in [skipping, mistyped] {
            next.header.id = ItemId::from_bytes([0xEF; 16]);
            next.hash = next.header.hash(&next.payload_hash);
            names(&target, &Forged::of(&bundle).and(&first).and(&next).zip(), next.header.id);
        }
        let picture = Digest::of(b"picture").to_string();
        let edited = json!({ "relationId": "rel_01ARZ3NDEKTSV4RRFFQ69G5FAV", "confidence": null, "metadata": {} });
        for item in [
            said(owner, ItemType::RELATION_EDITED, edited.clone()),
            said(owner, ItemType::RELATION_REMOVED, edited),
            said(owner, ItemType::ENTITY_DELTA, json!({})),
            said(owner, ItemType::SEAL, json!({})),
            said(owner, ItemType::BLOB_ATTACHED, json!({ "hash": picture, "mediaType": "a/b\r\nX: y", "size": 7 })),
        ] {
            names(&target, &Forged::of(&bundle).and(&item).zip(), item.header.id);
        }
        let mut late = said(owner, ItemType::NOTE, json!({ "description": "from the future" }));
        late.header.realized_at = Millis::MAX;
        late.hash = late.header.hash(&late.payload_hash);
        names(&target, &Forged::of(&bundle).and(&late).zip(), late.header.id);
    }

    fn nothing_in_a_bundle_reaches_what_is_anothers(world: &World) {
        let victim = world.note_by(&world.bert, "Bert's").item;
        let (bert, anna) = (world.bert.clone(), user(&world.anna));
        let record = world.write(move |tx| {
            let mut shared = content("Budget", json!({ "at": 1 }));
            shared.shared = true;
            tx.create_record(&bert, shared, None)
        });
        let bundle = export_all(world, anna);
        let target = json!({ "itemId": victim.header.id.to_string(), "payloadHash": victim.payload_hash.to_string(), "reason": "r" });
        let corrected = json!({ "itemId": victim.header.id.to_string(), "canonicalAt": START.to_string() });
        let override_time = created(anna, RecordId::from_bytes([0xDD; 16]), content("TimeOverride", corrected)).1;
        for authority in [Authority::Installation, Authority::Owner(world.anna.clone())] {
            for item in [
                said(anna, ItemType::REDACTION, target.clone()),
                said(anna, ItemType::TOMBSTONE, target.clone()),
                override_time.clone(),
                created(anna, record.id, record.content.clone()).1,
            ] {
                let refused = refusal(world, &Forged::of(&bundle).and(&item).zip(), &authority);
                assert!(matches!(refused, StoreError::Bundle(BadBundle::Item { .. } | BadBundle::Unusable { .. })), "{refused:?}");
            }
        }
        let bert = world.bert.clone();
        assert!(world.read(move |tx| tx.item(&bert, victim.header.id)).item.payload.is_some());
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_user_imports_their_own_things_only(world: &World) {
        let (bundle, target) = bundle_and_target(world);
        let refused = refusal(&target, &bundle, &Authority::Owner(target.anna.clone()));
        assert!(matches!(refused, StoreError::Forbidden), "{refused:?}");
        let bert = user(&world.bert);
        let smuggled = said(bert, ItemType::NOTE, json!({ "description": "in Bert's name" }));
        is_altered(&target, Forged::of(&bundle).and(&smuggled), "items.jsonl");
    }

    fn a_user_gains_no_rights_by_importing(world: &World) {
        let anna = user(&world.anna);
        let bundle = export_all(world, anna);
        let own = Authority::Owner(world.anna.clone());
        let me = world.read(move |tx| tx.record(&Viewer::User(anna), anna.into()));
        let note = ChangeNote { author: anna, reason: None, act: record::Act::Plain };
        let admin = content("User", json!({ "name": "anna", "role": "admin" }));
        let (_, promotion) = record::update(&me, me.hash, admin, note, START).unwrap().unwrap();
        let disguised = Delta { record_type: RecordType::parse("Budget").unwrap(), ..promotion.clone() };
        let key = json!({ "name": "k", "scope": "admin", "keyHash": Digest::of(b"known").to_string() });
        let key = created(anna, RecordId::from_bytes([0xDD; 16]), content("ApiKey", key)).1;
        let setting = created(anna, RecordId::from_bytes([0xDD; 16]), content("Setting", json!({ "name": "s", "value": 1 }))).1;
        let endpoint = created(anna, RecordId::from_bytes([0xDD; 16]), content("AllowedEndpoint", json!({ "host": "127.0.0.1" }))).1;
        for item in [made_up(anna, promotion.to_draft()), key, setting, endpoint] {
            let refused = refusal(world, &Forged::of(&bundle).and(&item).zip(), &own);
            assert_eq!(rule_of(Err::<(), _>(refused)), "MG-CORE-007");
        }
        let disguised = made_up(anna, disguised.to_draft());
        names(world, &Forged::of(&bundle).and(&disguised).zip(), disguised.header.id);
        for name in [
            "grant.made", "grant", "user.changed", "key.made", "", "vault.rotated", "endpoint.allowed", "session.begun", "secret.created",
            "branch.created",
        ] {
            let refused = refusal(world, &Forged::of(&bundle).and(&made_up(anna, event(name))).zip(), &own);
            assert_eq!(rule_of(Err::<(), _>(refused)), "MG-SOIL-003");
        }
        let unseen = said(anna, ItemType::BLOB_ATTACHED, json!({ "hash": Digest::of(b"unseen").to_string(), "mediaType": "image/png", "size": 6 }));
        let lost = Forged::of(&bundle).and(&unseen).manifest(|manifest| manifest["lostBlobs"] = json!([Digest::of(b"unseen").to_string()]));
        let refused = refusal(world, &lost.zip(), &own);
        assert!(matches!(refused, StoreError::Bundle(BadBundle::Item { item, .. }) if item == unseen.header.id), "{refused:?}");
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_user_brings_back_an_event_that_a_seal_of_this_installation_covers(world: &World) {
        let (viewer, anna) = (world.anna.clone(), user(&world.anna));
        let told = world.write(move |tx| tx.append_item(&viewer, &event("branch.created"))).item.header.id;
        world.seal();
        let bundle = export_all(world, anna);
        let lost = format!("DELETE FROM items WHERE id = {}", world.hex(told.as_bytes()));
        assert_eq!(world.tamper_unguarded(&lost), Ok(1));
        let own = Authority::Owner(world.anna.clone());
        assert_eq!(try_import(world, &bundle, &own).unwrap().added, 1);
    }

    fn an_id_of_another_owner_tells_nothing_about_what_it_names(world: &World) {
        let (note, anna) = (world.note_by(&world.bert, "Bert's").item, user(&world.anna));
        let bert = world.bert.clone();
        let record = world.write(move |tx| tx.create_record(&bert, content("Budget", json!({ "at": 1 })), None));
        let bundle = export_all(world, anna);
        let draft = ItemDraft::recorded(ItemType::NOTE, &object(json!({ "description": "mine" })));
        let same_id = draft.realize(note.header.id, anna, START);
        let same_record = created(anna, record.id, content("Budget", json!({ "at": 2 }))).1;
        for item in [same_id, same_record] {
            let refused = refusal(world, &Forged::of(&bundle).and(&item).zip(), &Authority::Owner(world.anna.clone()));
            let told = refused.to_string();
            let is_unusable = matches!(refused, StoreError::Bundle(BadBundle::Unusable { item: named }) if named == item.header.id);
            assert!(is_unusable, "one answer for either: {told}");
            assert!(!told.contains(&note.hash.to_string()) && !told.contains(&record.id.to_string()), "{told}");
        }
    }
}

#[test]
fn whichever_byte_of_a_bundle_is_flipped_it_is_refused_or_means_the_same() {
    let world = World::sqlite();
    let (bundle, target) = bundle_and_target(&world);
    let mut taken = 0;
    for place in (0..bundle.len()).step_by(29) {
        let mut flipped = bundle.clone();
        flipped[place] ^= 1;
        // A few bytes of a zip file mean nothing, such as the time of an entry.
        taken += u32::from(try_import(&target, &flipped, &Authority::Installation).is_ok());
    }
    try_import(&target, &bundle, &Authority::Installation).unwrap();
    assert!(taken < 50, "{taken} altered bundles were taken");
    cut(&target);
    assert!(kept(&export_all(&target, user(&world.anna))) == kept(&bundle));
    assert_eq!(target.verify(true).breaks, []);
}
