//! Full disks, missing permissions, second servers, newer schemas: a clear word, nothing half-written, and back to
//! work when the cause goes away.

use std::process::Command;

use skein_testkit::http::{Answer, fresh_key};
use skein_testkit::process::Program;

use crate::server::{Home, SKEIN, Server, finish, id_of};

/// Caps the size of every file `skein` writes, as a small disk would; `None` takes the cap away.
fn cap_files(pid: u32, bytes: Option<u64>) {
    let soft = bytes.map_or("unlimited".to_owned(), |bytes| bytes.to_string());
    let capped =
        Command::new("prlimit").arg(format!("--fsize={soft}:unlimited")).args(["--pid", &pid.to_string()]).status();
    assert!(capped.unwrap().success());
}

/// A server in which writing past a file-size cap is an error, not a signal.
fn capped_server(home: &Home) -> Server {
    let script = r#"trap '' XFSZ; exec "$0" "$@""#;
    let program = Program::new("bash").arg("-c").arg(script).arg(SKEIN).arg("--dir").arg(home.dir.clone());
    Server::start(program)
}

#[test]
fn disk_full_is_said_clearly_loses_nothing_and_ends_when_there_is_room_again() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = capped_server(&home);
    let before: Vec<String> = (0..5).map(|number| id_of(&server.note(&number.to_string()))).collect();
    let used = std::fs::metadata(home.dir.join("skein.db")).unwrap().len();
    cap_files(server.process.id(), Some(used));
    let large = "x".repeat(900_000);
    let refused = std::iter::repeat_with(|| server.note(&large)).take(20).find(|answer| answer.status != 201);
    let refused = refused.expect("the disk never got full");
    assert_eq!(refused.status, 507, "{}", refused.body);
    assert!(refused.body.contains("no room") && refused.body.contains("\"error\""), "{}", refused.body);
    let path = |id: &String| format!("/api/v1/items/{id}");
    assert!(before.iter().all(|id| server.get(&path(id)).status == 200), "reading needs no room");
    cap_files(server.process.id(), None);
    let after = id_of(&server.note("after"));
    assert_eq!(server.get(&path(&after)).status, 200);
    assert!(server.process.terminate().success());
    home.run(&["verify", "--deep"]).assert_ok();
}

fn upload(server: &Server, bytes: usize) -> Answer {
    let key = fresh_key().unwrap();
    let headers =
        format!("Authorization: Bearer {}\r\nContent-Type: audio/ogg\r\nIdempotency-Key: {key}\r\n", server.key);
    server.connect().send("POST", "/api/v1/blobs", &headers, &"x".repeat(bytes)).unwrap()
}

fn ready(server: &Server) -> Answer {
    server.connect().send("GET", "/health/ready", "", "").unwrap()
}

#[test]
fn disk_full_at_an_upload_is_507_and_the_server_is_not_ready_until_there_is_room_again() {
    const ROOM: usize = 8 << 20;
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let server = capped_server(&home);
    assert_eq!(ready(&server).status, 200);
    cap_files(server.process.id(), Some(ROOM as u64));
    // Only its last byte finds no room, so nothing of the request is left unread.
    let refused = upload(&server, ROOM + 1);
    assert!(refused.status == 507 && refused.body.contains("storage_full"), "{} {}", refused.status, refused.body);
    let left: Vec<_> = std::fs::read_dir(home.dir.join("blobs/uploads")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    cap_files(server.process.id(), Some(4_096));
    let waiting = ready(&server);
    assert!(waiting.status == 503 && waiting.body.contains("storage_full"), "{} {}", waiting.status, waiting.body);
    assert_eq!(server.get("/health/live").status, 200);
    cap_files(server.process.id(), None);
    assert_eq!(ready(&server).status, 200, "{}", ready(&server).body);
    assert_eq!(upload(&server, ROOM + 1).status, 201);
}

#[test]
fn disk_full_at_a_commit_makes_the_server_not_ready_until_there_is_room_again() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let server = capped_server(&home);
    cap_files(server.process.id(), Some(4_096));
    let refused = server.note(&"x".repeat(900_000));
    assert_eq!(refused.status, 507, "{}", refused.body);
    let waiting = ready(&server);
    assert!(waiting.status == 503 && waiting.body.contains("storage_full"), "{} {}", waiting.status, waiting.body);
    cap_files(server.process.id(), None);
    assert_eq!(ready(&server).status, 200);
    assert_eq!(server.note("after").status, 201);
}

#[test]
fn disk_full_at_an_import_is_said_clearly() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let server = capped_server(&home);
    cap_files(server.process.id(), Some(4_096));
    let headers = format!(
        "Authorization: Bearer {}\r\nContent-Type: application/zip\r\nIdempotency-Key: {}\r\n",
        server.key,
        fresh_key().unwrap()
    );
    let refused = server.connect().send("POST", "/api/v1/imports", &headers, &"x".repeat(4_097)).unwrap();
    assert!(refused.status == 507 && refused.body.contains("storage_full"), "{} {}", refused.status, refused.body);
    assert_eq!(ready(&server).status, 503);
}

#[test]
fn disk_full_at_a_backup_is_said_clearly_and_leaves_no_finished_copy() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let target = folder.path().join("copy");
    let script = r#"trap '' XFSZ; ulimit -f 128; exec "$0" "$@""#;
    let program = Program::new("bash").arg("-c").arg(script).arg(SKEIN).arg("--dir").arg(home.dir.clone());
    let finished = finish(program.args(["backup", target.to_str().unwrap()]));
    assert_eq!(finished.code(), Some(4), "{}\n{}", finished.out, finished.err);
    assert!(finished.err.contains("no room left"), "{}", finished.err);
    assert!(!target.join("skein.db").exists());
    home.run(&["backup", target.to_str().unwrap()]).assert_ok();
}

/// Runs `skein` as somebody without rights: root could write anywhere.
fn as_nobody(home: &Home, words: &[&str]) -> crate::server::Finished {
    let is_root = rustix::process::geteuid().is_root();
    let program = if is_root {
        Program::new("setpriv").args(["--reuid=65534", "--regid=65534", "--clear-groups", SKEIN])
    } else {
        Program::new(SKEIN)
    };
    finish(program.arg("--dir").arg(home.dir.clone()).args(words.iter().copied()))
}

#[test]
fn fault_a_directory_that_cannot_be_written_is_said_clearly() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    // Its owner may write into files of a directory that takes no new ones, so they are closed as well.
    let files = std::fs::read_dir(&home.dir).unwrap().map(|entry| entry.unwrap().path());
    let closed = files.filter(|path| path.is_file()).map(|path| (path, 0o444));
    for (path, mode) in closed.chain([(folder.path().to_owned(), 0o755), (home.dir.clone(), 0o555)]) {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let before: Vec<_> = std::fs::read_dir(&home.dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    // The test's own folder lies where nobody may look by default.
    let finished = as_nobody(&home, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(finished.code(), Some(4), "{}\n{}", finished.out, finished.err);
    assert!(
        finished.err.to_lowercase().contains("permission") || finished.err.contains("cannot be written"),
        "{}",
        finished.err
    );
    let after: Vec<_> = std::fs::read_dir(&home.dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(before, after, "something was left half-written");
    std::fs::set_permissions(&home.dir, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn fault_a_second_server_on_the_directory_is_refused_and_told_where_the_first_is() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let first = home.serve();
    let second = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.code(), Some(3), "{}", second.err);
    assert!(second.err.contains(&first.address), "{}", second.err);
    assert_eq!(first.note("still served").status, 201);
}

#[test]
fn fault_a_newer_schema_is_refused_by_name_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let database = rusqlite::Connection::open(home.dir.join("skein.db")).unwrap();
    database.execute("UPDATE meta SET value = '42' WHERE name = 'schema'", []).unwrap();
    drop(database);
    for words in [&["serve", "--listen", "127.0.0.1:0"][..], &["verify"], &["doctor"]] {
        let finished = home.run(words);
        assert!(!finished.status.success());
        assert!(finished.err.contains("42") || finished.out.contains("42"), "{}\n{}", finished.out, finished.err);
    }
}

#[test]
fn fault_a_database_that_cannot_be_reached_is_said_clearly() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home { database: Some("postgres://nobody@127.0.0.1:1/none".to_owned()), ..Home::at(folder.path()) };
    let finished = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(finished.code(), Some(4), "{}", finished.err);
    assert!(finished.err.contains("cannot be reached"), "{}", finished.err);
    assert!(!finished.err.contains("panicked"));
}
