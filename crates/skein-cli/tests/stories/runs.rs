//! Processes that are run from the command line: followed, asked about, looked at, begun again; by the real binary.

use serde_json::Value;
use skein_testkit::postgres::{Cluster, Database};
use skein_testkit::process::Program;

use crate::server::{Finished, Home, SKEIN, finish};

/// Two steps without anybody, the second within a run of its own.
const INNER: &str = "name: Inner
initialContext: [word]
steps:
  - id: say
    toolId: Echo
    inputs: {value: '{word}'}
    output: {variable: said}
outputTemplate: '{{said.value}}'
";
const OUTER: &str = "name: Outer
initialContext: [word]
steps:
  - id: first
    toolId: Echo
    inputs: {value: '{word}'}
    output: {variable: first}
  - id: below
    processId: Inner
    inputs: {word: '{step.first.value}'}
    output: {variable: below}
outputTemplate: '{{below}}!'
";
const ASKING: &str = "name: Asking
initialContext: [word]
steps:
  - id: approve
    toolId: Echo
    inputs: {value: '{word}'}
    execution: {interactionMode: manual}
    output: {variable: said}
  - id: count
    ask: {prompt: 'How many {step.said.value}s?', schema: {type: integer}}
    output: {variable: count}
outputTemplate: '{{count}} {{said.value}}'
";

fn json(finished: Finished) -> Value {
    let out = finished.assert_ok();
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}"))
}

fn define(home: &Home, definition: &str) {
    let file = home.dir.with_extension("yaml");
    std::fs::write(&file, definition).unwrap();
    home.run(&["process", "new", "--file", file.to_str().unwrap()]).assert_ok();
}

fn only_review(home: &Home) -> String {
    let open = json(home.run(&["review", "list", "--json"]));
    let [review] = &open["data"].as_array().unwrap()[..] else { panic!("one review: {open}") };
    review["id"].as_str().unwrap().to_owned()
}

/// Followed to its end, step by step; then looked at.
fn followed(home: &Home) {
    define(home, INNER);
    define(home, OUTER);
    let run = home.run(&["run", "Outer", "--input", "word=heron", "--follow"]);
    assert_eq!((run.code(), run.out.as_str()), (Some(0), "heron!\n"), "{}", run.err);
    for told in ["run_", "  first: done", "  below: done", "    say: done"] {
        assert!(run.err.contains(told), "{told} is not in {}", run.err);
    }
    let whole = json(home.run(&["run", "Outer", "-i", "word=stork", "--follow", "--json"]));
    assert_eq!((&whole["status"], &whole["output"]), (&"completed".into(), &"stork!".into()), "{whole}");
    let id = whole["id"].as_str().unwrap();
    let drawn = home.run(&["exec", "show", id]).assert_ok();
    assert!(drawn.contains("├─ first: done") && drawn.contains("└─ below: done"), "{drawn}");
    assert!(drawn.contains("   └─ run_") && drawn.contains("└─ say: done") && drawn.ends_with("stork!\n"), "{drawn}");
    let listed = json(home.run(&["execution", "list", "--process", "Outer", "--status", "completed", "--json"]));
    assert_eq!(listed["data"].as_array().unwrap().len(), 2, "{listed}");
}

/// A failure says which step, why and what to do; then the run is begun again, and at a step with another value.
fn failed_and_begun_again(home: &Home) {
    let missing = home.run(&["run", "Outer", "--follow"]);
    assert_eq!(missing.code(), Some(6), "{}", missing.err);
    home.run(&["process", "edit", "Inner", "--disable"]).assert_ok();
    let failed = home.run(&["run", "Outer", "-i", "word=crane", "--follow"]);
    assert_eq!((failed.code(), failed.out.as_str()), (Some(1), ""), "{}", failed.err);
    assert!(failed.err.contains("error: step 2 (below): ") && failed.err.contains("hint: "), "{}", failed.err);
    let listed = json(home.run(&["execution", "list", "--status", "failed", "--json"]));
    let id = listed["data"][0]["id"].as_str().unwrap();
    home.run(&["process", "edit", "Inner", "--enable"]).assert_ok();
    let again = home.run(&["execution", "resume", id, "--follow"]);
    assert_eq!((again.code(), again.out.as_str()), (Some(0), "crane!\n"), "{}", again.err);
    let branched = home.run(&[
        "execution",
        "branch",
        id,
        "--step",
        "below",
        "--output",
        r#"first:={"value": "gull"}"#,
        "--follow",
    ]);
    assert_eq!((branched.code(), branched.out.as_str()), (Some(0), "gull!\n"), "{}", branched.err);
}

#[test]
fn a_run_is_followed_looked_at_and_begun_again_without_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    followed(&home);
    failed_and_begun_again(&home);
}

#[test]
fn a_run_waits_for_decisions_that_are_made_by_commands() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    define(&home, ASKING);
    let waits = home.run(&["run", "Asking", "-i", "word=heron"]);
    assert_eq!(waits.code(), Some(1), "{}", waits.err);
    assert!(waits.err.contains("waits for a decision, review_") && waits.err.contains("heron"), "{}", waits.err);
    let approval = only_review(&home);
    let wrong = home.run(&["review", "answer", &approval, "yes"]);
    assert_eq!(wrong.code(), Some(6), "{}", wrong.err);
    let waits = home.run(&["review", "approve", &approval, "--input", "value=stork"]);
    assert!(waits.err.contains("How many storks?"), "{}", waits.err);
    let question = only_review(&home);
    assert_eq!(home.run(&["review", "answer", &question, "eleven"]).code(), Some(6));
    let done = home.run(&["review", "answer", &question, "--value", "11"]);
    assert_eq!((done.code(), done.out.as_str()), (Some(0), "11 stork\n"), "{}", done.err);
    assert!(home.run(&["review", "list"]).assert_ok().contains("There are none."));
    assert!(home.run(&["review", "show", &question]).assert_ok().contains("decided"));
}

#[test]
fn a_run_at_a_server_goes_on_by_itself_and_can_be_followed_or_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let mut server = home.serve();
    followed(&home);
    define(&home, ASKING);
    let run = home.run(&["run", "Asking", "-i", "word=heron", "--quiet"]).assert_ok();
    let cancelled = home.run(&["execution", "cancel", run.trim()]).assert_ok();
    assert!(cancelled.contains("cancelled"), "{cancelled}");
    assert!(home.run(&["worker", "list"]).assert_ok().contains("rest_call"));
    assert_eq!(home.run(&["worker", "dead"]).assert_ok(), "There are none.\n");
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
}

/// Paused, killed and started again: it stays paused, people can still decide, and it begins nothing until it goes on.
fn paused_through_a_crash(home: &Home) {
    let mut server = home.serve();
    define(home, INNER);
    define(home, ASKING);
    let run = home.run(&["run", "Asking", "-i", "word=heron", "--quiet"]).assert_ok();
    let run = run.trim();
    assert!(home.run(&["execution", "pause", run]).assert_ok().contains("version 1: paused\n"));
    server.process.kill_nine();

    let mut server = home.serve();
    assert!(home.run(&["execution", "list"]).assert_ok().contains("paused"));
    home.run(&["review", "approve", &only_review(home)]).assert_ok();
    server.process.kill_nine();

    let mut server = home.serve();
    let other = home.run(&["run", "Inner", "-i", "word=stork", "--follow"]);
    assert_eq!((other.code(), other.out.as_str()), (Some(0), "stork\n"), "{}", other.err);
    let whole = json(home.run(&["execution", "show", run, "--json"]));
    assert_eq!(
        (&whole["steps"][0]["phase"], &whole["calls"]),
        (&"calling".into(), &Value::Array(Vec::new())),
        "{whole}"
    );
    assert!(whole["pausedAt"].is_string(), "{whole}");
    assert!(!home.run(&["execution", "go-on", run]).assert_ok().contains("paused"));
    let question = skein_testkit::wait::until("it asks on", || {
        let open = json(home.run(&["review", "list", "--json"]));
        open["data"][0]["id"].as_str().map(str::to_owned)
    });
    home.run(&["review", "answer", &question, "--value", "11"]).assert_ok();
    let whole = json(home.run(&["execution", "show", run, "--json"]));
    assert_eq!((&whole["status"], &whole["output"]), (&"completed".into(), &"11 heron".into()), "{whole}");
    let late = home.run(&["execution", "pause", run]);
    assert!(late.code() != Some(0) && late.err.contains("BR-EXEC-001"), "{}", late.err);
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
}

#[test]
fn a_paused_run_stays_paused_through_kill_nine_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    paused_through_a_crash(&Home::at(folder.path()));
}

#[test]
fn a_paused_run_stays_paused_through_kill_nine_on_postgres() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::fresh(Cluster::shared());
    paused_through_a_crash(&Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) });
}

#[test]
fn a_paused_run_goes_on_without_a_server_by_the_command_that_lets_it() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    define(&home, ASKING);
    let waits = home.run(&["run", "Asking", "-i", "word=heron"]);
    let run = waits.err.lines().find(|line| line.starts_with("run_")).unwrap().to_owned();
    home.run(&["execution", "pause", &run]).assert_ok();
    let paused = home.run(&["review", "approve", &only_review(&home)]);
    assert_eq!(paused.code(), Some(1), "{}", paused.err);
    assert!(paused.err.contains(&format!("{run} is paused")) && paused.err.contains("go-on"), "{}", paused.err);
    let asks = home.run(&["execution", "go-on", &run]);
    assert!(asks.code() == Some(1) && asks.err.contains("How many herons?"), "{}", asks.err);
}

#[test]
fn br_share_008_a_run_tells_what_its_calls_cost_where_their_tool_has_a_price_holds() {
    const PRICED: &str = "name: Priced echo
operation: {type: mcp_tool, tool: echo, arguments: {value: '{{value}}'}}
inputSchema: {type: object, properties: {value: {}}}
outputSchema: {type: object}
pricing: {currency: EUR, perCall: 0.25}
";
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    home.run(&["init"]).assert_ok();
    let file = folder.path().join("tool.yaml");
    std::fs::write(&file, PRICED).unwrap();
    home.run(&["tool", "create", "--service", "Skein", "--file", file.to_str().unwrap()]).assert_ok();
    define(
        &home,
        &OUTER
            .replacen("toolId: Echo", "toolId: Priced echo", 1)
            .replace("processId: Inner", "toolId: Priced echo")
            .replace("inputs: {word:", "inputs: {value:"),
    );
    let whole = json(home.run(&["run", "Outer", "-i", "word=stork", "--follow", "--json"]));
    let owed = &whole["cost"]["owed"][0];
    assert_eq!((&owed["amount"], &owed["currency"]), (&"0.5".into(), &"EUR".into()), "{whole}");
    assert_eq!(whole["steps"][0]["cost"]["owed"][0]["amount"], "0.25", "{whole}");
    let drawn = home.run(&["execution", "show", whole["id"].as_str().unwrap()]).assert_ok();
    assert!(drawn.contains("0.5 EUR\n") && drawn.contains("0.25 EUR\n"), "{drawn}");
    define(&home, INNER);
    let unknown = json(home.run(&["run", "Inner", "-i", "word=stork", "--follow", "--json"]));
    assert_eq!(unknown["cost"], Value::Null, "{unknown}");
}

/// Lines in, answers out; `$0` is what is piped.
pub(crate) fn chat(home: &Home, lines: &str, words: &[&str]) -> Finished {
    let skein = Program::new("bash").args(["-c", "printf '%b' \"$0\" | \"$@\"", lines, SKEIN, "--dir"]);
    finish(skein.arg(home.dir.clone()).arg("chat").args(words.iter().copied()))
}

#[test]
fn a_chat_through_a_pipe_answers_every_line_on_the_first_run_and_without_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let lines = r"How many herons are there?\n/edit How many storks are there?\n/alt\n/alt 1\n/fork Storks\nAnd cranes?\n/quit\nunheard\n";
    let talk = chat(&home, lines, &[]);
    assert_eq!(talk.code(), Some(0), "{}\n{}", talk.out, talk.err);
    assert!(!talk.out.is_empty() && !talk.err.contains("error"), "{}\n{}", talk.out, talk.err);
    let shown = home.run(&["conversation", "show", "How many herons"]).assert_ok();
    for said in ["How many herons are there?", "How many storks are there?"] {
        assert!(shown.contains(said), "{said} is not in {shown}");
    }
    let fork = home.run(&["conversation", "show", "Storks", "--path"]).assert_ok();
    assert!(fork.contains("How many storks are there?") && fork.contains("And cranes?"), "{fork}");
    assert!(!fork.contains("unheard") && !fork.contains("How many herons are there?"), "{fork}");

    let more = chat(&home, r"One more thing.\nAnd another.\n", &["Storks", "--json"]);
    let answers: Vec<Value> = more.assert_ok().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 2, "{answers:?}");
    assert!(answers.iter().all(|answer| answer["output"].is_string()), "{answers:?}");
    let wrong = chat(&home, r"/dance\n", &["Storks"]);
    assert_eq!(wrong.code(), Some(2), "{}", wrong.err);
}

#[test]
fn a_worker_of_its_own_makes_the_calls_that_a_server_leaves_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let refused = Home::at(folder.path()).run(&["worker"]);
    assert_eq!(refused.code(), Some(2), "{}", refused.err);
    assert!(refused.err.contains("runs the workers inside"), "{}", refused.err);

    let database = Database::fresh(Cluster::shared());
    let home = Home { database: Some(database.url().to_owned()), ..Home::at(folder.path()) };
    let none = ["graph-query", "llm-call", "rest-call", "mcp-tool"].map(|kind| format!("--workers-{kind}=0"));
    let serve = home.skein().args(["serve", "--listen", "127.0.0.1:0"]).args(none);
    let mut server = crate::server::Server::of(serve.spawn());
    let worker = home.skein().args(["worker", "--types", "mcp_tool,llm_call", "--concurrency", "2"]);
    let mut worker = worker.spawn();
    worker.wait_for_line("Working on PostgreSQL");
    define(&home, INNER);
    let run = home.run(&["run", "Inner", "-i", "word=heron", "--follow"]);
    assert_eq!((run.code(), run.out.as_str()), (Some(0), "heron\n"), "{}", run.err);
    assert!(home.run(&["worker", "list"]).assert_ok().contains("mcp_tool llm_call"));
    assert!(worker.terminate().success(), "{}", worker.stderr());
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
}
