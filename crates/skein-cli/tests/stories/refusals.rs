//! What goes wrong between a command and the API: an exit code by its meaning, and what to do next.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use crate::server::{Finished, Home};

const NO_ITEM: &str = "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";

fn check(finished: &Finished, code: i32, told: &str) {
    assert_eq!(finished.code(), Some(code), "{}\n{}", finished.out, finished.err);
    assert!(finished.err.contains(told), "{told:?} is not in {}", finished.err);
    assert!(finished.err.contains("hint: "), "{}", finished.err);
    assert_eq!(finished.out, "");
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

/// Reads one request and gives back its head.
fn read_request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert!(reader.read_line(&mut head).unwrap() > 0, "the request was cut off");
    }
    let head = head.to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<u64>().ok());
    reader.take(length.unwrap_or_default()).read_to_string(&mut String::new()).unwrap();
    head
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap()
}

/// Adds an item through a server that answers as told, and gives back what came of it and what was sent.
fn add_through(answers: &'static [&'static str]) -> (Finished, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (heard, heads) = mpsc::channel();
    thread::spawn(move || {
        for answer in answers {
            let (mut stream, _) = listener.accept().unwrap();
            heard.send(read_request(&stream)).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let home = Home::at(folder.path());
    let finished = home.run(&["item", "add", "x", "-q", "--server", &address, "--key", "sk_x"]);
    (finished, heads.try_iter().collect())
}

const CREATED: &str = "HTTP/1.1 201 Created\r\nContent-Length: 15\r\nConnection: close\r\n\r\n{\"id\":\"item_1\"}";
const BUSY: &str =
    "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 0\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

const ELSEWHERE: &str = "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\
     Connection: close\r\n\r\n";

#[test]
fn a_broken_connection_and_a_busy_server_are_tried_again_with_the_same_idempotency_key() {
    let (finished, heads) = add_through(&["", BUSY, CREATED]);
    assert_eq!(finished.assert_ok(), "item_1\n");
    assert_eq!(heads.len(), 3);
    let keys: Vec<&str> = heads.iter().map(|head| header(head, "idempotency-key")).collect();
    assert_eq!(keys[0].len(), 26);
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    assert_eq!(header(&heads[0], "authorization"), "bearer sk_x");
}

#[test]
fn trying_again_has_an_end() {
    let (finished, _) = add_through(&[BUSY, BUSY, BUSY]);
    check(&finished, 4, "503");
    let (finished, _) = add_through(&["", "", ""]);
    check(&finished, 4, "broke");
    assert!(finished.err.contains("before trying again"), "{}", finished.err);
}

#[test]
fn something_else_than_skein_is_noticed_and_followed_nowhere() {
    let (finished, _) = add_through(&["HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello"]);
    check(&finished, 5, "in a way Skein does not");
    let (finished, _) = add_through(&[ELSEWHERE]);
    check(&finished, 5, "307");
}
