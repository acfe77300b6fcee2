//! Runs told to a collector that knows OpenTelemetry's own definitions, by the real binary.

use serde_json::Value;
use skein_testkit::collector::Collector;

use crate::server::{Home, Server};

const PROCESS: &str = "name: Told
initialContext: [word]
steps:
  - id: say
    toolId: Echo
    inputs: {value: '{word}'}
    output: {variable: said}
  - id: answer
    toolId: Offline chat
    inputs: {messages: [{role: user, content: '{step.said.value}'}]}
    output: {variable: answer}
outputTemplate: '{{answer.text}}'
";

fn spans(told: &str) -> Vec<Value> {
    let told: Value = serde_json::from_str(told).unwrap();
    told["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
}

#[test]
fn what_is_told_is_what_opentelemetry_defines_and_nothing_that_was_said() {
    let (folder, collector) = (tempfile::tempdir().unwrap(), Collector::start());
    let home = Home::at(folder.path());
    let serve = home.skein().env("SKEIN_TELEMETRY_HEADERS", "authorization=Bearer canary");
    let serve = serve.args(["--telemetry-endpoint", collector.endpoint(), "serve", "--listen", "127.0.0.1:0"]);
    let mut server = Server::of(serve.spawn());
    let file = folder.path().join("told.yaml");
    std::fs::write(&file, PROCESS).unwrap();
    home.run(&["process", "new", "--file", file.to_str().unwrap()]).assert_ok();
    home.run(&["run", "Told", "-i", "word=heron", "--follow"]).assert_ok();

    let told = collector.wait_for("invoke_agent Told");
    let names: Vec<String> = spans(&told).iter().map(|span| span["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    assert!(names.contains(&"execute_tool Echo".to_owned()), "{names:?}");
    assert!(names.iter().any(|name| name.starts_with("chat ")), "{names:?}");
    assert!(!told.contains("heron") && !told.contains("canary"), "{told}");
    let schema: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(schema["resourceSpans"][0]["schemaUrl"], "https://opentelemetry.io/schemas/1.41.0");
    assert!(!collector.said().contains("REFUSED"), "{}", collector.said());

    let counted = server.get("/metrics").body;
    assert!(counted.contains(r#"telemetry_total{what="dropped_runs"} 0"#), "{counted}");
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    assert!(!server.process.stderr().contains("canary"), "{}", server.process.stderr());
}

#[test]
fn what_a_collector_missed_is_told_by_the_next_server() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    // Whoever listened there is gone.
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let serve = |endpoint: &str| {
        let serve = home.skein().args(["--telemetry-endpoint", endpoint, "serve", "--listen", "127.0.0.1:0"]);
        Server::of(serve.spawn())
    };
    let mut server = serve(&format!("http://{nobody}"));
    let file = folder.path().join("told.yaml");
    std::fs::write(&file, PROCESS).unwrap();
    home.run(&["process", "new", "--file", file.to_str().unwrap()]).assert_ok();
    home.run(&["run", "Told", "-i", "word=heron", "--follow"]).assert_ok();
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
    let collector = Collector::start();
    let mut server = serve(collector.endpoint());
    assert_eq!(spans(&collector.wait_for("invoke_agent Told")).len(), 5);
    assert!(server.process.terminate().success(), "{}", server.process.stderr());
}

#[test]
fn a_collector_that_cannot_be_one_is_refused_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::at(folder.path());
    let refused = home.run(&["--telemetry-endpoint", "collector:4318", "serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.code(), Some(2), "{}", refused.err);
    assert!(refused.err.contains("telemetry.endpoint as http://host:4318"), "{}", refused.err);
    let shown = home.run(&["--telemetry-endpoint", "http://c.example", "config", "show"]).assert_ok();
    assert!(shown.contains("telemetry.content") && shown.contains("http://c.example"), "{shown}");
}
