//! Vectors made by somebody else, with the real binary: configured, switched to, killed in the middle, refused.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use skein_testkit::hostile_server::{Behaviour, HostileServer};
use skein_testkit::http::fresh_key;
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::process::Program;
use skein_testkit::wait::until;

use crate::interrupted::ask;
use crate::server::{Home, Server};

const EPISODES: usize = 600;
const KEY: &str = "sk-canary-7f3a9c";

/// An endpoint that answers only so many requests, and remembers of which texts it gave vectors.
struct Endpoint {
    rogue: HostileServer,
    allowed: Arc<AtomicUsize>,
    given: Arc<Mutex<HashMap<String, usize>>>,
}

impl Endpoint {
    fn start(allowed: usize) -> Self {
        let (allowed, given) = (Arc::new(AtomicUsize::new(allowed)), Arc::new(Mutex::new(HashMap::new())));
        let (left, told) = (Arc::clone(&allowed), Arc::clone(&given));
        let rogue = HostileServer::start(move |request| {
            assert_eq!(request.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
            let taken = left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
            if taken.is_err() {
                return Behaviour::Silence;
            }
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let texts = body["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap());
            let vectors = texts.enumerate().map(|(index, text)| {
                *told.lock().unwrap().entry(text.to_owned()).or_insert(0) += 1;
                json!({ "index": index, "embedding": vector(text) })
            });
            Behaviour::json(&json!({ "data": vectors.collect::<Vec<_>>() }).to_string())
        });
        Self { rogue, allowed, given }
    }

    /// With a home, and this one configured.
    fn skein(&self, home: &Home) -> Program {
        let skein = home.skein().env("SKEIN_EMBEDDER_KEY", KEY);
        skein.args(["--embedder-url", &self.rogue.endpoint(), "--embedder-model", "story"])
    }

    fn answer_all(&self) {
        self.allowed.store(usize::MAX, Ordering::SeqCst);
    }
}

/// Herons of an even number resemble waterfowl, others do not.
fn vector(text: &str) -> Value {
    if text.contains("7 of") || text.contains("waterfowl") { json!([1.0, 0.1]) } else { json!([0.0, 1.0]) }
}

fn bring(server: &Server, text: &str) {
    let headers = format!("Authorization: Bearer {}\r\nIdempotency-Key: {}\r\n", server.key, fresh_key().unwrap());
    let body = json!({ "source": "text", "content": text }).to_string();
    let kept = server.connect().send("POST", "/api/v1/episodes", &headers, &body).unwrap();
    assert_eq!(kept.status, 201, "{}", kept.body);
}

fn index(server: &Server) -> Value {
    ask(server, "GET", "/index", &Value::Null)
}

fn killed_while_vectors_are_made_anew(home: &Home) {
    let mut server = home.serve();
    for number in 0..EPISODES {
        bring(&server, &format!("Heron {number} of many."));
    }
    until("everything is indexed", || (index(&server)["episodes"] == EPISODES).then_some(()));
    assert!(server.process.terminate().success(), "{}", server.process.stderr());

    // One request is for the length of vectors, three are whole batches; the next one hangs.
    let endpoint = Endpoint::start(4);
    let mut server = Server::start(endpoint.skein(home));
    until("the endpoint hangs", || (endpoint.rogue.requests().len() > 4).then_some(()));
    let state = index(&server);
    assert!(!state["embedder"].as_str().unwrap().starts_with("endpoint"), "the old vectors serve: {state}");
    let found = ask(&server, "POST", "/search", &json!({ "text": "Heron 17 of many." }));
    assert_eq!((&found["searched"]["byMeaning"], &found["searched"]["by"]), (&json!(true), &json!("index")));
    let shown = home.run(&["index", "status"]).assert_ok();
    assert!(shown.contains("endpoint story "), "{shown}");
    server.process.kill_nine();

    endpoint.answer_all();
    let mut server = Server::start(endpoint.skein(home));
    let state = until("the new vectors serve", || {
        let state = index(&server);
        state["embedder"].as_str().is_some_and(|name| name.starts_with("endpoint story ")).then_some(state)
    });
    assert_eq!((&state["episodes"], &state["withVector"]), (&json!(EPISODES), &json!(EPISODES)), "{state}");
    assert!(state["switching"].is_null() && state["embedderFailure"].is_null(), "{state}");
    let given = endpoint.given.lock().unwrap().clone();
    for number in 0..EPISODES {
        assert_eq!(given.get(&format!("Heron {number} of many.")), Some(&1), "{number}");
    }
    let found = ask(&server, "POST", "/search", &json!({ "text": "waterfowl", "limit": 100 }));
    let found: Vec<&str> =
        found["data"].as_array().unwrap().iter().map(|hit| hit["snippet"].as_str().unwrap()).collect();
    assert!(found.len() == 60 && found.iter().all(|text| text.contains("7 of many")), "{found:?}");
    let counted = server.get("/metrics").body;
    assert!(counted.contains(r#"embedding_total{what="made"}"#), "{counted}");
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    assert!(!server.process.stderr().contains(KEY), "{}", server.process.stderr());
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn kill_nine_while_vectors_are_made_anew_loses_nothing_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    killed_while_vectors_are_made_anew(&Home::at(folder.path()));
}

#[test]
fn kill_nine_while_vectors_are_made_anew_loses_nothing_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::fresh(Cluster::shared());
    killed_while_vectors_are_made_anew(&Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) });
}

#[test]
fn a_command_without_a_server_asks_the_embedder_too() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let endpoint = Endpoint::start(usize::MAX);
    let run = |words: &[&str]| {
        let finished = crate::server::finish(endpoint.skein(&home).args(words.iter().copied()));
        assert!(!finished.out.contains(KEY) && !finished.err.contains(KEY), "{}", finished.err);
        finished.assert_ok()
    };
    run(&["episode", "add", "Heron 7 of two."]);
    run(&["episode", "add", "Heron 8 of two."]);
    let found: Value = serde_json::from_str(&run(&["recall", "waterfowl", "--json"])).unwrap();
    assert_eq!(found["data"][0]["snippet"], "Heron 7 of two.", "{found}");
    assert_eq!((&found["searched"]["byMeaning"], found["data"].as_array().unwrap().len()), (&json!(true), 1));
    let shown = run(&["config", "show"]);
    assert!(shown.contains("embedder.url") && shown.contains("embedder.key"), "{shown}");
    endpoint.allowed.store(0, Ordering::SeqCst);
    let explained = run(&["recall", "heron", "--explain"]);
    assert!(explained.contains("not by meaning: embedder_failed"), "{explained}");
}

#[test]
fn what_cannot_be_an_embedder_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    for (words, said) in [
        (vec!["--embedder-url", "http://127.0.0.1:1"], "embedder.model"),
        (vec!["--embedder-url", "http://127.0.0.1:1", "--embedder-directory", "/m"], "leave the other out"),
        (vec!["--embedder-url", "ftp://host", "--embedder-model", "m"], "embedder.url cannot be used"),
        (
            vec!["--embedder-url", "http://127.0.0.1:1", "--embedder-model", "m", "--embedder-dimensions", "0"],
            "embedder.dimensions",
        ),
        (vec!["--embedder-seconds", "soon"], "embedder.seconds"),
        (
            vec!["--embedder-url", "http://127.0.0.1:1", "--embedder-model", "m", "--embedder-seconds", "0"],
            "cannot be 0",
        ),
        (vec!["--embedder-model", "m"], "embedder.model (--embedder-model) has no effect without embedder.url"),
        (vec!["--embedder-directory", "/m", "--embedder-dimensions", "3"], "has no effect without embedder.url"),
        (vec!["--embedder-seconds", "3"], "has no effect without embedder.url or embedder.directory"),
        (vec!["--telemetry-content", "on"], "has no effect without telemetry.endpoint"),
        (vec!["--embedder-directory", "/nowhere"], "cannot be used"),
        (
            vec!["--embedder-url", "http://127.0.0.1:1", "--embedder-model", "m", "--embedder-key-file", "/nowhere"],
            "cannot read /nowhere",
        ),
    ] {
        let finished = home.run(&[words.as_slice(), &["recall", "heron"]].concat());
        assert!(!finished.status.success() && finished.err.contains(said), "{words:?}: {}", finished.err);
    }
}
