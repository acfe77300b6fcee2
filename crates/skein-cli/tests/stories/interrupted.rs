//! A server dies, or stalls, in the middle of a run whose tool is slow: the run goes on, or waits for a person who knows.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use skein_testkit::hostile_server::{Behaviour, HostileServer};
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::wait::until;

use crate::server::{Home, Server};

/// Long enough for leases to run out on a machine that is busy.
const PATIENCE: Duration = Duration::from_mins(1);

/// A service that answers nobody until it is told to.
pub(crate) struct Slow {
    pub(crate) rogue: HostileServer,
    gate: Arc<(Mutex<bool>, Condvar)>,
    arrived: Arc<AtomicUsize>,
}

impl Slow {
    /// It keeps its first request waiting for as long as the gate is shut, and answers every other at once.
    pub(crate) fn start() -> Self {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let arrived = Arc::new(AtomicUsize::new(0));
        let (kept, counted) = (Arc::clone(&gate), Arc::clone(&arrived));
        let rogue = HostileServer::start(move |_| {
            if counted.fetch_add(1, Ordering::SeqCst) == 0 {
                let (is_open, told) = &*kept;
                let shut = told.wait_timeout_while(is_open.lock().unwrap(), PATIENCE, |is_open| !*is_open);
                drop(shut.unwrap());
            }
            Behaviour::json(r#"{"word":"done"}"#)
        });
        Self { rogue, gate, arrived }
    }

    fn open(&self) {
        *self.gate.0.lock().unwrap() = true;
        self.gate.1.notify_all();
    }

    pub(crate) fn wait_for_requests(&self, count: usize) {
        until("the requests arrive", || (self.arrived() >= count).then_some(()));
    }

    /// Requests that came, whether they were answered or not.
    pub(crate) fn arrived(&self) -> usize {
        self.arrived.load(Ordering::SeqCst)
    }
}

impl Drop for Slow {
    fn drop(&mut self) {
        self.open();
    }
}

pub(crate) fn ask(server: &Server, method: &str, path: &str, body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = server.connect().request(method, &format!("/api/v1{path}"), &server.key, &body).unwrap();
    assert!(answer.status < 300, "{method} {path}: {} {}", answer.status, answer.body);
    serde_json::from_str(&answer.body).unwrap()
}

pub(crate) fn made(server: &Server, path: &str, body: &Value) -> String {
    let made = ask(server, "POST", path, body);
    made["id"].as_str().unwrap_or_else(|| panic!("{path}: {made}")).to_owned()
}

/// Begins a run of one step that calls the slow service, and waits until the call is under way.
fn begin(server: &Server, slow: &Slow, method: &str) -> String {
    let run = execute(server, &slow.rogue, method);
    slow.wait_for_requests(1);
    run
}

fn execute(server: &Server, rogue: &HostileServer, method: &str) -> String {
    let process = calling(server, rogue, method);
    let begun = ask(server, "POST", &format!("/processes/{process}/execute"), &json!({}));
    begun["executionId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned()
}

/// A process of one step that calls a service.
fn calling(server: &Server, rogue: &HostileServer, method: &str) -> String {
    let address = rogue.address();
    made(server, "/allowed-endpoints", &json!({ "host": address.ip().to_string(), "port": address.port() }));
    let schema =
        json!({ "type": "object", "required": ["endpoint"], "properties": { "endpoint": { "type": "string" } } });
    let service = json!({ "name": "slow", "type": "rest_api", "protocol": "http", "connectionSchema": schema });
    let service = made(server, "/services", &service);
    let operation = json!({ "type": "rest_call", "method": method, "path": "/word" });
    let tool = json!({ "name": "word", "serviceId": service, "operation": operation,
        "connectionParams": { "endpoint": rogue.endpoint() }, "inputSchema": { "type": "object" } });
    let tool = made(server, "/tools", &tool);
    let step = json!({ "id": "a", "toolId": tool, "inputs": {}, "output": { "variable": "a" } });
    let process = json!({ "name": "p", "initialContext": [], "steps": [step], "outputTemplate": "{{a.word}}" });
    made(server, "/processes", &process)
}

pub(crate) fn ended(server: &Server, run: &str) -> Value {
    until("the run has ended", || {
        Some(ask(server, "GET", &format!("/executions/{run}"), &Value::Null)).filter(|run| run["status"] != "running")
    })
}

#[test]
fn a_server_that_is_killed_in_the_middle_of_a_safe_call_goes_on_when_it_is_started_again() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let (mut server, slow) = (home.serve(), Slow::start());
    let run = begin(&server, &slow, "GET");
    server.process.kill_nine();
    let server = home.serve();
    let run = ended(&server, &run);
    assert_eq!((&run["status"], &run["output"]), (&json!("completed"), &json!("done")), "{run}");
    assert_eq!(slow.arrived(), 2);
}

#[test]
fn a_call_that_must_not_be_repeated_waits_for_a_person_after_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let (mut server, slow) = (home.serve(), Slow::start());
    let run = begin(&server, &slow, "POST");
    server.process.kill_nine();
    let server = home.serve();
    let review = until("somebody is asked", || ask(&server, "GET", "/reviews", &Value::Null)["data"].get(0).cloned());
    assert_eq!(review["asked"]["kind"], "unknown", "{review}");
    assert_eq!(slow.arrived(), 1, "it was not repeated");
    let path = format!("/reviews/{}/decide", review["id"].as_str().unwrap());
    ask(&server, "POST", &path, &json!({ "decision": "approve" }));
    let run = ended(&server, &run);
    assert_eq!(run["output"], "done", "{run}");
    assert_eq!(slow.arrived(), 2);
}

/// A server dies while an answer is generated; after the restart `end` ends the execution without a result.
fn answer_ends_after_a_kill(home: &Home, status: &str, end: impl Fn(&Server, &str)) {
    let (mut server, slow) = (home.serve(), Slow::start());
    let conversation = format!("/conversations/{}", made(&server, "/conversations", &json!({})));
    let asked = ask(&server, "POST", &format!("{conversation}/turns"), &json!({ "text": "How many?" }));
    let asked = asked["node"]["id"].clone();
    let process = calling(&server, &slow.rogue, "POST");
    let answer = json!({ "speaker": "agent", "parentAlternativeId": asked, "processIds": [process] });
    let begun = ask(&server, "POST", &format!("{conversation}/turns"), &answer)["answers"][0].clone();
    slow.wait_for_requests(1);
    let state = |server: &Server| {
        let shown = ask(server, "GET", &conversation, &Value::Null);
        (shown["cursorNodeId"].clone(), shown["processId"].clone())
    };
    assert_eq!(state(&server), (begun["node"]["id"].clone(), json!(process)));
    server.process.kill_nine();
    let mut server = home.serve();
    let run = begun["executionId"].as_str().unwrap();
    end(&server, run);
    let run = ended(&server, run);
    assert_eq!(run["status"], status, "{run}");
    assert_eq!(state(&server), (asked, Value::Null));
    let failed = ask(&server, "GET", &format!("/nodes/{}", begun["node"]["id"].as_str().unwrap()), &Value::Null);
    assert_eq!(failed["status"], "failed", "{failed}");
    assert!(server.process.terminate().success());
    home.run(&["verify", "--deep"]).assert_ok();
}

#[test]
fn br_exec_001_an_answer_that_fails_after_kill_nine_leaves_the_conversation_as_it_was_on_sqlite_holds() {
    let folder = tempfile::tempdir().unwrap();
    answer_ends_after_a_kill(&Home::at(folder.path()), "failed", |server, _| {
        let review =
            until("somebody is asked", || ask(server, "GET", "/reviews", &Value::Null)["data"].get(0).cloned());
        let decide = format!("/reviews/{}/decide", review["id"].as_str().unwrap());
        ask(server, "POST", &decide, &json!({ "decision": "deny" }));
    });
}

#[test]
fn br_exec_001_an_answer_cancelled_after_kill_nine_leaves_the_conversation_as_it_was_on_postgres_holds() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::fresh(Cluster::shared());
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    answer_ends_after_a_kill(&home, "cancelled", |server, run| {
        ask(server, "POST", &format!("/executions/{run}/cancel"), &json!({}));
    });
}

#[test]
fn a_tool_whose_answer_has_no_end_fails_its_step_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let server = Home::at(folder.path()).serve();
    let rogue = HostileServer::start(|_| Behaviour::Endless);
    let run = execute(&server, &rogue, "GET");
    let run = ended(&server, &run);
    assert_eq!((&run["status"], &run["error"]["code"]), (&json!("failed"), &json!("answer_too_large")), "{run}");
    assert_eq!(rogue.requests().len(), 1);
}

/// From the next start on, what a server held that died is taken up soon.
pub(crate) fn lease_shortly(server: &Server) {
    lease(server, 1, 2);
}

/// From the next start on, nobody is thought gone who is only slow.
pub(crate) fn lease_as_ever(server: &Server) {
    lease(server, 30, 90);
}

fn lease(server: &Server, heartbeat_s: i64, lease_s: i64) {
    for (name, seconds) in [("workers.heartbeatSeconds", heartbeat_s), ("workers.leaseSeconds", lease_s)] {
        ask(server, "PUT", &format!("/settings/{name}"), &json!({ "value": seconds }));
    }
}

/// A server among several on one database, whose leases are short.
struct Shared<'a> {
    database: Database,
    folder: &'a Path,
}

impl<'a> Shared<'a> {
    fn new(cluster: &Cluster, folder: &'a Path) -> Self {
        let shared = Self { database: Database::fresh(cluster), folder };
        let mut first = shared.serve("a");
        lease_shortly(&first);
        assert!(first.process.terminate().success());
        shared
    }

    fn serve(&self, name: &str) -> Server {
        Home { database: Some(self.database.url().to_owned()), ..Home::at(&self.folder.join(name)) }.serve()
    }

    /// Stops the only server there is between two transactions: what it had locked would stay locked.
    fn stall(&self, server: &Server) {
        let mut client = postgres::Client::connect(self.database.url(), postgres::NoTls).unwrap();
        until("it stands still and holds nothing", || {
            signal(server, "-STOP");
            let sql = "SELECT count(*) FROM pg_stat_activity
                       WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'";
            let is_idle = client.query_one(sql, &[]).unwrap().get::<_, i64>(0) == 0;
            if !is_idle {
                signal(server, "-CONT");
            }
            is_idle.then_some(())
        });
    }
}

#[test]
fn another_server_finishes_what_a_killed_one_was_at_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start();
    let shared = Shared::new(&cluster, folder.path());
    let (mut first, slow) = (shared.serve("a"), Slow::start());
    let run = begin(&first, &slow, "GET");
    lease_as_ever(&first);
    // Not before: both take from one queue.
    let second = shared.serve("b");
    first.process.kill_nine();
    let run = ended(&second, &run);
    assert_eq!(run["output"], "done", "{run}");
    assert_eq!(slow.arrived(), 2);
}

#[test]
fn another_worker_finishes_what_a_killed_one_was_at_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let (cluster, slow) = (Cluster::start(), Slow::start());
    let database = Database::fresh(&cluster);
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    let none = ["graph-query", "llm-call", "rest-call", "mcp-tool"].map(|kind| format!("--workers-{kind}=0"));
    let serve = home.skein().args(["serve", "--listen", "127.0.0.1:0"]).args(none);
    let mut server = Server::of(serve.spawn());
    lease_shortly(&server);
    let run = execute(&server, &slow.rogue, "GET");
    let work = || home.skein().args(["worker", "--types", "rest_call", "--concurrency", "2"]).spawn();
    let mut first = work();
    slow.wait_for_requests(1);
    lease_as_ever(&server);
    first.kill_nine();
    let mut second = work();
    let run = ended(&server, &run);
    assert_eq!((&run["status"], &run["output"]), (&json!("completed"), &json!("done")), "{run}");
    assert_eq!(slow.arrived(), 2);
    assert!(second.terminate().success(), "{}", second.stderr());
    let workers = ask(&server, "GET", "/workers", &Value::Null);
    let of_calls = |worker: &&Value| worker["types"] == json!(["rest_call"]);
    let workers: Vec<&Value> = workers["data"].as_array().unwrap().iter().filter(of_calls).collect();
    assert_eq!(workers.last().unwrap()["status"], "offline", "whoever stops says so: {workers:?}");
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
}

#[test]
fn what_a_stalled_server_brings_back_late_is_refused_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = Cluster::start();
    let shared = Shared::new(&cluster, folder.path());
    let (mut first, slow) = (shared.serve("a"), Slow::start());
    let run = begin(&first, &slow, "GET");
    lease_as_ever(&first);
    shared.stall(&first);
    let second = shared.serve("b");
    let run = ended(&second, &run);
    assert_eq!(run["output"], "done", "{run}");
    slow.open();
    signal(&first, "-CONT");
    assert!(first.process.terminate().success(), "{}", first.process.stderr());
    let results = ask(&second, "GET", "/items?type=ToolResult", &Value::Null);
    assert_eq!(results["data"].as_array().unwrap().len(), 1, "{results}");
}

fn signal(server: &Server, signal: &str) {
    assert!(Command::new("kill").arg(signal).arg(server.process.id().to_string()).status().unwrap().success());
}
