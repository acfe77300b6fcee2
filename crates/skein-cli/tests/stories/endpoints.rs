//! Every command against the real API, without a server and through one: the answers are the same.

use std::path::Path;

use serde_json::Value;
use skein_core::Millis;

use crate::server::{Finished, Home};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn json(finished: Finished) -> Value {
    let out = finished.assert_ok();
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

fn line(finished: Finished) -> String {
    let out = finished.assert_ok();
    assert_eq!(out.lines().count(), 1, "{out}");
    out.trim().to_owned()
}

fn code(finished: &Finished, expected: i32, told: &str) {
    assert_eq!(finished.code(), Some(expected), "{}\n{}", finished.out, finished.err);
    assert!(finished.err.contains(told) && finished.err.contains("hint: "), "{}", finished.err);
}

/// The same story on a directory nobody holds, then on one a server holds; afterwards everything verifies.
fn both_ways(story: fn(&Home, &Path)) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(&folder.path().join("alone"));
    home.run(&["init"]).assert_ok();
    story(&home, folder.path());
    home.run(&["verify", "--deep"]).assert_ok();

    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(&folder.path().join("served"));
    let mut server = home.serve();
    story(&home, folder.path());
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn users_are_added_listed_shown_and_changed() {
    both_ways(|home, _| {
        let anna = json(home.run(&["user", "add", "anna", "--json"]));
        let id = anna["id"].as_str().unwrap();
        assert!(anna["signInLink"]["url"].as_str().unwrap().contains("/sign-in/"), "{anna}");
        let list = home.run(&["user", "list"]).assert_ok();
        assert!(list.contains(id) && list.contains("anna"), "{list}");
        let changed = json(home.run(&["user", "change", id, "--role", "admin", "--json"]));
        assert_eq!((&changed["role"], &changed["name"]), (&"admin".into(), &"anna".into()));
        assert_eq!(json(home.run(&["user", "show", id, "--json"]))["role"], "admin");
        code(&home.run(&["user", "show", "user_01HQ3K4N7Y8M2P5R6T9W0X1Z2A"]), 8, "user_");
    });
}

#[test]
fn keys_are_shown_once_do_what_their_scope_says_and_end_at_once() {
    both_ways(|home, _| {
        let key = line(home.run(&["key", "create", "laptop", "--scope", "read", "--quiet"]));
        assert!(key.starts_with("sk_"));
        home.run(&["item", "list", "--key", &key]).assert_ok();
        code(&home.run(&["item", "add", "x", "--key", &key]), 7, "");
        let list = json(home.run(&["key", "list", "--json", "--all"]));
        assert!(!list.to_string().contains(&key));
        let keys = list["data"].as_array().unwrap();
        let id = keys.iter().find(|key| key["name"] == "laptop").unwrap()["id"].as_str().unwrap();
        assert!(json(home.run(&["key", "revoke", id, "--json"]))["revokedAt"].is_string());
        code(&home.run(&["item", "list", "--key", &key]), 7, "");
    });
}

#[test]
fn lists_for_programs_say_where_they_go_on() {
    both_ways(|home, _| {
        for text in ["one", "two", "three"] {
            home.run(&["item", "add", text, "-q"]).assert_ok();
        }
        let first = json(home.run(&["item", "list", "--type", "Note", "--limit", "2", "--json"]));
        let next = first["pagination"]["next"].as_str().unwrap();
        let rest = json(home.run(&["item", "list", "--type", "Note", "--json", "--cursor", next]));
        assert_eq!((first["data"].as_array().unwrap().len(), rest["data"].as_array().unwrap().len()), (2, 1));
        assert!(rest["pagination"]["next"].is_null(), "{rest}");
        code(&home.run(&["item", "list", "--cursor", "nonsense"]), 2, "cursor");
    });
}

#[test]
fn browsers_are_listed_and_signed_out() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    // Whoever starts a server in these stories signs in by the link it prints.
    let server = home.serve();
    let id = line(home.run(&["session", "list", "--quiet"]));
    assert!(home.run(&["session", "list"]).assert_ok().contains(&id));
    assert_eq!(json(home.run(&["session", "end", &id, "--json"]))["ended"], true);
    assert_eq!(json(home.run(&["session", "list", "--json"]))["data"].as_array().unwrap().len(), 0);
    assert_eq!(server.get("/api/v1/account").status, 200);
    code(&home.run(&["session", "end", &id]), 8, "session_");
    code(&home.run(&["session", "end", "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A"]), 2, "session list");
}

#[test]
fn items_are_taken_back_moved_in_time_and_redacted() {
    both_ways(|home, _| {
        let item = line(home.run(&["item", "add", "a secret", "-q"]));
        let moved = json(home.run(&["item", "time", &item, "2020-01-31T12:00:00Z", "--json"]));
        assert_eq!(moved["canonicalAt"], "2020-01-31T12:00:00.000Z");
        let back = json(home.run(&["item", "time", &item, "--clear", "--json"]));
        assert_ne!(back["canonicalAt"], moved["canonicalAt"]);
        code(&home.run(&["redact", &item, "--reason", "asked to"]), 2, "--yes");
        let redacted = json(home.run(&["redact", &item, "--reason", "asked to", "--yes", "--json"]));
        assert!(redacted["redacted"] == true && redacted["data"].is_null(), "{redacted}");
        assert!(!home.run(&["item", "show", &item]).assert_ok().contains("a secret"));
        let other = line(home.run(&["item", "add", "a mistake", "-q"]));
        home.run(&["item", "undo", &other]).assert_ok();
        assert!(!home.run(&["item", "list", "-q", "--all"]).assert_ok().contains(&other));
    });
}

#[test]
fn relations_are_added_followed_and_removed() {
    both_ways(|home, _| {
        let [rain, mud] = ["rain", "mud"].map(|text| line(home.run(&["item", "add", text, "-q"])));
        let add = ["relation", "add", "derived_from", &mud, &rain, "--confidence", "0.5", "--metadata"];
        let relation = line(home.run(&[&add[..], &[r#"{"inferred":true,"a":1}"#, "-q"]].concat()));
        code(&home.run(&[&add[..], &["{}"]].concat()), 6, "MG-REL-009");
        let stated = ["relation", "add", "triggers", &rain, &mud, "--confidence", "0.5"];
        code(&home.run(&stated), 6, "MG-REL-007");
        let shown = json(home.run(&["relation", "show", &relation, "--json"]));
        assert_eq!((&shown["confidence"], &shown["metadata"]["a"]), (&0.5.into(), &1.into()));
        let along = |words: &[&str]| home.run(&[words, &["--kind", "derived_from"]].concat());
        let list = along(&["relation", "list", &rain, "--side", "target"]).assert_ok();
        assert!(list.contains(&relation) && list.contains(&mud), "{list}");
        let chain = along(&["relation", "chain", &mud]).assert_ok();
        let [heading, step] = &chain.lines().collect::<Vec<_>>()[..] else { panic!("{chain}") };
        assert_eq!(heading.split_whitespace().collect::<Vec<_>>(), ["ID", "TYPE", "DISTANCE"]);
        assert_eq!(step.split_whitespace().collect::<Vec<_>>(), [&rain, "item", "1"]);
        let back = along(&["relation", "chain", &rain, "--direction", "backward", "--limit", "1", "-q"]);
        assert_eq!(line(back), mud);
        home.run(&["relation", "remove", &relation, "--reason", "it did not"]).assert_ok();
        assert!(along(&["relation", "list", &mud]).assert_ok().contains("There are none."));
    });
}

#[test]
fn the_history_of_a_record_is_listed_compared_and_gone_back_to() {
    both_ways(|home, _| {
        let user = line(home.run(&["user", "list", "-q"]));
        let name = json(home.run(&["user", "show", &user, "--json"]))["name"].as_str().unwrap().to_owned();
        home.run(&["user", "change", &user, "--name", "anne"]).assert_ok();
        // A user's own record has the same bits as the user.
        let record = user.replace("user_", "entity_");
        let versions = json(home.run(&["history", &record, "--json"]));
        assert_eq!(versions["data"].as_array().unwrap().len(), 2, "{versions}");
        let list = home.run(&["history", &record]).assert_ok();
        let latest = &versions["data"][1];
        assert!(
            ["at", "itemId", "newHash"].iter().all(|field| list.contains(latest[field].as_str().unwrap())),
            "{list}"
        );
        let changes = home.run(&["history", &record, "--diff", "1..2"]).assert_ok();
        let expected = ["name", &name, "anne"];
        let told = |line: &str| expected.iter().all(|word| line.contains(word));
        assert!(changes.lines().any(told), "{changes}");
        assert_eq!(json(home.run(&["history", &record, "--version", "1", "--json"]))["data"]["name"], *name);
        let now = "2999-01-01T00:00:00Z";
        assert_eq!(json(home.run(&["history", &record, "--at", now, "--json"]))["data"]["name"], "anne");
        code(&home.run(&["history", &record, "--version", "9"]), 8, "");
    });
}

#[test]
fn an_administrator_sees_the_things_of_others_only_under_a_grant() {
    both_ways(|home, _| {
        let owner = json(home.run(&["user", "add", "anna", "--json"]));
        let grant = look_at(home, &owner["id"], &owner["createdAt"]);
        assert!(home.run(&["grant", "list"]).assert_ok().contains(&grant));
        home.run(&["item", "list", "--grant", &grant]).assert_ok();
        home.run(&["grant", "end", &grant]).assert_ok();
        assert!(!home.run(&["item", "list", "--grant", &grant]).status.success());
    });
}

/// A grant until a day after `now`; a grant lasts thirty at most.
fn look_at(home: &Home, owner: &Value, now: &Value) -> String {
    let now: Millis = now.as_str().unwrap().parse().unwrap();
    let create =
        ["grant", "create", owner.as_str().unwrap(), "--name", "audit", "--reason", "asked to", "-q", "--until"];
    let too_long = now.plus(31 * DAY_MS).to_string();
    code(&home.run(&[&create[..], &[&too_long]].concat()), 6, "thirty days");
    line(home.run(&[&create[..], &[&now.plus(DAY_MS).to_string()]].concat()))
}

#[test]
fn a_new_users_link_is_shown_as_it_is_opened() {
    both_ways(|home, _| {
        let out = home.run(&["user", "add", "anna"]).assert_ok();
        let link = out.lines().find_map(|line| line.strip_prefix("Sign in link url:")).unwrap().trim();
        assert!(link.starts_with("http://") && link.contains("/sign-in/"), "{out}");
        assert!(out.contains("Sign in link expires at: 2") && !out.contains('{'), "{out}");
    });
}

#[test]
fn an_item_is_shown_with_its_owner() {
    both_ways(|home, _| {
        let owner = line(home.run(&["user", "list", "-q"]));
        let out = home.run(&["item", "add", "mine"]).assert_ok();
        assert!(out.lines().any(|line| line.starts_with("Owner id: ") && line.ends_with(&owner)), "{out}");
    });
}

#[test]
fn a_bundle_goes_out_and_in_and_skips_what_is_there() {
    both_ways(|home, folder| {
        home.run(&["item", "add", "kept"]).assert_ok();
        let file = folder.join("all.zip");
        let path = file.to_str().unwrap();
        let exported = json(home.run(&["export", path, "--json"]));
        assert_eq!(exported["bytes"].as_u64(), Some(std::fs::metadata(&file).unwrap().len()));
        code(&home.run(&["export", path]), 5, "exists already");
        let back = json(home.run(&["import", path, "--json"]));
        assert!(back["added"] == 0 && back["skipped"].as_u64().unwrap() > 0, "{back}");
        let bytes = std::fs::read(&file).unwrap();
        std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
        assert!(!home.run(&["import", path]).status.success());
    });
}

#[test]
fn a_bundle_moves_to_another_installation_and_outlives_its_restart() {
    for is_served in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let [there, here] = ["there", "here"].map(|name| Home::at(&folder.path().join(name)));
        there.run(&["init"]).assert_ok();
        here.run(&["init"]).assert_ok();
        let path = folder.path().join("all.zip");
        let path = path.to_str().unwrap();
        let item = json(here.run(&["item", "add", "kept", "--json"]));
        while_served(&here, is_served, || here.run(&["export", path]).assert_ok());
        let imported = while_served(&there, is_served, || json(there.run(&["import", path, "--json"])));
        assert!(imported["added"].as_u64().unwrap() > 0, "{imported}");
        let id = item["id"].as_str().unwrap();
        let grant = look_at(&there, &item["ownerId"], &item["realizedAt"]);
        let found =
            while_served(&there, is_served, || json(there.run(&["item", "show", id, "--grant", &grant, "--json"])));
        for field in ["id", "_type", "ownerId", "realizedAt", "canonicalAt", "hash", "payloadHash", "data"] {
            assert_eq!(found[field], item[field], "{field}");
        }
        code(&there.run(&["item", "show", id]), 8, "item_");
        there.run(&["verify", "--deep"]).assert_ok();
    }
}

fn while_served<T>(home: &Home, is_served: bool, story: impl FnOnce() -> T) -> T {
    let server = is_served.then(|| home.serve());
    let told = story();
    if let Some(mut server) = server {
        assert!(server.process.terminate().success(), "{}", server.process.stderr());
    }
    told
}

#[test]
fn reading_leaves_no_trace_on_the_timeline() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let head = || json(home.run(&["verify", "--json"]))["head"].clone();
    let before = head();
    home.run(&["item", "list", "--all"]).assert_ok();
    assert_eq!(head(), before);
}
