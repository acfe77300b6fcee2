//! Failures between a command and the API: an exit code by its meaning, and advice.

use crate::scripted::{ReceivedRequest, Scripted, answer};
use crate::server::{Finished, Home};

const NO_ITEM: &str = "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";

fn check(finished: &Finished, code: i32, told: &str) {
    assert_eq!(finished.code(), Some(code), "{}\n{}", finished.out, finished.err);
    assert!(finished.err.contains(told), "{told:?} is not in {}", finished.err);
    assert!(finished.err.contains("hint: "), "{}", finished.err);
    assert_eq!(finished.out, "");
}

#[test]
fn another_database_than_the_servers_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let _server = home.serve();
    home.run(&["item", "list"]).assert_ok();
    let refused = home.run(&["item", "list", "--database", "postgres://anna:secret@127.0.0.1:1/other"]);
    assert_eq!(refused.code(), Some(2), "{}", refused.err);
    assert!(refused.err.contains("not on PostgreSQL at 127.0.0.1:1/other") && !refused.err.contains("secret"));
}

#[test]
fn refusals_of_the_api_have_exit_codes_by_their_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    check(&home.run(&["item", "list"]), 5, "there is no database");
    assert!(!home.dir.exists(), "a typing error made a directory");
    home.run(&["init"]).assert_ok();
    check(&home.run(&["item", "show", NO_ITEM]), 8, NO_ITEM);
    check(&home.run(&["item", "add", "x", "--type", "not a type"]), 6, "rule");
    check(&home.run(&["item", "add", "--data", "{not json"]), 2, "JSON");
    check(&home.run(&["item", "list", "--key", "sk_wrong"]), 7, "key");
    check(&home.run(&["redact", NO_ITEM, "--reason", "asked to"]), 2, "destroyed for ever");
}

#[test]
fn a_server_that_is_named_is_used_with_the_key_that_was_given() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let nowhere = Home { dir: folder.path().join("nowhere"), database: None };
    let mut server = home.serve();
    let named =
        |words: &[&str], key: &str| nowhere.run(&[words, &["--server", &server.address, "--key", key]].concat());
    let id = named(&["item", "add", "from afar", "-q"], &server.key).assert_ok();
    named(&["item", "show", id.trim()], &server.key).assert_ok();
    check(&named(&["item", "list"], "sk_wrong"), 7, "key");
    let (address, key) = (server.address.clone(), server.key.clone());
    server.process.terminate();
    let gone = nowhere.run(&["item", "list", "--server", &address, "--key", &key]);
    check(&gone, 4, "cannot be reached");
    assert!(!gone.err.contains(&key) && !nowhere.dir.exists());
}

#[test]
fn files_that_are_no_bundles_are_refused_and_files_that_exist_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let file = folder.path().join("file.zip");
    let path = file.to_str().unwrap();
    check(&home.run(&["import", path]), 5, "cannot read");
    for content in ["", "not a bundle"] {
        std::fs::write(&file, content).unwrap();
        check(&home.run(&["import", path]), 5, "is not a bundle");
    }
    check(&home.run(&["export", path]), 5, "exists already");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "not a bundle");
}

const CREATED: &str = r#"{"id":"item_1"}"#;
const BUSY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const ELSEWHERE: &[u8] = b"HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\n\
    Content-Length: 0\r\nConnection: close\r\n\r\n";

fn add_through(answers: &[Vec<u8>]) -> (Finished, Vec<ReceivedRequest>) {
    Scripted::start(answers).run(&["item", "add", "x", "-q"])
}

#[test]
fn a_broken_connection_and_a_busy_server_are_tried_again_with_the_same_idempotency_key() {
    let (finished, heard) = add_through(&[Vec::new(), BUSY.to_vec(), answer("201 Created", CREATED)]);
    assert_eq!(finished.assert_ok(), "item_1\n");
    assert_eq!(heard.len(), 3);
    let keys: Vec<&str> = heard.iter().map(|request| request.header("idempotency-key")).collect();
    assert_eq!(keys[0].len(), 26);
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    assert_eq!(heard[0].header("authorization"), "bearer sk_x");
}

#[test]
fn trying_again_has_an_end() {
    let (finished, _) = add_through(&[BUSY.to_vec(), BUSY.to_vec(), BUSY.to_vec()]);
    check(&finished, 4, "503");
    let (finished, _) = add_through(&[Vec::new(), Vec::new(), Vec::new()]);
    check(&finished, 4, "broke");
    assert!(finished.err.contains("before trying again"), "{}", finished.err);
}

#[test]
fn something_else_than_skein_is_noticed_and_followed_nowhere() {
    let (finished, _) = add_through(&[answer("200 OK", "hello")]);
    check(&finished, 5, "in a way Skein does not");
    let (finished, _) = add_through(&[ELSEWHERE.to_vec()]);
    check(&finished, 5, "307");
}
