//! Rotations of the vault by real servers: at once, killed at every step, and with keys that are missing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::process::{Program, Stream};
use skein_testkit::wait::until;

use crate::interrupted::{ask, made};
use crate::scripted::{Scripted, answer};
use crate::server::{Finished, Home, Server, finish};

const SECRETS: usize = 20;
/// Every step of a rotation, in the order they are reached.
const STEPS: [&str; 9] = [
    "key-file.add",
    "vault.key-added",
    "vault.claimed",
    "key-file.put-first",
    "vault.key-first",
    "vault.key-current",
    "vault.page-rewrapped",
    "vault.rewrapped",
    "vault.opened",
];

fn fill(server: &Server) {
    for number in 0..SECRETS {
        let secret =
            json!({ "name": format!("s{number}"), "type": "api_key", "value": format!("k-{number}-7f9c24e5") });
        made(server, "/secrets", &secret);
    }
}

fn request_rotation(server: &Server) -> (u16, Value) {
    let answer = server.connect().request("POST", "/api/v1/vault/rotations", &server.key, "{}").unwrap();
    (answer.status, serde_json::from_str(&answer.body).unwrap())
}

fn ended(server: &Server, operation: &Value) -> Value {
    let path = format!("/operations/{}", operation.as_str().unwrap());
    until("the rotation has ended", || {
        let operation = ask(server, "GET", &path, &Value::Null);
        let status = operation["status"].as_str().unwrap().to_owned();
        (!["queued", "processing"].contains(&status.as_str())).then_some(operation)
    })
}

fn assert_every_value_opens(home: &Home) {
    for command in ["doctor", "verify"] {
        let told = home.run(&[command]).assert_ok();
        assert!(told.contains(&format!("{SECRETS}, and each opens")), "{told}");
    }
}

/// Rounds of parallel requests: each round one is accepted, the others are refused, and nothing is lost.
fn rotates_one_at_a_time(home: &Home, servers: &[&Server]) {
    fill(servers[0]);
    for _ in 0..6 {
        let answers: Vec<(u16, Value)> = std::thread::scope(|scope| {
            let asking: Vec<_> =
                (0..4).map(|n| scope.spawn(move || request_rotation(servers[n % servers.len()]))).collect();
            asking.into_iter().map(|asking| asking.join().unwrap()).collect()
        });
        let accepted: Vec<&Value> =
            answers.iter().filter(|(status, _)| *status == 202).map(|(_, body)| &body["operationId"]).collect();
        assert!(!accepted.is_empty(), "{answers:?}");
        for (status, body) in answers.iter().filter(|(status, _)| *status != 202) {
            assert_eq!((*status, &body["error"]["code"]), (409, &json!("rotation_running")), "{body}");
            assert!(body["error"]["details"]["operationId"].is_string(), "{body}");
        }
        for operation in accepted {
            let operation = ended(servers[0], operation);
            assert_eq!(operation["status"], "completed", "{operation}");
        }
        assert_every_value_opens(home);
    }
    for server in servers {
        let vault = ask(server, "GET", "/vault", &Value::Null);
        assert_eq!((&vault["secrets"], &vault["unreadable"]), (&json!(SECRETS), &json!(0)), "{vault}");
    }
}

#[test]
fn rotations_asked_for_at_once_run_one_at_a_time_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let server = home.serve();
    rotates_one_at_a_time(&home, &[&server]);
}

/// Two servers on one database that share a key file.
#[test]
fn two_servers_on_postgres_rotate_one_at_a_time_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start();
    let database = Database::fresh(&cluster);
    let home = |name: &str| Home { database: Some(database.url().to_owned()), ..Home::at(&folder.path().join(name)) };
    let (one, other) = (home("a"), home("b"));
    let first = one.serve();
    let file = one.dir.join("master.key");
    let second = Server::start(other.skein().arg("--vault-key-file").arg(file));
    rotates_one_at_a_time(&one, &[&first, &second]);
}

/// Kills a server at every step; `overtake` lets time pass for what the dead one held.
fn survives_a_kill_at_every_step(home: &Home, steps: &[&str], overtake: impl Fn()) {
    let mut server = home.serve();
    fill(&server);
    // From the second rotation on there are older keys.
    let (_, body) = request_rotation(&server);
    assert_eq!(ended(&server, &body["operationId"])["status"], "completed");
    for step in steps {
        assert!(server.process.terminate().success());
        let mut halting = Server::start(home.skein().env("DEBUG_SKEIN_HALT_AT", *step));
        let mut connection = halting.connect();
        let key = halting.key.clone();
        // The answer may never come: the server dies before or after it was sent.
        let asking =
            std::thread::spawn(move || drop(connection.request("POST", "/api/v1/vault/rotations", &key, "{}")));
        halting.process.wait_for_line_on(Stream::Stderr, &format!("halted at {step}"));
        halting.process.kill_nine();
        asking.join().unwrap();
        let told = home.run(&["doctor"]).assert_ok();
        assert!(told.contains(&format!("{SECRETS}, and each opens")), "{step}: {told}");
        overtake();
        server = home.serve();
        let vault = until("the rotation is finished", || {
            let vault = ask(&server, "GET", "/vault", &Value::Null);
            let status = vault["rotation"]["status"].as_str().unwrap_or("completed").to_owned();
            (!["queued", "processing"].contains(&status.as_str())).then_some(vault)
        });
        assert!(vault["rotation"].is_null() || vault["rotation"]["status"] == "completed", "{step}: {vault}");
    }
    assert!(server.process.terminate().success());
    assert_every_value_opens(home);
}

#[test]
fn a_kill_at_every_step_of_a_rotation_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    survives_a_kill_at_every_step(&Home::at(folder.path()), &STEPS, || {});
}

#[test]
fn a_kill_at_every_step_of_a_rotation_loses_nothing_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start();
    let database = Database::fresh(&cluster);
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    // The key file is the same on both databases.
    let steps: Vec<&str> = STEPS.into_iter().filter(|step| !step.starts_with("key-file")).collect();
    survives_a_kill_at_every_step(&home, &steps, || run_out(database.url()));
}

/// What every dead server held has run out.
fn run_out(url: &str) {
    let mut client = postgres::Client::connect(url, postgres::NoTls).unwrap();
    client.execute("UPDATE jobs SET lease_until = 0 WHERE lease_until IS NOT NULL", &[]).unwrap();
}

/// A server with a key file of its own cannot go on with a key it does not have, and says what to do.
#[test]
fn another_server_without_the_new_key_ends_an_interrupted_rotation_and_says_how_to_restore() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start();
    let database = Database::fresh(&cluster);
    let home = |name: &str| Home { database: Some(database.url().to_owned()), ..Home::at(&folder.path().join(name)) };
    let (one, other) = (home("a"), home("b"));
    let mut first = one.serve();
    fill(&first);
    assert!(first.process.terminate().success());
    fs::create_dir_all(&other.dir).unwrap();
    fs::set_permissions(&other.dir, Permissions::from_mode(0o700)).unwrap();
    fs::copy(one.dir.join("master.key"), other.dir.join("master.key")).unwrap();
    let mut first = Server::start(one.skein().env("DEBUG_SKEIN_HALT_AT", "vault.page-rewrapped"));
    let (status, body) = request_rotation(&first);
    assert_eq!(status, 202, "{body}");
    first.process.wait_for_line_on(Stream::Stderr, "halted at");
    let second = other.serve();
    let (status, refused) = request_rotation(&second);
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("rotation_running")), "{refused}");
    first.process.kill_nine();
    let mut client = postgres::Client::connect(database.url(), postgres::NoTls).unwrap();
    client.execute("UPDATE operations SET created_at = created_at - 100000", &[]).unwrap();
    run_out(database.url());
    let operation = ended(&second, &body["operationId"]);
    assert_eq!((&operation["status"], &operation["error"]["code"]), (&json!("failed"), &json!("vault_key_missing")));
    let found = other.run(&["doctor"]);
    assert_eq!(found.code(), Some(1), "{}", found.out);
    assert!(
        found.out.contains("PROBLEM  secrets: 16 of 20 do not open") && found.out.contains("vault rotation:"),
        "{}",
        found.out
    );
    // As it says: the keys of the first server are added to those of the second.
    append(&one.dir.join("master.key"), &other.dir.join("master.key"));
    let (status, body) = request_rotation(&second);
    assert_eq!(status, 202, "{body}");
    assert_eq!(ended(&second, &body["operationId"])["status"], "completed");
    assert_every_value_opens(&other);
}

/// The key of a file that has one.
fn key_of(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).unwrap().to_owned()
}

fn append(from: &Path, to: &Path) {
    let both = format!("{}{}", fs::read_to_string(to).unwrap(), fs::read_to_string(from).unwrap());
    fs::write(to, both).unwrap();
}

#[test]
fn a_rotation_with_unreadable_values_fails_keeps_every_key_and_succeeds_once_the_key_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    fill(&server);
    assert!(server.process.terminate().success());
    let (file, copy) = (home.dir.join("master.key"), folder.path().join("copy"));
    fs::copy(&file, &copy).unwrap();
    fs::remove_file(&file).unwrap();
    let other = Home { dir: folder.path().join("other"), database: None };
    other.run(&["init"]).assert_ok();
    fs::copy(other.dir.join("master.key"), &file).unwrap();
    let found = home.run(&["verify", "--json"]);
    assert_eq!(found.code(), Some(1), "{}", found.out);
    let told: Value = serde_json::from_str(&found.out).unwrap();
    assert_eq!((&told["ok"], &told["vault"]["unreadable"]), (&json!(true), &json!(SECRETS)), "{told}");
    let failed = home.run(&["vault", "rotate"]);
    assert_eq!(failed.code(), Some(1), "{}", failed.err);
    assert!(failed.err.contains("20 values do not open") && failed.err.contains("rotate again"), "{}", failed.err);
    append(&copy, &file);
    home.run(&["vault", "rotate"]).assert_ok();
    assert_every_value_opens(&home);
    let kept = fs::read_to_string(&file).unwrap();
    let first = key_of(&copy);
    assert!(kept.lines().any(|line| line == first), "backups from before the failed rotation need their key");
    home.run(&["vault", "rotate"]).assert_ok();
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept.lines().any(|line| line == first), "a rotation removes no key");
    let told: Value = serde_json::from_str(&home.run(&["verify", "--json"]).assert_ok()).unwrap();
    assert_eq!(told["vault"]["rotation"]["status"], "completed", "{told}");
}

#[test]
fn a_command_finishes_the_rotation_that_a_killed_server_began() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = Server::start(home.skein().env("DEBUG_SKEIN_HALT_AT", "vault.page-rewrapped"));
    fill(&server);
    assert_eq!(request_rotation(&server).0, 202);
    server.process.wait_for_line_on(Stream::Stderr, "halted at");
    server.process.kill_nine();
    let found = home.run(&["doctor"]).assert_ok();
    assert!(found.contains("was interrupted"), "{found}");
    home.run(&["vault", "rotate"]).assert_ok();
    let found = home.run(&["doctor"]).assert_ok();
    assert!(!found.contains("was interrupted"), "{found}");
    assert_every_value_opens(&home);
}

#[test]
fn a_command_follows_a_rotation_that_began_while_it_asked_for_one() {
    let running = "op_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
    let server = Scripted::start(&[
        answer("200 OK", r#"{"rotation":null}"#),
        answer("409 Conflict", r#"{"error":{"code":"rotation_running","message":"the vault is being rotated"}}"#),
        answer("200 OK", &json!({ "rotation": { "operationId": running, "status": "processing" } }).to_string()),
        answer("200 OK", r#"{"status":"completed","result":{"keyId":"k","rewrapped":20,"keyPlace":"f"}}"#),
    ]);
    let (finished, heard) = server.run(&["vault", "rotate"]);
    let out = finished.assert_ok();
    assert!(out.contains("20"), "{out}");
    assert_eq!(heard.len(), 4);
}

/// Two databases with a key file in common.
struct Sharing {
    homes: [Home; 2],
    file: PathBuf,
}

impl Sharing {
    fn in_folder(folder: &Path) -> Self {
        let homes = ["a", "b"].map(|name| Home::at(&folder.join(name)));
        homes[0].run(&["init"]).assert_ok();
        let file = homes[0].dir.join("master.key");
        Self { homes, file }
    }

    fn skein(&self, at: usize) -> Program {
        self.homes[at].skein().arg("--vault-key-file").arg(self.file.clone())
    }

    fn serve(&self, at: usize) -> Server {
        Server::start(self.skein(at))
    }

    fn run(&self, at: usize, words: &[&str]) -> Finished {
        finish(self.skein(at).args(words.iter().copied()))
    }

    fn assert_every_value_opens(&self) {
        for at in 0..self.homes.len() {
            let told = self.run(at, &["doctor"]).assert_ok();
            assert!(told.contains(&format!("{SECRETS}, and each opens")), "{told}");
        }
    }

    fn keys(&self) -> usize {
        fs::read_to_string(&self.file).unwrap().lines().filter(|line| !line.starts_with('#')).count()
    }

    /// Keys that `doctor` lists as needed by no value of a database.
    fn retired(&self, at: usize) -> Vec<String> {
        let told = self.run(at, &["doctor"]).assert_ok();
        let Some((_, told)) = told.split_once("no value of this database is under ") else { return Vec::new() };
        told.split_once(';').unwrap().0.split(", ").map(str::to_owned).collect()
    }

    /// The key that new values of a database get.
    fn current(&self, at: usize) -> String {
        let told: Value = serde_json::from_str(&self.run(at, &["verify", "--json"]).assert_ok()).unwrap();
        told["vault"]["keyId"].as_str().unwrap().to_owned()
    }
}

fn rotate_to_the_end(server: &Server) {
    let (status, body) = request_rotation(server);
    assert_eq!(status, 202, "{body}");
    let operation = ended(server, &body["operationId"]);
    assert_eq!(operation["status"], "completed", "{operation}");
}

#[test]
fn two_databases_with_one_key_file_are_rotated_in_turn_and_at_once_and_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    rotates_both(&Sharing::in_folder(folder.path()));
}

#[test]
fn a_database_on_postgres_shares_its_key_file_with_another_and_both_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start();
    let database = Database::fresh(&cluster);
    let mut sharing = Sharing::in_folder(folder.path());
    sharing.homes[1].database = Some(database.url().to_owned());
    rotates_both(&sharing);
}

fn rotates_both(sharing: &Sharing) {
    let mut servers = [sharing.serve(0), sharing.serve(1)];
    for server in &servers {
        fill(server);
    }
    // A key was removed by the second rotation after the one that retired it.
    for _ in 0..3 {
        for server in &servers {
            rotate_to_the_end(server);
            sharing.assert_every_value_opens();
        }
    }
    for _ in 0..6 {
        std::thread::scope(|scope| {
            for server in &servers {
                scope.spawn(move || rotate_to_the_end(server));
            }
        });
        sharing.assert_every_value_opens();
    }
    assert_eq!(sharing.keys(), 1 + 2 * 3 + 2 * 6, "every key is kept");
    for server in &mut servers {
        let vault = ask(server, "GET", "/vault", &Value::Null);
        assert_eq!((&vault["secrets"], &vault["unreadable"]), (&json!(SECRETS), &json!(0)), "{vault}");
        assert!(server.process.terminate().success());
    }
    // From the file alone, too.
    for at in 0..2 {
        let server = sharing.serve(at);
        let vault = ask(&server, "GET", "/vault", &Value::Null);
        assert_eq!((&vault["secrets"], &vault["unreadable"]), (&json!(SECRETS), &json!(0)), "{vault}");
    }
}

#[test]
fn a_key_is_removed_only_if_it_is_named_and_no_value_of_the_named_databases_is_under_it() {
    let folder = tempfile::tempdir().unwrap();
    let sharing = Sharing::in_folder(folder.path());
    let servers = [sharing.serve(0), sharing.serve(1)];
    for server in &servers {
        fill(server);
    }
    assert!(sharing.retired(0).is_empty());
    rotate_to_the_end(&servers[0]);
    let shared = sharing.retired(0);
    assert_eq!(shared, [sharing.current(1)], "the key of the other database is of no use to this one");
    let other = sharing.homes[1].dir.to_str().unwrap().to_owned();
    let refused = |words: &[&str], code: i32, told: &str| {
        let before = fs::read(&sharing.file).unwrap();
        let refused = sharing.run(0, &[["vault", "remove-keys"].as_slice(), words].concat());
        assert_eq!(refused.code(), Some(code), "{words:?}: {} {}", refused.out, refused.err);
        assert!(refused.err.contains(told), "{words:?}: {}", refused.err);
        assert_eq!(fs::read(&sharing.file).unwrap(), before, "{words:?}");
    };
    let nowhere = folder.path().join("nowhere");
    refused(&[], 2, "KEY");
    refused(&[&shared[0]], 2, "add --yes");
    refused(&[&shared[0], "--also", &other], 6, "needs the master key");
    refused(&[&shared[0], "--also", &other, "--yes"], 6, "needs the master key");
    refused(&[&shared[0], "--also", nowhere.to_str().unwrap(), "--yes"], 5, "there is no database");
    refused(&[&sharing.current(0), "--yes"], 6, "needs the master key");
    refused(&["0123456789abcdef", "--yes"], 8, "is not in");
    rotate_to_the_end(&servers[1]);
    refused(&[&sharing.current(1), "--yes"], 6, "is the first one in");
    assert_eq!(sharing.keys(), 3);
    let removed = sharing.run(0, &["vault", "remove-keys", &shared[0], "--also", &other, "--yes"]).assert_ok();
    assert!(removed.contains("Keys left: 2"), "{removed}");
    assert_eq!(sharing.keys(), 2);
    sharing.assert_every_value_opens();
    drop(servers);
    sharing.assert_every_value_opens();
}

#[test]
fn no_key_is_removed_while_a_rotation_has_not_ended_or_values_do_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    fill(&server);
    let file = home.dir.join("master.key");
    let first = fs::read(&file).unwrap();
    rotate_to_the_end(&server);
    let told = home.run(&["doctor"]).assert_ok();
    let retired = told.split_once("no value of this database is under ").unwrap().1.split_once(';').unwrap().0;
    assert!(server.process.terminate().success());
    let mut server = Server::start(home.skein().env("DEBUG_SKEIN_HALT_AT", "vault.page-rewrapped"));
    assert_eq!(request_rotation(&server).0, 202);
    server.process.wait_for_line_on(Stream::Stderr, "halted at");
    let refused = home.run(&["vault", "remove-keys", retired, "--yes"]);
    assert_eq!(refused.code(), Some(9), "{}", refused.err);
    assert!(refused.err.contains("has not ended"), "{}", refused.err);
    server.process.kill_nine();
    home.run(&["vault", "rotate"]).assert_ok();
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &first).unwrap();
    let refused = home.run(&["vault", "remove-keys", retired, "--yes"]);
    assert_eq!(refused.code(), Some(6), "{}", refused.err);
    fs::write(&file, whole).unwrap();
    // A kill before the file is in its place changes nothing.
    let program = home.skein().args(["vault", "remove-keys", retired, "--yes"]);
    let mut halting = program.env("DEBUG_SKEIN_HALT_AT", "key-file.remove").spawn();
    halting.wait_for_line_on(Stream::Stderr, "halted at key-file.remove");
    halting.kill_nine();
    assert_every_value_opens(&home);
    home.run(&["vault", "remove-keys", retired, "--yes"]).assert_ok();
    assert_every_value_opens(&home);
}

/// A server without secrets has read keys at its start that another database's rotation and a person have removed since.
#[test]
fn the_first_value_of_a_database_is_under_a_key_that_is_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let sharing = Sharing::in_folder(folder.path());
    let servers = [sharing.serve(0), sharing.serve(1)];
    fill(&servers[0]);
    rotate_to_the_end(&servers[0]);
    let retired = sharing.retired(0);
    let other = sharing.homes[1].dir.to_str().unwrap();
    sharing.run(0, &["vault", "remove-keys", &retired[0], "--also", other, "--yes"]).assert_ok();
    fill(&servers[1]);
    drop(servers);
    sharing.assert_every_value_opens();
}
