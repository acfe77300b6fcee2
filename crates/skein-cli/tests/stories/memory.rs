//! Stories of recall: on the right branch, a year later, as of a date, without a network, and after a crash.

use serde_json::{Value, json};
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::wait::until;

use crate::interrupted::{ask, ended, made};
use crate::server::{Home, Server};
use crate::whole_story::{answer, named};

const YEAR_MS: &str = "31536000000";

/// Says something after a node, or first of all; the node it became, and its turn.
fn say(server: &Server, conversation: &str, after: Option<&str>, text: &str) -> (String, String) {
    let body = json!({ "text": text, "parentAlternativeId": after });
    let said = ask(server, "POST", &format!("/conversations/{conversation}/turns"), &body);
    let [node, turn] = ["node", "turn"].map(|name| said[name]["id"].as_str().unwrap().to_owned());
    (node, turn)
}

/// What a question finds, once the index knows everything said before it.
fn recall(home: &Home, server: &Server, words: &[&str]) -> Vec<String> {
    until("everything is indexed", || {
        let index = ask(server, "GET", "/index", &Value::Null);
        (index["behind"] == 0 && index["unbound"] == json!([])).then_some(())
    });
    let answer: Value = serde_json::from_str(&home.run(&[&["recall", "--json"], words].concat()).assert_ok()).unwrap();
    assert_eq!(answer["searched"]["by"], "index", "{answer}");
    answer["data"].as_array().unwrap().iter().map(|hit| hit["snippet"].as_str().unwrap().to_owned()).collect()
}

fn told_branched_and_asked_a_year_later(home: &Home) {
    let mut server = home.serve();
    let trip = made(&server, "/conversations", &json!({ "title": "Trip" }));
    let (ask_where, _) = say(&server, &trip, None, "Where shall we spend the holiday?");
    let (left, turn) = say(&server, &trip, Some(&ask_where), "We spend the holiday in Portugal.");
    let edit = json!({ "content": { "type": "text", "text": "We spend the holiday in Norway." }, "makeActive": true,
        "editedFrom": left });
    let path = format!("/conversations/{trip}/turns/{turn}/alternatives");
    let right = ask(&server, "POST", &path, &edit)["node"]["id"].as_str().unwrap().to_owned();
    let on_left = recall(home, &server, &["where is the holiday", "--node", &left]);
    assert!(on_left.iter().any(|said| said.contains("Portugal")), "{on_left:?}");
    assert!(!on_left.iter().any(|said| said.contains("Norway")), "{on_left:?}");
    let on_right = recall(home, &server, &["where is the holiday", "--node", &right]);
    assert!(on_right.iter().any(|said| said.contains("Norway")), "{on_right:?}");
    assert!(!on_right.iter().any(|said| said.contains("Portugal")), "{on_right:?}");

    let elsewhere = made(&server, "/conversations", &json!({ "title": "Later" }));
    say(&server, &elsewhere, None, "Where do we spend the holiday?");
    let chat = named(&server, "/processes", "Chat with memory");
    let (run, node) = answer(&server, &elsewhere, &chat);
    assert_eq!(ended(&server, &run)["status"], "completed");
    let answered = ask(&server, "GET", &format!("/nodes/{node}"), &Value::Null)["content"]["text"].to_string();
    assert!(answered.contains("Norway") && answered.contains(&right), "it is quoted, with where it stands: {answered}");
    assert!(!answered.contains("Portugal"), "{answered}");
    let before =
        ask(&server, "GET", &format!("/nodes/{right}"), &Value::Null)["createdAt"].as_str().unwrap().to_owned();
    assert!(server.process.terminate().success(), "{}", server.process.stderr());

    let mut server = Server::start(home.skein().env("DEBUG_SKEIN_AHEAD_MS", YEAR_MS));
    say(&server, &trip, Some(&right), "The next holiday will be in Iceland.");
    let now = recall(home, &server, &["holiday", "--conversation", &trip]);
    assert!(
        now.iter().any(|said| said.contains("Iceland")) && now.iter().any(|said| said.contains("Norway")),
        "{now:?}"
    );
    let then = recall(home, &server, &["holiday", "--conversation", &trip, "--as-of", &before]);
    assert!(
        then.iter().any(|said| said.contains("Norway")) && !then.iter().any(|said| said.contains("Iceland")),
        "{then:?}"
    );
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn what_was_told_is_found_on_its_branch_and_as_of_then_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    told_branched_and_asked_a_year_later(&Home::at(folder.path()));
}

#[test]
fn what_was_told_is_found_on_its_branch_and_as_of_then_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::fresh(Cluster::shared());
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    told_branched_and_asked_a_year_later(&home);
}

#[test]
fn fault_an_index_that_is_killed_deleted_or_spoilt_is_whole_again() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    for round in 0..4 {
        let talk = made(&server, "/conversations", &json!({}));
        let mut last = None;
        for number in 0..25 {
            last = Some(say(&server, &talk, last.as_deref(), &format!("Heron {number} of round {round}.")).0);
        }
        server.process.kill_nine();
        let index = home.dir.join("index");
        match round {
            1 => std::fs::remove_dir_all(&index).unwrap(),
            2 => std::fs::write(index.join("index.json"), "{").unwrap(),
            _ => {}
        }
        server = home.serve();
        let found = recall(&home, &server, &["heron", "--limit", "100"]);
        assert_eq!(found.len(), ((round + 1) * 25).min(100), "nothing is lost and nothing is there twice: {found:?}");
    }
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    assert!(home.run(&["index", "rebuild"]).assert_ok().contains("100 episodes"));
    home.run(&["verify", "--deep"]).assert_ok();
}

/// Whether any file under a folder holds these bytes.
fn holds(folder: &std::path::Path, wanted: &[u8]) -> bool {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            holds(&path, wanted)
        } else {
            std::fs::read(&path).unwrap().windows(wanted.len()).any(|bytes| bytes == wanted)
        }
    })
}

#[test]
fn fault_an_index_that_is_killed_while_it_forgets_has_forgotten_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    let talk = made(&server, "/conversations", &json!({}));
    let mut said = Vec::new();
    for number in 0..20 {
        let last = said.last().cloned();
        said.push(say(&server, &talk, last.as_deref(), &format!("Heron {number} is called secret{number}x.")).0);
    }
    assert_eq!(recall(&home, &server, &["heron", "--limit", "100"]).len(), 20);
    for (round, node) in said.iter().take(3).enumerate() {
        ask(&server, "POST", &format!("/items/{node}/redact"), &json!({ "reason": "asked to" }));
        server.process.kill_nine();
        server = home.serve();
        assert_eq!(recall(&home, &server, &["heron", "--limit", "100"]).len(), 19 - round);
        let word = format!("secret{round}x");
        let found = recall(&home, &server, &[&word, "--strict"]);
        assert!(!found.iter().any(|said| said.contains(&word)), "{found:?}");
        assert!(!holds(&home.dir.join("index"), word.as_bytes()), "round {round}");
    }
    assert!(holds(&home.dir.join("index"), b"secret9x"), "the files are looked at");
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
}

#[test]
fn an_index_is_built_again_beside_a_running_server() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    let talk = made(&server, "/conversations", &json!({}));
    let mut last = None;
    for number in 0..10 {
        last = Some(say(&server, &talk, last.as_deref(), &format!("Heron {number} of the lake.")).0);
    }
    assert_eq!(recall(&home, &server, &["heron", "--limit", "100"]).len(), 10);
    assert!(home.run(&["index", "rebuild"]).assert_ok().contains("10 episodes"));
    assert_eq!(recall(&home, &server, &["heron", "--limit", "100"]).len(), 10);
    let index: Value = serde_json::from_str(&home.run(&["index", "rebuild", "--json"]).assert_ok()).unwrap();
    assert_eq!((&index["caughtUp"], &index["owners"][0]["episodes"]), (&json!(true), &json!(10)), "{index}");
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    assert!(home.run(&["index", "rebuild"]).assert_ok().contains("10 episodes"));
}

#[test]
fn recall_is_narrowed_to_people_projects_and_kinds() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    let project = made(&server, "/projects", &json!({ "name": "Garden" }));
    let inside = made(&server, "/conversations", &json!({ "projectId": project }));
    let outside = made(&server, "/conversations", &json!({}));
    say(&server, &inside, None, "The heron stands in the garden.");
    say(&server, &outside, None, "The heron stands at the mill.");
    made(&server, "/episodes", &json!({ "source": "text", "content": "The heron stands in a book." }));
    made(&server, "/actors", &json!({ "name": "Magnolia", "type": "model", "modelRef": "openai:gpt" }));
    let found = |words: &[&str]| recall(&home, &server, &[&["heron", "--strict"], words].concat());
    assert_eq!(found(&[]).len(), 3);
    assert_eq!(found(&["--project", "garden"]), ["The heron stands in the garden."]);
    assert_eq!(found(&["--within", &outside]), ["The heron stands at the mill."]);
    assert_eq!(found(&["--kind", "text"]), ["The heron stands in a book."]);
    assert_eq!(found(&["--kind", "text", "--kind", "message"]).len(), 3);
    assert_eq!(found(&["--person", "Magnolia"]), Vec::<String>::new());
    let account = ask(&server, "GET", "/account", &Value::Null);
    let [id, name] = ["id", "name"].map(|field| account["user"][field].as_str().unwrap().to_owned());
    assert_eq!((found(&["--person", &id]).len(), found(&["--person", &name]).len()), (2, 2));
    let refused = home.run(&["recall", "heron", "--person", "Nobody"]);
    assert!(refused.err.contains("nobody and nothing is called"), "{}", refused.err);
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
}
