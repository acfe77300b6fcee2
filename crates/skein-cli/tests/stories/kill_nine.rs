//! `kill -9` at random moments under load: what was acknowledged is there afterwards, and everything verifies.
//!
//! The client is a process of its own that makes every acknowledged id durable before it goes on.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{BuildHasher as _, RandomState};
use std::path::Path;

use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::process::{Child, Program};
use skein_testkit::wait::until;

use crate::server::{Home, SKEIN, Server};

const WRITERS: &str = "16";

fn client(server: &Server, log: &Path) -> Child {
    let client = Path::new(SKEIN).with_file_name("append_client");
    assert!(client.exists(), "build it first: cargo build --workspace --bin append_client");
    Program::new(client).arg(server.address.clone()).arg(server.key.clone()).arg(log).arg(WRITERS).spawn()
}

fn acknowledged(log: &Path) -> Vec<String> {
    let text = fs::read_to_string(log).unwrap_or_default();
    // The client may have been killed in the middle of its last line.
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(str::to_owned).collect()
}

/// Lets the client go on until some random number of further writes is acknowledged.
fn wait_for_some(log: &Path, before: usize) {
    let wanted = before + 1 + usize::try_from(RandomState::new().hash_one(before) % 400).unwrap();
    until("enough writes were acknowledged", || (acknowledged(log).len() >= wanted).then_some(()));
}

fn assert_kept(server: &Server, ids: &[String]) {
    let mut connection = server.connect();
    for id in ids {
        let answer = connection.request("GET", &format!("/api/v1/items/{id}"), &server.key, "").unwrap();
        assert_eq!(answer.status, 200, "{id} was acknowledged and is gone: {}", answer.body);
    }
}

fn assert_verifies(home: &Home, deep: bool) {
    let words: &[&str] = if deep { &["verify", "--deep"] } else { &["verify"] };
    home.run(words).assert_ok();
}

/// Rounds of load and a sudden end; `end` kills something and gives back a server that works.
fn survives(home: &Home, rounds: usize, mut end: impl FnMut(Server) -> Server) {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("acknowledged");
    let mut server = home.serve();
    let mut known = 0;
    for _ in 0..rounds {
        let mut writing = client(&server, &log);
        wait_for_some(&log, known);
        server = end(server);
        writing.kill_nine();
        let ids = acknowledged(&log);
        assert_kept(&server, &ids[known..]);
        known = ids.len();
        assert_verifies(home, false);
    }
    let ids = acknowledged(&log);
    assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id was given twice");
    assert_kept(&server, &ids);
    assert!(server.process.terminate().success());
    assert_verifies(home, true);
}

fn kill_skein(home: &Home, mut server: Server) -> Server {
    server.process.kill_nine();
    home.serve()
}

#[test]
fn kill_nine_of_skein_on_sqlite_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    survives(&home, 20, |server| kill_skein(&home, server));
}

fn on_postgres(cluster: &Cluster, folder: &Path) -> (Home, Database) {
    let database = Database::fresh(cluster);
    (Home { database: Some(database.url().to_owned()), ..Home::at(folder) }, database)
}

#[test]
fn kill_nine_of_skein_on_postgres_loses_nothing_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::builder().durable(true).start();
    let (home, _database) = on_postgres(&cluster, folder.path());
    survives(&home, 6, |server| kill_skein(&home, server));
}

#[test]
fn kill_nine_of_every_postgres_process_loses_nothing_acknowledged_and_needs_no_restart_of_skein() {
    let folder = tempfile::tempdir().unwrap();
    let mut cluster = Cluster::builder().durable(true).start();
    let (home, database) = on_postgres(&cluster, folder.path());
    survives(&home, 6, |server| {
        cluster.kill_nine();
        cluster.restart();
        server
    });
    drop(database);
}
