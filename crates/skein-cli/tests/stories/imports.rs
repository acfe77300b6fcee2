//! Imports by real servers: two at once, killed in the middle, and begun again.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::process::Stream;

use crate::interrupted::made;
use crate::server::{Home, Server};

/// A bundle of somebody else's, of more than one batch of an import.
fn bundle(folder: &Path) -> PathBuf {
    let home = Home::at(&folder.join("source"));
    let server = home.serve();
    made(&server, "/projects", &json!({ "name": "brought" }));
    let mut connection = server.connect();
    for number in 0..250 {
        let note = json!({ "_type": "Note", "data": { "description": number.to_string() } }).to_string();
        assert_eq!(connection.request("POST", "/api/v1/items", &server.key, &note).unwrap().status, 201);
    }
    let file = folder.join("all.zip");
    home.run(&["export", file.to_str().unwrap()]).assert_ok();
    file
}

/// While one import is under way a second one is refused; after a kill the next one takes in what is left.
fn one_at_a_time_and_again_after_a_kill(home: &Home, beside: Option<&Home>, bundle: &Path, pass_time: impl Fn()) {
    let words = ["import", bundle.to_str().unwrap()];
    let mut server = Server::start(home.skein().env("DEBUG_SKEIN_HALT_AT", "import.importing"));
    let importing = {
        let home = home.clone();
        let bundle = bundle.to_owned();
        std::thread::spawn(move || home.run(&["import", bundle.to_str().unwrap()]))
    };
    server.process.wait_for_line_on(Stream::Stderr, "halted at import.importing");
    let other = beside.map(Home::serve);
    let refused = beside.unwrap_or(home).run(&words);
    assert_eq!(refused.code(), Some(9), "{}", refused.err);
    assert!(refused.err.contains("is being imported by operation op_"), "{}", refused.err);
    drop(other);
    server.process.kill_nine();
    // It may have ended with the server, or have done the work itself once the directory was free.
    drop(importing.join().unwrap());
    pass_time();
    let server = home.serve();
    home.run(&words).assert_ok();
    let again: Value =
        serde_json::from_str(&home.run(&["import", "--json", bundle.to_str().unwrap()]).assert_ok()).unwrap();
    assert_eq!(again["added"], 0, "{again}");
    drop(server);
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn imports_of_one_owner_run_one_at_a_time_and_again_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = bundle(folder.path());
    one_at_a_time_and_again_after_a_kill(&Home::at(folder.path()), None, &bundle, || {});
}

#[test]
fn imports_by_two_servers_on_postgres_run_one_at_a_time_and_again_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = bundle(folder.path());
    let cluster = Cluster::start();
    let database = Database::fresh(&cluster);
    let home = |name: &str| Home { database: Some(database.url().to_owned()), ..Home::at(&folder.path().join(name)) };
    let fell_silent = || {
        let mut client = postgres::Client::connect(database.url(), postgres::NoTls).unwrap();
        client.execute("UPDATE operations SET updated_at = updated_at - 90000", &[]).unwrap();
    };
    one_at_a_time_and_again_after_a_kill(&home("a"), Some(&home("b")), &bundle, fell_silent);
}
