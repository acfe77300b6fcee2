//! The README's story, by the README's own commands: they are read from it, so they cannot drift from what works.

use std::path::Path;

use serde_json::Value;
use skein_testkit::httpbin::Httpbin;
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::process::Program;

use crate::server::{Finished, SKEIN, after, finish};

const README: &str = include_str!("../../../../README.md");
const ADDRESS: &str = "http://127.0.0.1:7420";
const LINK: &str = "LINK";
/// Stands in where the machine has none.
const UUIDGEN: &str = "command -v uuidgen > /dev/null || uuidgen() { cat /proc/sys/kernel/random/uuid; }\n";

/// The commands of one part of the README, by its heading, block by block.
fn commands(heading: &str) -> Vec<&'static str> {
    let part = README.split(&format!("\n## {heading}\n")).nth(1).expect("the README has this part");
    let part = part.split("\n## ").next().unwrap();
    part.split("```sh\n").skip(1).map(|block| block.split("```").next().unwrap()).collect()
}

/// Runs every block in one shell and marks where each ends.
fn run(blocks: &[String], home: &Path) -> Finished {
    let blocks = blocks.join("\necho '=== end of block ==='\n");
    let path = std::env::join_paths([Path::new(SKEIN).parent().unwrap(), Path::new("/usr/bin"), Path::new("/bin")]);
    let shell = Program::new("/bin/bash").arg("-c").arg(format!("set -u\n{UUIDGEN}{blocks}"));
    finish(shell.env("PATH", path.unwrap()).env("HOME", home).current_dir(home))
}

fn json(text: &str) -> Value {
    serde_json::from_str(text.trim()).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn the_first_fact_of_the_readme_is_stated_repeated_watched_exported_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    let serve = Program::new(SKEIN).args(["serve", "--listen", "127.0.0.1:0"]).env("HOME", folder.path());
    let mut server = serve.spawn();
    let address = after(&server.wait_for_line("Skein is listening on "), "listening on ");
    let link = after(&server.wait_for_line("Sign in, once: "), "Sign in, once: ");
    let blocks: Vec<String> = commands("A first fact")
        .into_iter()
        .map(|block| block.replace(ADDRESS, &address).replace(LINK, &link))
        .collect();
    let [_, stated, watched, kept] = run_story(&blocks, folder.path());

    let answers: Vec<Value> = stated.trim().lines().map(json).collect();
    let [first, again] = &answers[..] else { panic!("two answers were expected: {stated}") };
    assert_eq!(first, again);
    assert_eq!(first["data"]["description"], "The heron came back today.");
    let id = first["id"].as_str().unwrap();
    assert_eq!(watched.matches("event: item.appended").count(), 1, "{watched}");
    assert!(watched.contains("event: session.started") && watched.contains("event: key.created"), "{watched}");
    assert!(watched.contains(id), "{watched}");
    assert!(kept.contains("everything.zip") && kept.contains("sealed"), "{kept}");
    assert!(folder.path().join("everything.zip").exists());
    assert!(server.terminate().success(), "{}", server.stderr());
}

/// Said, edited, turned about in, drawn, read and proved.
fn the_first_conversation(database: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let serve = Program::new(SKEIN).args(["serve", "--listen", "127.0.0.1:0"]).env("HOME", folder.path());
    let serve = database.into_iter().fold(serve, |serve, url| serve.env("SKEIN_DATABASE", url));
    let mut server = serve.spawn();
    server.wait_for_line("Skein is listening on ");
    let database = database.map_or_else(String::new, |url| format!("export SKEIN_DATABASE='{url}'\n"));
    let blocks: Vec<String> =
        commands("A first conversation").iter().map(|block| format!("set -e\n{database}{block}")).collect();
    let [told, found] = run_story(&blocks, folder.path());
    assert!(found.contains("Eleven of them.") && found.contains("meaning") && !found.contains("cranes"), "{found}");
    let (drawn, read) = told.split_once("You stand at ").unwrap_or_else(|| panic!("{told}"));
    for words in ["○ ", "● ", "Eleven of them.", "Nine of them; two were cranes.", "Where do they sleep?"] {
        assert!(drawn.contains(words), "{words} is not in {drawn}");
    }
    let read = read.split_once("You stand at ").unwrap_or_else(|| panic!("{told}")).1;
    assert!(read.contains("Eleven of them.") && !read.contains("Nine") && read.contains("valid"), "{read}");
    assert!(server.terminate().success(), "{}", server.stderr());
}

#[test]
fn the_first_conversation_of_the_readme_is_said_edited_switched_shown_and_verified_on_sqlite() {
    the_first_conversation(None);
}

#[test]
fn the_first_conversation_of_the_readme_is_said_edited_switched_shown_and_verified_on_postgres() {
    let database = Database::fresh(Cluster::shared());
    the_first_conversation(Some(database.url()));
}

/// Anna describes a service and shares a tool; Bert calls it with her key and with his own, and reads neither.
fn the_first_tool(database: Option<&str>) {
    let folder = tempfile::tempdir().unwrap();
    let peer = Httpbin::start();
    let serve = Program::new(SKEIN).args(["serve", "--listen", "127.0.0.1:0"]).env("HOME", folder.path());
    let serve = database.into_iter().fold(serve, |serve, url| serve.env("SKEIN_DATABASE", url));
    let mut server = serve.spawn();
    let address = after(&server.wait_for_line("Skein is listening on "), "listening on ");
    let peer = peer.address().to_string();
    let blocks: Vec<String> = commands("A first tool")
        .into_iter()
        .map(|block| block.replace(ADDRESS, &address).replace("127.0.0.1:8000", &peer))
        .collect();
    let database = database.map_or_else(String::new, |url| format!("export SKEIN_DATABASE='{url}'\n"));
    let blocks: Vec<String> = blocks.iter().map(|block| format!("{database}{block}")).collect();
    let [mine, shared] = run_story(&blocks, folder.path());
    assert!(mine.contains("/anything/heron"), "{mine}");
    assert!(shared.contains("/anything/stork") && shared.contains("/anything/crane"), "{shared}");
    assert!(shared.contains("My key") && !shared.contains("Echo key"), "{shared}");
    for told in [mine, shared, server.stderr()] {
        assert!(!told.contains("k-7f9c24e53b1a0d6f") && !told.contains("k-of-bert-himself"), "{told}");
    }
    assert!(server.terminate().success(), "{}", server.stderr());
}

#[test]
fn the_first_tool_of_the_readme_is_made_tested_shared_and_used_by_another_on_sqlite() {
    the_first_tool(None);
}

#[test]
fn the_first_tool_of_the_readme_is_made_tested_shared_and_used_by_another_on_postgres() {
    let database = Database::fresh(Cluster::shared());
    the_first_tool(Some(database.url()));
}

fn run_story<const BLOCKS: usize>(blocks: &[String], home: &Path) -> [String; BLOCKS] {
    let finished = run(blocks, home);
    let told: Vec<String> = finished.out.split("=== end of block ===\n").map(str::to_owned).collect();
    let problem = format!("{}\n{}", finished.out, finished.err);
    finished.assert_ok();
    told.try_into().unwrap_or_else(|_| panic!("the story has other blocks\n{problem}"))
}
