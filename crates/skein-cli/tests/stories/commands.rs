//! Administrative commands one after another, on both databases.

use skein_testkit::postgres::{Cluster, Database};

use crate::server::{Home, after, finish, id_of};

fn story(home: &Home, other: &Home) {
    home.run(&["init"]).assert_ok();
    home.run(&["init"]).assert_ok();
    let mut server = home.serve();
    let ids: Vec<String> = (0..30).map(|number| id_of(&server.note(&format!("fact {number}")))).collect();
    assert_eq!(server.get("/health/live").status, 200);
    assert_eq!(server.get("/health/ready").status, 200);

    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy");
    home.run(&["backup", copy.to_str().unwrap()]).assert_ok();
    home.run(&["verify", "--deep"]).assert_ok();
    home.run(&["doctor"]).assert_ok();
    let room: serde_json::Value = serde_json::from_str(&home.run(&["storage", "--json"]).assert_ok()).unwrap();
    let kind = if home.database.is_some() { "postgresql" } else { "sqlite" };
    assert_eq!((&room["database"]["kind"], &room["blobs"]["objects"]), (&kind.into(), &0.into()), "{room}");
    assert!(server.process.terminate().success(), "{}", server.process.stderr());

    let bytes: u64 = home.run(&["storage", "--quiet"]).assert_ok().trim().parse().unwrap();
    assert!(bytes > 100_000, "{bytes}");
    let proof = home.run(&["proof", &ids[0]]).assert_ok();
    let file = folder.path().join("proof.json");
    std::fs::write(&file, &proof).unwrap();
    let nowhere = Home::at(folder.path());
    nowhere.run(&["verify", "--proof", file.to_str().unwrap()]).assert_ok();
    std::fs::write(&file, proof.replacen("fact 0", "fact X", 1)).unwrap();
    assert_eq!(nowhere.run(&["verify", "--proof", file.to_str().unwrap()]).code(), Some(1));

    let report = home.run(&["verify", "--json"]).assert_ok();
    let head = after(&report, "\"head\"").split('"').nth(1).unwrap().to_owned();
    home.run(&["verify", "--expect", &head]).assert_ok();
    let wrong = home.run(&["verify", "--expect", &"0".repeat(64)]);
    assert_eq!(wrong.code(), Some(1), "{}", wrong.out);

    let again = home.run(&["backup", folder.path().join("again").to_str().unwrap(), "--json"]).assert_ok();
    let again: serde_json::Value = serde_json::from_str(&again).unwrap();
    assert!(again["items"].as_u64().unwrap() > 30 && again["lostBlobs"] == serde_json::json!([]), "{again}");

    let report = other.run(&["restore", copy.to_str().unwrap(), "--json"]).assert_ok();
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    assert_eq!(report["verification"]["ok"], true, "{report}");
    let restored = other.serve();
    assert_eq!(restored.get(&format!("/api/v1/items/{}", ids[29])).status, 200);
    assert_eq!(other.run(&["restore", copy.to_str().unwrap()]).code().map(|code| code == 0), Some(false));
}

#[test]
fn the_readme_works_on_sqlite_and_restores_to_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::fresh(Cluster::shared());
    let other = Home { dir: folder.path().join("other"), database: Some(database.url().to_owned()) };
    story(&Home::at(folder.path()), &other);
}

#[test]
fn the_readme_works_on_postgres_and_restores_to_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::fresh(Cluster::shared());
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    story(&home, &Home { dir: folder.path().join("other"), database: None });
}

#[test]
fn what_was_altered_is_located_by_verify() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    let ids: Vec<String> = (0..3).map(|number| id_of(&server.note(&number.to_string()))).collect();
    assert!(server.process.terminate().success());
    let database = rusqlite::Connection::open(home.dir.join("skein.db")).unwrap();
    database.execute_batch("DROP TRIGGER items_are_never_updated").unwrap();
    let altered =
        "UPDATE items SET payload = CAST(replace(CAST(payload AS TEXT), '1', '7') AS BLOB) WHERE type = 'Note'";
    database.execute(altered, []).unwrap();
    drop(database);
    let finished = home.run(&["verify"]);
    assert_eq!(finished.code(), Some(1));
    for part in [&ids[1], &ids[0], "expected", "found"] {
        assert!(finished.out.contains(part), "{part:?} is not in\n{}", finished.out);
    }
}

#[test]
fn one_altered_version_leaves_the_history_of_its_record_readable() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let user = home.run(&["user", "list", "-q"]).assert_ok().trim().to_owned();
    home.run(&["user", "change", &user, "--name", "anne"]).assert_ok();
    let database = rusqlite::Connection::open(home.dir.join("skein.db")).unwrap();
    database.execute_batch("DROP TRIGGER items_are_never_updated").unwrap();
    let altered = "UPDATE items SET payload = x'7b7d' WHERE id IN (SELECT item FROM record_versions WHERE version = 2)";
    assert_eq!(database.execute(altered, []).unwrap(), 1);
    drop(database);
    let listed = home.run(&["history", &user.replace("user_", "entity_"), "--json"]).assert_ok();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    let authors: Vec<bool> = (0..2).map(|at| listed["data"][at]["author"].is_string()).collect();
    assert_eq!(authors, [true, false], "{listed}");
}

#[test]
fn an_old_object_that_nobody_names_is_swept_when_the_server_starts() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let orphan = |name: &str| home.dir.join("blobs").join(&name[..2]).join(name);
    let (old, fresh) = (orphan(&"ab".repeat(32)), orphan(&"cd".repeat(32)));
    for path in [&old, &fresh] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "x").unwrap();
    }
    let two_days_ago = std::fs::metadata(&fresh).unwrap().modified().unwrap() - std::time::Duration::from_hours(48);
    std::fs::File::options().write(true).open(&old).unwrap().set_modified(two_days_ago).unwrap();
    let server = home.serve();
    server.process.wait_for_line_on(skein_testkit::process::Stream::Stderr, "removed blobs");
    assert!(!old.exists() && fresh.exists());
}

#[test]
fn arguments_that_make_no_sense_are_refused_with_help() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    for words in
        [&["frobnicate"][..], &["verify", "--expect", "xyz"], &["proof", "item_1"], &["serve", "--listen", "here"]]
    {
        let finished = home.run(words);
        assert_eq!(finished.code(), Some(2), "{words:?}: {}", finished.err);
        assert!(!finished.err.is_empty());
    }
    let help = finish(home.skein().arg("--help"));
    assert!(help.out.contains("Exit codes"));
}
