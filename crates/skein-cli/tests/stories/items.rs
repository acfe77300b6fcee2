//! Commands that write and read things: the same without a server and through one.

use std::path::Path;

use serde_json::Value;
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::process::{Child, Program};

use crate::server::{Home, SKEIN, finish};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn ready(folder: &Path) -> Home {
    let home = Home::at(folder);
    home.run(&["init"]).assert_ok();
    home
}

/// Adds, lists and shows, and gives back the id of what was added.
fn add_list_show(home: &Home) -> String {
    let id = home.run(&["item", "add", "The heron came back today.", "-q"]).assert_ok().trim().to_owned();
    let at = "2026-01-31T12:00:00+01:00";
    let added = home.run(&["item", "add", "--type", "Sighting", "--data", r#"{"bird":"heron"}"#, "--at", at, "--json"]);
    let added = json(&added.assert_ok());
    assert_eq!((&added["data"]["bird"], &added["canonicalAt"]), (&"heron".into(), &"2026-01-31T11:00:00.000Z".into()));

    let list = home.run(&["item", "list", "--type", "Note"]).assert_ok();
    assert!(list.starts_with("ID") && list.contains(&id) && list.contains("The heron came back today."), "{list}");
    let list = json(&home.run(&["item", "list", "--type", "Sighting", "--all", "--json"]).assert_ok());
    assert_eq!(list["data"][0]["id"], added["id"]);

    let shown = home.run(&["item", "show", &id]).assert_ok();
    assert!(shown.contains("Type:") && shown.contains("The heron came back today."), "{shown}");
    assert_eq!(json(&home.run(&["item", "show", &id, "--json"]).assert_ok())["id"], id.as_str());
    id
}

#[test]
fn items_are_added_listed_and_shown_without_a_server_and_sealed() {
    let folder = tempfile::tempdir().unwrap();
    let home = ready(folder.path());
    add_list_show(&home);
    let here = home.run(&["item", "list", "--log", "debug"]);
    assert!(here.err.contains("working on it here"), "{}", here.err);
    let report = json(&home.run(&["verify", "--deep", "--json"]).assert_ok());
    assert_eq!((&report["ok"], &report["unsealed"]), (&true.into(), &0.into()), "{report}");
}

#[test]
fn items_are_added_listed_and_shown_on_postgres_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::fresh(Cluster::shared());
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    home.run(&["init"]).assert_ok();
    let id = add_list_show(&home);
    let elsewhere = Home { dir: folder.path().join("elsewhere"), ..home.clone() };
    elsewhere.run(&["item", "show", &id]).assert_ok();
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn the_same_commands_go_through_a_server_that_holds_the_directory() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let server = home.serve();
    let id = add_list_show(&home);
    let seen = server.get(&format!("/api/v1/items/{id}"));
    assert_eq!(seen.status, 200, "{}", seen.body);
    // The directory's lock admits one writer, and the server has it all the while.
    let through = home.run(&["item", "list", "--log", "debug"]);
    assert!(
        through.err.contains("going through the server") && through.err.contains(&server.address),
        "{}",
        through.err
    );
    assert_eq!(home.run(&["serve", "--listen", "127.0.0.1:0"]).code(), Some(3));
}

#[test]
fn a_lock_file_left_by_a_killed_server_misleads_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    let id = home.run(&["item", "add", "before", "-q"]).assert_ok();
    server.process.kill_nine();
    let lock = home.dir.join("skein.lock");
    assert!(std::fs::read_to_string(&lock).unwrap().contains(&server.address));
    home.run(&["item", "show", id.trim()]).assert_ok();
    assert_eq!(std::fs::read_to_string(&lock).unwrap(), "");
    home.run(&["item", "add", "after"]).assert_ok();
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn commands_at_the_same_time_wait_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let home = ready(folder.path());
    let mut adding: Vec<Child> =
        (0..8).map(|number| home.skein().args(["item", "add", &number.to_string()]).spawn()).collect();
    for child in &mut adding {
        assert!(child.wait().success(), "{}", child.stderr());
    }
    let ids = home.run(&["item", "list", "--type", "Note", "-q"]).assert_ok();
    assert_eq!(ids.lines().count(), 8);
}

#[test]
fn a_long_list_is_shown_page_by_page() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let server = home.serve();
    let notes = vec![r#"{"_type":"Note","data":{"description":"x"}}"#; 250].join(",");
    assert_eq!(server.post(&format!(r#"{{"items":[{notes}]}}"#)).status, 201);
    let count = |words: &[&str]| home.run(words).assert_ok().lines().count();
    assert_eq!(count(&["item", "list", "--type", "Note", "-q"]), 50);
    assert_eq!(count(&["item", "list", "--type", "Note", "-q", "--limit", "220"]), 220);
    assert_eq!(count(&["item", "list", "--type", "Note", "-q", "--all"]), 250);
    let all = json(&home.run(&["item", "list", "--type", "Note", "--all", "--json"]).assert_ok());
    assert_eq!(all["data"].as_array().unwrap().len(), 250);
    let some = home.run(&["item", "list", "--type", "Note"]);
    assert!(some.err.contains("There are more"), "{}", some.err);
}

#[test]
fn text_and_documents_are_read_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let home = ready(folder.path());
    let piped = |input: &str, words: &str| {
        let script = format!("printf '%s' \"$1\" | {SKEIN} --dir \"$0\" item add {words} --json");
        let added = finish(Program::new("bash").arg("-c").arg(script).arg(home.dir.clone()).arg(input.to_owned()));
        json(&added.assert_ok())["data"].clone()
    };
    assert_eq!(piped("two\nlines\n", "-")["description"], "two\nlines");
    assert_eq!(piped(r#"{"n":1}"#, "--type Tally --data -")["n"], 1);
}

#[test]
fn what_others_wrote_cannot_steer_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let home = ready(folder.path());
    let id = home.run(&["item", "add", "\u{1b}[2Jgone", "-q"]).assert_ok();
    for words in [&["item", "list"][..], &["item", "show", id.trim()]] {
        assert!(!home.run(words).assert_ok().contains('\u{1b}'));
    }
}

#[test]
fn histories_and_relations_are_found_without_knowing_more_than_what_they_are_of() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let records = home.run(&["history", "--type", "User", "--json"]).assert_ok();
    assert!(records.contains("\"_type\":\"User\""), "{records}");
    assert_eq!(home.run(&["history"]).code(), Some(2));
    let add = |text: &str| home.run(&["item", "add", text, "-q"]).assert_ok().trim().to_owned();
    let (one, other) = (add("one"), add("other"));
    let edge = home.run(&["relation", "add", "mentions", &one, &other, "-q"]).assert_ok();
    let found = home.run(&["relation", "list", &one, "-q"]).assert_ok();
    assert_eq!(found, edge);
    let plain = home.run(&["item", "list", "-q"]).assert_ok();
    let whole = home.run(&["item", "list", "--system", "-q"]).assert_ok();
    assert!(plain.lines().count() == 2 && whole.lines().count() > 2, "{plain}\n{whole}");
    let said = home.run(&["item", "payload", &one]).assert_ok();
    assert_eq!(said, r#"{"description":"one"}"#);
}
