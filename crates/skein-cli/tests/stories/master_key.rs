//! The master key as people meet it: made by `init` or `serve`, kept private, looked at by `doctor`.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;

use crate::server::{Home, finish};

#[test]
fn the_master_key_is_made_once_and_for_its_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let file = home.dir.join("master.key");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let made = fs::read_to_string(&file).unwrap();
    home.run(&["init"]).assert_ok();
    let mut server = home.serve();
    assert_eq!(fs::read_to_string(&file).unwrap(), made);
    let found = home.run(&["doctor", "--json"]).assert_ok();
    assert!(found.contains("\"master key\"") && found.contains("master.key"), "{found}");
    let key = made.lines().last().unwrap();
    assert!(key.len() == 43 && !found.contains(key), "{found}");
    assert!(server.process.terminate().success());
    assert!(!server.process.stderr().contains(key) && !server.process.stdout().contains(key));
}

#[test]
fn backup_and_restore_say_where_the_master_key_belongs() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let copy = folder.path().join("copy");
    let told = home.run(&["backup", copy.to_str().unwrap()]).assert_ok();
    assert!(
        told.contains(home.dir.join("master.key").to_str().unwrap()) && !copy.join("master.key").exists(),
        "{told}"
    );
    let other = Home { dir: folder.path().join("other"), database: None };
    let told = other.run(&["restore", copy.to_str().unwrap()]).assert_ok();
    assert!(told.contains(&format!("put that at {}", other.dir.join("master.key").display())), "{told}");
    assert!(!other.dir.join("master.key").exists());
}

#[test]
fn a_master_key_that_others_can_read_keeps_the_server_from_starting() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    fs::set_permissions(home.dir.join("master.key"), Permissions::from_mode(0o644)).unwrap();
    let refused = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code(), Some(2));
    assert!(refused.err.contains("mode 644") && refused.err.contains("hint: chmod 600"), "{}", refused.err);
    let found = home.run(&["doctor"]);
    assert_eq!(found.code(), Some(1));
    assert!(found.out.contains("PROBLEM  master key"), "{}", found.out);
}

#[test]
fn a_key_in_the_environment_stands_in_place_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let key = "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA";
    finish(home.skein().env("SKEIN_VAULT_KEY", key).arg("init")).assert_ok();
    assert!(!home.dir.join("master.key").exists());
    let found = finish(home.skein().env("SKEIN_VAULT_KEY", key).arg("doctor")).assert_ok();
    assert!(found.contains("master key: in the environment"), "{found}");
    let shown = finish(home.skein().env("SKEIN_VAULT_KEY", key).args(["config", "show", "--json"])).assert_ok();
    assert!(!shown.contains(key) && shown.contains("vault.key"), "{shown}");
    let refused = finish(home.skein().env("SKEIN_VAULT_KEY", "short").arg("init"));
    assert_eq!(refused.code(), Some(2));
    assert!(!refused.err.contains("short") && refused.err.contains("openssl rand"), "{}", refused.err);
    assert_eq!(home.run(&["config", "show", "--vault-key", key]).code(), Some(2));
}

#[test]
fn doctor_names_secrets_that_do_not_open_with_the_master_key() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let value = folder.path().join("value");
    fs::write(&value, "k-7f9c24e53b1a").unwrap();
    let id = home.run(&["secret", "create", "key", "--from-file", value.to_str().unwrap(), "-q"]).assert_ok();
    let well = home.run(&["doctor"]).assert_ok();
    assert!(well.contains("secrets: 1, and each opens"), "{well}");
    let other = Home { dir: folder.path().join("other"), database: None };
    other.run(&["init"]).assert_ok();
    fs::copy(other.dir.join("master.key"), home.dir.join("master.key")).unwrap();
    let found = home.run(&["doctor"]);
    assert_eq!(found.code(), Some(1), "{}", found.out);
    assert!(
        found.out.contains("PROBLEM  secrets: 1 of 1 do not open") && found.out.contains(id.trim()),
        "{}",
        found.out
    );
}
