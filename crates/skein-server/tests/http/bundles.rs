//! Bundles over HTTP: out of one server and into another, with nothing lost and nobody's things taken.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};

use axum::body::Bytes;
use axum::http::StatusCode;
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::garden::item::{Item, ItemDraft, ItemType};
use skein_core::{Digest, ItemId, UserId, Viewer};
use skein_store::Tx;

use crate::conversation_fixture::{CONVERSATIONS, ConversationFixture};
use crate::server_fixture::{ServerFixture, both};

const ZIP: &str = "application/zip";
const STATED: [&str; 3] = ["items.jsonl", "records.jsonl", "relations.jsonl"];

async fn export(world: &ServerFixture) -> Bytes {
    world.settled().await;
    let made = world.made("/api/v1/exports", &json!({})).await;
    assert_eq!(made["id"], made["operationId"]);
    world.download(made["downloadUrl"].as_str().unwrap()).await
}

async fn import(world: &ServerFixture, bundle: &Bytes) -> crate::server_fixture::Answer {
    world.upload("/api/v1/imports", ZIP, bundle.clone()).await
}

/// The files of a bundle that hold what was stated.
fn contents(bundle: &Bytes) -> BTreeMap<String, Vec<u8>> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bundle.clone())).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    let kept = names.into_iter().filter(|name| STATED.contains(&name.as_str()) || name.starts_with("blobs/"));
    kept.map(|name| {
        let mut bytes = Vec::new();
        archive.by_name(&name).unwrap().read_to_end(&mut bytes).unwrap();
        (name, bytes)
    })
    .collect()
}

/// Somebody with a little of everything.
async fn somebody(world: &ServerFixture) -> ServerFixture {
    let anna = world.joined_by("anna", Role::User, Scope::Write).await;
    let (a, b) = (anna.note("a").await, anna.note("b").await);
    let relation = json!({ "kind": "mentions", "source": a["id"], "target": b["id"] });
    anna.made("/api/v1/relations", &relation).await;
    let path = format!("/api/v1/items/{}/canonical-time", a["id"].as_str().unwrap());
    anna.change("PUT", &path, r#"{"canonicalAt":"2020-01-01T00:00:00Z"}"#).await;
    anna.upload("/api/v1/blobs", "text/plain", "bytes").await;
    anna
}

/// The same person on another server.
async fn on(world: &ServerFixture, user: UserId) -> ServerFixture {
    world.clone().asked_by(Viewer::User(user), Scope::Write).await
}

both! {
    async fn an_export_that_no_import_takes_is_refused_before_it_is_begun(world: &ServerFixture) {
        let anna = somebody(world).await;
        let talk = ConversationFixture::of(&anna, &anna.made(CONVERSATIONS, &json!({})).await);
        talk.say(None, "A heron.").await;
        let of_talk = json!({ "conversationId": talk.shown().await["id"] });
        anna.made("/api/v1/exports", &json!({})).await;
        let owner = anna.admin.clone();
        let attach = move |tx: &mut Tx<'_>| {
            // The same object twice is one entry.
            for (bytes, size) in [("one", 5_i64 << 30), ("one", 5 << 30), ("other", 2 << 30)] {
                let told = json!({ "hash": Digest::of(bytes.as_bytes()), "size": size, "mediaType": "video/mp4" });
                tx.append_item(&owner, &ItemDraft::recorded(ItemType::BLOB_ATTACHED, told.as_object().unwrap()))?;
            }
            Ok(())
        };
        world.store.write(attach).await.unwrap();
        anna.made("/api/v1/exports", &json!({})).await;
        let owner = anna.admin.clone();
        let told = json!({ "hash": Digest::of(b"third"), "size": 1_i64 << 30, "mediaType": "video/mp4" });
        let draft = ItemDraft::recorded(ItemType::BLOB_ATTACHED, told.as_object().unwrap());
        world.store.write(move |tx| tx.append_item(&owner, &draft).map(drop)).await.unwrap();
        let mark = world.mark().await;
        for body in [json!({}), json!({ "withSecrets": true })] {
            let refused = anna.post("/api/v1/exports", body.to_string()).await;
            assert_eq!(refused.refused(), (422, "bundle_too_large".to_owned()), "{}", refused.text);
            let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains("8589934592") && message.contains("export single conversations"), "{message}");
        }
        assert_eq!(world.written_since(mark).await, 0);
        anna.made("/api/v1/exports", &of_talk).await;
    }

    async fn a_user_moves_in_whole_and_what_they_export_there_is_the_same(old: &ServerFixture) {
        let new = old.another().await;
        let anna = somebody(old).await;
        let bundle = export(&anna).await;
        let brought = import(&new, &bundle).await;
        assert_eq!(brought.status, StatusCode::OK, "{}", brought.text);
        let count = brought.json();
        assert!(count["added"].as_u64().unwrap() > 5 && count["skipped"] == 0 && count["blobs"] == 1, "{count}");

        let there = on(&new, anna.admin.owner()).await;
        let notes = async |world: &ServerFixture| world.get("/api/v1/items?type=Note").await.json()["data"].clone();
        let without_cursor = |mut notes: Value| {
            for note in notes.as_array_mut().unwrap() {
                note.as_object_mut().unwrap().remove("cursor");
            }
            notes
        };
        assert_eq!(without_cursor(notes(&there).await), without_cursor(notes(&anna).await));
        let (first, second) = (contents(&bundle), contents(&export(&there).await));
        let whole = |name: &&String| !["items.jsonl", "records.jsonl"].contains(&name.as_str());
        for name in first.keys().filter(whole) {
            assert_eq!(first[name], second[name], "{name}");
        }
        // To be asked there, they got one key there: it comes after everything they brought.
        assert_eq!(
            lines(&second, "items.jsonl").split_at(lines(&first, "items.jsonl").len()).0,
            lines(&first, "items.jsonl")
        );
        let records = lines(&second, "records.jsonl");
        assert!(lines(&first, "records.jsonl").iter().all(|record| records.contains(record)), "{records:#?}");
        assert_eq!(records.len(), lines(&first, "records.jsonl").len() + 1);
    }
}

fn lines(contents: &BTreeMap<String, Vec<u8>>, name: &str) -> Vec<String> {
    std::str::from_utf8(&contents[name]).unwrap().lines().map(str::to_owned).collect()
}

both! {
    async fn importing_again_brings_nothing_and_a_replay_says_what_the_first_brought(old: &ServerFixture) {
        let new = old.another().await;
        let anna = somebody(old).await;
        let bundle = export(&anna).await;
        let first = import(&new, &bundle).await.json();
        let there = on(&new, anna.admin.owner()).await;
        let again = import(&there, &bundle).await.json();
        assert_eq!((&again["added"], &again["skipped"], &again["blobs"]), (&json!(0), &first["added"], &json!(0)));

        let key = crate::server_fixture::fresh_key();
        let send = async |bundle: Bytes| {
            let request = there.request("POST", "/api/v1/imports").header("content-type", ZIP);
            there.send(request.header("idempotency-key", &key).body(bundle.into()).unwrap()).await
        };
        let (one, two) = (send(bundle.clone()).await, send(bundle.clone()).await);
        assert_eq!((two.json(), two.header("idempotent-replayed")), (one.json(), "true"));
        let other = send(Bytes::from_static(b"PK")).await;
        assert_eq!(other.refused(), (409, "idempotency_payload_mismatch".to_owned()));
    }

    async fn nobody_takes_in_what_belongs_to_another(old: &ServerFixture) {
        let new = old.another().await;
        let anna = somebody(old).await;
        let bundle = export(&anna).await;
        let bert = old.joined_by("bert", Role::User, Scope::Write).await;
        let refused = import(&bert, &bundle).await;
        assert_eq!(refused.status, StatusCode::FORBIDDEN, "{}", refused.text);
        let stranger = new.joined_by("bert", Role::User, Scope::Write).await;
        assert_eq!(import(&stranger, &bundle).await.status, StatusCode::FORBIDDEN);
        // Not even an administrator, whether they are here or not: only a command on the server's own machine.
        let admin = old.joined_by("root", Role::Admin, Scope::Admin).await;
        assert_eq!(import(&admin, &bundle).await.status, StatusCode::FORBIDDEN);
        let stranger = new.joined_by("root", Role::Admin, Scope::Admin).await;
        assert_eq!(import(&stranger, &bundle).await.status, StatusCode::FORBIDDEN);
        assert_eq!(new.get("/api/v1/users").await.json()["data"].as_array().unwrap().len(), 3);
    }

    async fn what_is_no_bundle_is_refused_and_the_key_is_free_again(world: &ServerFixture) {
        let key = crate::server_fixture::fresh_key();
        let send = async |media_type: &str, bytes: &'static [u8]| {
            let request = world.request("POST", "/api/v1/imports").header("content-type", media_type);
            world.send(request.header("idempotency-key", &key).body(bytes.into()).unwrap()).await
        };
        assert_eq!(send("application/json", b"{}").await.refused(), (415, "unsupported_media_type".to_owned()));
        assert_eq!(send(ZIP, b"PK nothing").await.refused(), (400, "invalid_bundle".to_owned()));
        assert_eq!(send(ZIP, b"").await.refused(), (400, "invalid_bundle".to_owned()));
    }

    async fn an_export_is_downloaded_by_its_owner_as_often_as_it_takes(world: &ServerFixture) {
        let anna = somebody(world).await;
        let made = anna.made("/api/v1/exports", &json!({})).await;
        let path = made["downloadUrl"].as_str().unwrap();
        let first = anna.download(path).await;
        anna.note("later").await;
        assert_eq!(contents(&anna.download(path).await), contents(&first));
        assert_eq!(world.get(path).await.refused(), (404, "not_found".to_owned()));
        let note = anna.note("no export").await;
        let other = format!("/api/v1/exports/{}", note["operationId"].as_str().unwrap());
        assert_eq!(anna.get(&other).await.refused(), (404, "not_found".to_owned()));
    }
}

const PHRASE: &str = "correct horse battery staple";

fn with_phrase(request: axum::http::request::Builder, phrase: &str) -> axum::http::request::Builder {
    request.header("skein-passphrase", base64::Engine::encode(&base64::engine::general_purpose::STANDARD, phrase))
}

async fn key_of(world: &ServerFixture) -> String {
    let secret = json!({ "name": "key", "type": "api_key", "value": "canary-7f9c24e53b1a" });
    world.made("/api/v1/secrets", &secret).await["id"].as_str().unwrap().to_owned()
}

/// A bundle with secrets under [`PHRASE`].
async fn sealed_export(world: &ServerFixture) -> Bytes {
    world.settled().await;
    let made = world.made("/api/v1/exports", &json!({ "withSecrets": true })).await;
    let request = with_phrase(world.request("GET", made["downloadUrl"].as_str().unwrap()), PHRASE);
    let response = world.begin(request.body(axum::body::Body::empty()).unwrap()).await;
    assert_eq!(response.status(), StatusCode::OK);
    axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap()
}

async fn import_with(world: &ServerFixture, bundle: &Bytes, phrase: &str) -> crate::server_fixture::Answer {
    let request = with_phrase(world.request("POST", "/api/v1/imports"), phrase).header("content-type", ZIP);
    world
        .send(
            request.header("idempotency-key", crate::server_fixture::fresh_key()).body(bundle.clone().into()).unwrap(),
        )
        .await
}

async fn values(world: &ServerFixture) -> i64 {
    world.store.read(|tx| tx.count_sealed(&Viewer::System("test"), "")).await.unwrap().0
}

both! {
    async fn secrets_travel_under_a_passphrase_and_a_wrong_one_brings_nothing(old: &ServerFixture) {
        let new = old.another().await;
        let anna = somebody(old).await;
        key_of(&anna).await;
        let bundle = sealed_export(&anna).await;
        let before = new.count().await;
        let wrong = import_with(&new, &bundle, "correct horse battery stable").await;
        assert_eq!(wrong.refused(), (422, "wrong_passphrase".to_owned()));
        let users = |world: ServerFixture| async move { world.get("/api/v1/users").await.json()["data"].as_array().unwrap().len() };
        assert_eq!((new.count().await, users(new.clone()).await, values(&new).await), (before, 1, 0));
        let brought = import_with(&new, &bundle, PHRASE).await.json();
        assert_eq!((&brought["secretValues"], &brought["secretsWithoutValue"]), (&json!(1), &json!(0)), "{brought}");
        assert_eq!(values(&new).await, 1);
        let again = import_with(&new, &bundle, PHRASE).await.json();
        assert_eq!((&again["added"], &again["secretValues"]), (&json!(0), &json!(0)), "{again}");
    }

    async fn without_the_passphrase_an_import_says_which_secrets_wait(old: &ServerFixture) {
        let new = old.another().await;
        let anna = somebody(old).await;
        key_of(&anna).await;
        let bundle = sealed_export(&anna).await;
        let brought = import(&new, &bundle).await.json();
        assert_eq!((&brought["secretValues"], &brought["secretsWithoutValue"]), (&json!(0), &json!(1)), "{brought}");
        assert_eq!(values(&new).await, 0);
        let plain = export(&anna).await;
        assert_eq!(import_with(&new, &plain, PHRASE).await.refused(), (400, "passphrase_unused".to_owned()));
    }
}

#[tokio::test]
async fn secrets_come_out_only_when_asked_for_with_a_passphrase_by_their_owner_alone() {
    let world = ServerFixture::new().await;
    let anna = somebody(&world).await;
    key_of(&anna).await;
    let plain = anna.made("/api/v1/exports", &json!({})).await;
    assert_eq!(plain["withSecrets"], false);
    let made = anna.made("/api/v1/exports", &json!({ "withSecrets": true })).await;
    let path = made["downloadUrl"].as_str().unwrap();
    let ask = async |world: &ServerFixture, path: &str, phrase: &str| {
        world.send(with_phrase(world.request("GET", path), phrase).body(axum::body::Body::empty()).unwrap()).await
    };
    assert_eq!(anna.get(path).await.refused(), (400, "passphrase_required".to_owned()));
    let unused = ask(&anna, plain["downloadUrl"].as_str().unwrap(), PHRASE).await;
    assert_eq!(unused.refused(), (400, "passphrase_unused".to_owned()));
    let short = ask(&anna, path, "short").await;
    assert_eq!(short.refused(), (400, "invalid_passphrase".to_owned()));
    assert!(!short.text.contains("short"), "{}", short.text);
    let reader = anna.with_key(anna.new_key(Scope::Read).await);
    assert_eq!(ask(&reader, path, PHRASE).await.refused(), (403, "permission_denied".to_owned()));
    let root = world.joined_by("root", Role::Admin, Scope::Admin).await;
    assert_eq!(ask(&root, path, PHRASE).await.refused(), (404, "not_found".to_owned()));
    let writer = root.with_key(root.new_key(Scope::Write).await);
    let refused = writer.post("/api/v1/exports", r#"{"withSecrets":true}"#).await;
    assert_eq!(refused.refused(), (403, "permission_denied".to_owned()));
}

#[tokio::test]
async fn a_grant_opens_nobodys_secrets() {
    let world = ServerFixture::new().await;
    let anna = somebody(&world).await;
    key_of(&anna).await;
    let path = anna.made("/api/v1/exports", &json!({ "withSecrets": true })).await["downloadUrl"].clone();
    let until = world.store.read(|tx| Ok(tx.now().plus(60_000))).await.unwrap();
    let grant = json!({ "ownerId": anna.admin.owner(), "name": "look", "reason": "asked to", "until": until });
    let grant = world.made("/api/v1/grants", &grant).await["id"].as_str().unwrap().to_owned();
    let request = with_phrase(world.request("GET", path.as_str().unwrap()), PHRASE).header("skein-grant", grant);
    let status = world.status_of(request.body(axum::body::Body::empty()).unwrap()).await;
    assert!([StatusCode::FORBIDDEN, StatusCode::NOT_FOUND].contains(&status), "{status}");
}

#[tokio::test]
async fn a_value_that_was_replaced_since_the_cut_stays_behind() {
    let (old, new) = (ServerFixture::new().await, ServerFixture::new().await);
    let anna = somebody(&old).await;
    let secret = key_of(&anna).await;
    let made = anna.made("/api/v1/exports", &json!({ "withSecrets": true })).await;
    anna.changed("PUT", &format!("/api/v1/secrets/{secret}"), &json!({ "value": "canary-5f3c9a7e0d6f" })).await;
    let request = with_phrase(anna.request("GET", made["downloadUrl"].as_str().unwrap()), PHRASE);
    let response = anna.begin(request.body(axum::body::Body::empty()).unwrap()).await;
    let bundle = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
    let brought = import_with(&new, &bundle, PHRASE).await.json();
    assert_eq!((&brought["secretValues"], &brought["secretsWithoutValue"]), (&json!(0), &json!(1)), "{brought}");
}

/// A bundle with one more item at its end, put right by somebody who knows how.
fn with_item(bundle: &Bytes, item: &Item) -> Bytes {
    let header = &item.header;
    let line = format!(
        r#"{{"id":"{}","type":"{}","owner":"{}","realizedAt":"{}","canonicalAt":"{}","hash":"{}","payloadHash":"{}","payload":{}}}"#,
        header.id,
        header.item_type,
        header.owner,
        header.realized_at,
        header.canonical_at,
        item.hash,
        item.payload_hash,
        std::str::from_utf8(item.payload.as_ref().unwrap().bytes()).unwrap()
    );
    let mut archive = zip::ZipArchive::new(Cursor::new(bundle.clone())).unwrap();
    let mut parts = BTreeMap::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        parts.insert(entry.name().unwrap().into_owned(), bytes);
    }
    let items = parts.get_mut("items.jsonl").unwrap();
    items.extend(format!("{line}\n").bytes());
    let lines = items.split_inclusive(|byte| *byte == b'\n').count();
    let told = json!({ "lines": lines, "bytes": items.len(), "sha256": Digest::of(items).to_string() });
    let mut manifest: Value = serde_json::from_slice(&parts["manifest.json"]).unwrap();
    manifest["items"] = told;
    parts.insert("manifest.json".to_owned(), manifest.to_string().into_bytes());
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in &parts {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner().into()
}

both! {
    async fn mg_soil_005_what_a_user_adds_to_their_own_bundle_obeys_the_rules_of_the_acts_refuses(world: &ServerFixture) {
        let anna = somebody(world).await;
        let (bundle, before) = (export(&anna).await, anna.count().await);
        let data = |data: Value| data.as_object().unwrap().clone();
        let now = world.store.read(|tx| Ok(tx.now())).await.unwrap();
        let item = |item_type: &str, payload: Value| {
            let draft = ItemDraft::recorded(ItemType::parse(item_type).unwrap(), &data(payload));
            draft.realize(ItemId::from_bytes([0xE1; 16]), anna.admin.owner(), now)
        };
        let made = anna.get("/api/v1/items?type=EntityDelta").await.json()["data"][0]["id"].clone();
        for (added, rule) in [
            (item("Tombstone", json!({ "itemId": made, "reason": "undo" })), "MG-SOIL-005"),
            (item("Weather2", json!({ "replies_to": "x", "_hidden": 1 })), "MG-SOIL-004"),
            (item("Note", json!({ "title": 3 })), "MG-SOIL-009"),
        ] {
            let refused = import(&anna, &with_item(&bundle, &added)).await;
            assert_eq!((refused.status, refused.json()["error"]["rule"].clone()), (StatusCode::UNPROCESSABLE_ENTITY, json!(rule)), "{}", refused.text);
        }
        assert_eq!(anna.count().await, before);
        let brought = import(&anna, &with_item(&bundle, &item("Note", json!({ "description": "written elsewhere" })))).await;
        assert_eq!(brought.json()["added"], 1, "{}", brought.text);
    }
}
