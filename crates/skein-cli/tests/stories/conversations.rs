//! A conversation as its owner lives with it: said, edited, turned about in, forked, folded, opened again, proved, and
//! altered by somebody behind the server's back.

use std::path::Path;

use serde_json::Value;
use skein_core::NodeId;
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::process::Program;

use crate::server::{Finished, Home, SKEIN, finish};

/// One letter of what was said, before and after somebody altered it in the database.
type Letter<'a> = (&'a str, &'a str);

fn json(finished: Finished) -> Value {
    let out = finished.assert_ok();
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

fn line(finished: Finished) -> String {
    let out = finished.assert_ok();
    assert_eq!(out.lines().count(), 1, "{out}");
    out.trim().to_owned()
}

fn refused(finished: &Finished, code: i32, told: &str) {
    assert_eq!(finished.code(), Some(code), "{}\n{}", finished.out, finished.err);
    assert!(finished.err.contains(told) && finished.err.contains("hint: "), "{}", finished.err);
}

/// `conversation` on a home.
struct Garden<'a>(&'a Home);

impl Garden<'_> {
    fn run(&self, words: &[&str]) -> Finished {
        self.0.run(&[&["conversation"], words].concat())
    }

    /// With a line on standard input.
    fn pipe(&self, input: &str, words: &[&str]) -> Finished {
        let Home { dir, database } = self.0;
        let database = database.iter().flat_map(|url| ["--database", url]);
        let skein = Program::new("bash").args(["-c", "echo \"$0\" | \"$@\"", input, SKEIN, "--dir"]);
        finish(skein.arg(dir).args(database).arg("conversation").args(words.iter().copied()))
    }

    /// The id of the node that was said.
    fn say(&self, words: &[&str]) -> String {
        line(self.run(&[words, &["--quiet"]].concat()))
    }

    fn local(&self, conversation: &str, node: &str) -> String {
        json(self.run(&["node", conversation, node, "--json"]))["localId"].as_str().unwrap().to_owned()
    }

    fn read(&self, conversation: &str) -> String {
        self.run(&["show", conversation, "--path"]).assert_ok()
    }
}

/// What was said, by what it says.
struct SaidTurn {
    first: String,
    edit: String,
}

fn branch_edit_and_switch(garden: &Garden<'_>) -> SaidTurn {
    line(garden.run(&["new", "Herons of the lake", "--quiet"]));
    let question = garden.say(&["append", "Herons", "How many herons are there?"]);
    let first = garden.say(&["append", "Herons", "Eleven of them."]);
    let edit = garden.say(&["edit", "Herons", &garden.local("Herons", &first), "Nine of them."]);
    garden.say(&["append", "herons of", "Two were cranes."]);
    let read = garden.read("Herons");
    assert!(read.contains("Nine of them.") && read.contains("Two were cranes.") && !read.contains("Eleven"), "{read}");

    // Nothing is lost: what was said first is still there, and can be turned to.
    let alternatives = json(garden.run(&["alternatives", "Herons", &first, "--json"]));
    assert_eq!(alternatives["alternatives"].as_array().unwrap().len(), 2, "{alternatives}");
    let switched = json(garden.run(&["switch", "Herons", &garden.local("Herons", &first).to_lowercase(), "--json"]));
    assert_eq!(switched["alternativeId"], first.as_str(), "{switched}");
    assert!(!switched["affectedTurns"].as_array().unwrap().is_empty(), "{switched}");
    let read = garden.read("Herons");
    assert!(read.contains("Eleven of them.") && !read.contains("Nine") && !read.contains("cranes"), "{read}");

    // Another answer to the same question, from where it was asked.
    garden.say(&["append", "Herons", "Nobody knows.", "--after", &question]);
    let drawn = garden.run(&["show", "Herons"]).assert_ok();
    for said in ["How many herons", "Eleven of them.", "Nine of them.", "Two were cranes.", "Nobody knows."] {
        assert_eq!(drawn.matches(said).count(), 1, "{said}\n{drawn}");
    }
    assert!(drawn.contains("○ ") && drawn.contains("● ") && !drawn.contains('\u{1b}'), "{drawn}");
    garden.run(&["switch", "Herons", &edit]).assert_ok();
    SaidTurn { first, edit }
}

fn fork_fold_and_reopen(garden: &Garden<'_>, said: &SaidTurn) {
    let fork = garden.say(&["fork", "Herons", "--node", &said.first, "--title", "Storks instead"]);
    garden.say(&["append", "Storks", "And how many storks?"]);
    let read = garden.read(&fork);
    assert!(read.contains("How many herons") && read.contains("Eleven of them."), "{read}");
    assert!(read.trim_end().ends_with("And how many storks?"), "{read}");

    refused(&garden.run(&["fold", "Herons", "Nine, as it seems."]), 6, "rule");
    let folded = json(garden.pipe("No storks.", &["fold", "Storks", "-", "--json"]));
    assert_eq!((&folded["folded"], &folded["summary"]["text"]), (&true.into(), &"No storks.".into()), "{folded}");
    let folded = json(garden.run(&["fold", "Herons", "Nine, as it seems.", "--cite", &said.edit, "--json"]));
    assert_eq!(folded["summary"]["cites"][0], said.edit.as_str(), "{folded}");
    refused(&garden.run(&["append", "Herons", "One more thing."]), 9, "MG-CONV-005");

    let again = json(garden.run(&["reopen", "Herons", "--json"]));
    let id = again["id"].as_str().unwrap();
    assert!(again["continues"].is_string(), "{again}");
    garden.say(&["append", id, "A tenth one came."]);
    let read = garden.read(id);
    assert!(read.contains("Nine of them.") && read.trim_end().ends_with("A tenth one came."), "{read}");
}

fn write_down(garden: &Garden<'_>, said: &SaidTurn, folder: &Path) {
    let whole = garden.run(&["export", "Herons"]).assert_ok();
    assert!(whole.contains("Eleven of them.") && whole.contains("Nine of them.") && whole.contains("Nobody knows."));
    let path = garden.run(&["export", "Herons", "--node", &said.edit]).assert_ok();
    assert!(path.contains("Nine of them.") && !path.contains("Eleven") && !path.contains("Nobody"), "{path}");
    let file = folder.join("herons.html");
    garden.run(&["export", "Herons", file.to_str().unwrap(), "--format", "html"]).assert_ok();
    assert!(std::fs::read_to_string(&file).unwrap().starts_with("<!doctype html>"));
    refused(&garden.run(&["export", "Herons", file.to_str().unwrap(), "--format", "html"]), 5, "exists already");
}

/// `alter` changes one letter of what a node says, in the database itself.
fn prove_and_tamper(garden: &Garden<'_>, said: &SaidTurn, alter: &dyn Fn(&str, Letter<'_>)) {
    let found = json(garden.run(&["verify", "Herons", "--json"]));
    assert_eq!(found["verdict"], "valid", "{found}");
    alter(&said.edit, ("Nine", "Mine"));
    let found = garden.run(&["verify", "Herons"]);
    assert_eq!(found.code(), Some(1), "{}\n{}", found.out, found.err);
    assert!(found.out.contains(&said.edit), "{}", found.out);
    let found = garden.run(&["verify", "Herons", "--node", &said.edit, "--json"]);
    assert_eq!(found.code(), Some(1), "{}\n{}", found.out, found.err);
    // The path that does not lead through it is what it was.
    garden.run(&["verify", "Herons", "--node", &said.first]).assert_ok();
    assert_eq!(garden.0.run(&["verify"]).code(), Some(1));
    alter(&said.edit, ("Mine", "Nine"));
    garden.run(&["verify", "Herons"]).assert_ok();
}

fn story(home: &Home, folder: &Path, alter: &dyn Fn(&str, Letter<'_>)) {
    let mut server = home.serve();
    let garden = Garden(home);
    let said = branch_edit_and_switch(&garden);
    fork_fold_and_reopen(&garden, &said);
    write_down(&garden, &said, folder);
    prove_and_tamper(&garden, &said, alter);
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    home.run(&["verify", "--deep"]).assert_ok();
}

fn hex(node: &str) -> String {
    let node: NodeId = node.parse().unwrap();
    skein_core::digest::to_hex(node.as_bytes())
}

#[test]
fn a_conversation_is_lived_with_and_an_altered_byte_is_found_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let file = home.dir.join("skein.db");
    story(&home, folder.path(), &|node, (before, after)| {
        let database = rusqlite::Connection::open(&file).unwrap();
        database.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
        database.execute_batch("DROP TRIGGER IF EXISTS items_are_never_updated").unwrap();
        let alter = format!(
            "UPDATE items SET payload = CAST(replace(CAST(payload AS TEXT), '{before}', '{after}') AS BLOB)
             WHERE id = (SELECT content FROM nodes WHERE id = x'{}')",
            hex(node)
        );
        assert_eq!(database.execute(&alter, []).unwrap(), 1);
    });
}

#[test]
fn a_conversation_is_lived_with_and_an_altered_byte_is_found_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::fresh(Cluster::shared());
    let url = database.url().to_owned();
    let home = Home { database: Some(url.clone()), ..Home::at(folder.path()) };
    story(&home, folder.path(), &|node, (before, after)| {
        let mut client = postgres::Client::connect(&url, postgres::NoTls).unwrap();
        client.batch_execute("SET session_replication_role = replica").unwrap();
        let alter = format!(
            "UPDATE items SET payload = overlay(payload placing '{after}'::bytea from position('{before}'::bytea in payload))
             WHERE id = (SELECT content FROM nodes WHERE id = '\\x{}'::bytea)",
            hex(node)
        );
        assert_eq!(client.execute(&alter, &[]).unwrap(), 1);
    });
}

#[test]
fn nodes_are_remarked_on_marked_compared_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let garden = Garden(&home);
    garden.run(&["new", "Herons", "--system", "Answer briefly."]).assert_ok();
    let words = folder.path().join("words.txt");
    std::fs::write(&words, "Eleven of them.\nAt least.\n").unwrap();
    let first = garden.say(&["append", "Herons", "--file", words.to_str().unwrap()]);
    let edit = garden.say(&["edit", "Herons", ".", "Nine of them.\nAt least.", "--stay"]);
    assert!(garden.read("Herons").contains("Eleven of them.\nAt least.\n"));

    garden.say(&["annotate", "Herons", &edit, "Who counted?"]);
    let marked = json(garden.run(&["bookmark", "Herons", &first, "the count", "--json"]));
    assert_eq!((&marked["bookmarked"], &marked["label"]), (&true.into(), &"the count".into()), "{marked}");
    garden.run(&["mark", "Herons", &edit, "--tag", "heron", "--exclude"]).assert_ok();
    assert_eq!(line(garden.run(&["nodes", "--bookmarked", "-q"])), first);
    assert_eq!(line(garden.run(&["nodes", "--tag", "heron", "-q"])), edit);
    let drawn = garden.run(&["show", "Herons"]).assert_ok();
    assert!(drawn.contains("(bookmarked)") && drawn.contains("(excluded)"), "{drawn}");
    let remark = drawn.lines().find(|line| line.contains("Who counted?"));
    assert!(remark.is_some_and(|line| line.contains("(annotation)")), "{drawn}");
    let summary = garden.run(&["summary", "Herons", "--node", &first]).assert_ok();
    assert!(summary.contains("Eleven of them.") && summary.contains("skein-offline-1"), "{summary}");
    let renewed = json(garden.run(&["summary", "Herons", "--renew", "--json"]));
    assert!(renewed["itemId"].is_string() && renewed["nodes"] == 3, "{renewed}");
    refused(&garden.run(&["summary", "Herons", "--node", "ZZZZZZ"]), 8, "ZZZZZZ");

    let bundle = folder.path().join("herons.zip");
    let bundle = bundle.to_str().unwrap();
    let written = json(garden.run(&["export", "Herons", bundle, "--format", "bundle", "--json"]));
    assert!(written["bytes"].as_u64().is_some_and(|bytes| bytes > 0), "{written}");
    let taken = json(home.run(&["import", bundle, "--json"]));
    assert_eq!((&taken["added"], taken["skipped"].as_u64() > Some(5)), (&0.into(), true), "{taken}");
    refused(&garden.run(&["export", "Herons", "-", "--format", "bundle", "--node", "."]), 2, "all of a conversation");
    assert!(garden.read("Herons").contains("bookmarked: the count"));

    let compared = garden.run(&["compare", "Herons", &first, &edit]).assert_ok();
    assert_eq!(compared.trim(), "[-Eleven-]{+Nine+} of them.\nAt least.");
    let context = garden.run(&["context", "Herons"]).assert_ok();
    assert!(context.contains("systemContext") && context.contains(&first), "{context}");
    let chain = garden.run(&["provenance", "Herons", "."]).assert_ok();
    assert!(chain.contains(&first), "{chain}");

    json(garden.run(&["archive", "Herons", "--json"]));
    assert_eq!(garden.run(&["list", "-q"]).assert_ok(), "");
    garden.say(&["append", "Herons", "It wakes."]);
    line(garden.run(&["list", "-q"]));
    garden.run(&["change", "Herons", "--title", "Storks"]).assert_ok();
    assert!(home.run(&["project", "frames", "My project"]).assert_ok().contains("user_"));
    home.run(&["project", "new", "Lake"]).assert_ok();
    let moved = line(garden.run(&["move", "Storks", "Lake", "-q"]));
    assert_eq!(line(home.run(&["project", "stack", "Lake", "-q"])), moved);
    assert_eq!(line(garden.run(&["list", "--project", "Lake", "-q"])), moved);
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn manual_pages_and_completions_know_every_command_about_conversations() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["man", folder.path().to_str().unwrap()]).assert_ok();
    let completions = home.run(&["completions", "bash"]).assert_ok();
    let commands = "list show new append edit switch fork fold reopen verify export alternatives annotate mark bookmark \
                    archive context compare summary";
    for command in commands.split(' ').filter(|command| !command.is_empty()) {
        assert!(folder.path().join(format!("skein-conversation-{command}.1")).exists(), "no page for {command}");
        assert!(completions.contains(&format!("skein__subcmd__conversation__subcmd__{command}")), "{command}");
    }
    for command in ["list", "new", "show", "frames"] {
        assert!(folder.path().join(format!("skein-project-{command}.1")).exists(), "no page for {command}");
    }
}

#[test]
fn what_cannot_be_found_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let garden = Garden(&home);
    refused(&garden.run(&["show", "Herons"]), 8, "there is no conversation");
    garden.run(&["new", "Herons"]).assert_ok();
    garden.run(&["new", "Herons by night"]).assert_ok();
    refused(&garden.run(&["show", "her"]), 2, "Herons by night");
    refused(&garden.run(&["switch", "Herons", "."]), 8, "nothing was said");
    refused(&garden.run(&["append", "Herons", "--file", "nowhere.txt"]), 2, "nowhere.txt");
    refused(&garden.run(&["append", "Herons", " "]), 6, "AG-EDIT-004");
    garden.say(&["append", "Herons", "Hello."]);
    refused(&garden.run(&["switch", "Herons", "ZZZZZZ"]), 8, "ZZZZZZ");
    refused(&garden.run(&["reopen", "Herons"]), 6, "MG-CONV-006");
    assert!(garden.run(&["show", "Herons by"]).assert_ok().contains("Nothing was said yet."));
}
