//! A fuzzer written by others asks a real server for whatever its API document allows, and for what it does not.
//!
//! Schemathesis knows nothing of Skein but the served document: an answer that the document does not promise is a lie
//! of the document, and a 5xx is a fault of the server.

use std::time::Duration;

use skein_testkit::process::Program;
use skein_testkit::python::installed;

use crate::server::Home;

/// Far above what it takes; whoever needs longer hangs.
const TIME_MAX: Duration = Duration::from_mins(4);
/// Per operation, beside those that are made from the limits of its schema.
const EXAMPLES: &str = "8";
/// Every check there is but this one: rules refuse more than a schema can say.
const UNCHECKED: &str = "positive_data_acceptance";
const HOOKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/schemathesis_hooks.py");
/// One is endless, two would end the key it asks with, and it cannot make zip files.
const LEFT_OUT: [&str; 4] = ["watch_events", "end_session", "revoke_key", "import_bundle"];

/// Paths by their first word. What neither names is asked about by itself, so that nothing is left out.
const TREE: &str = "^/api/v1/(actors|compare|conversations|items|generations|nodes|projects|relations)(/|$)";
const FLOW: &str =
    "^/api/v1/(approvals|executions|processes|reviews|secrets|services|service-templates|tools|tool-templates)(/|$)";

#[test]
fn whatever_is_asked_about_conversations_is_answered_as_the_document_says() {
    answers_as_documented(&["--include-path-regex", TREE]);
}

#[test]
fn whatever_is_asked_about_processes_and_tools_is_answered_as_the_document_says() {
    answers_as_documented(&["--include-path-regex", FLOW]);
}

#[test]
fn whatever_else_is_asked_is_answered_as_the_document_says() {
    answers_as_documented(&["--exclude-path-regex", &format!("{TREE}|{FLOW}")]);
}

fn answers_as_documented(part: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Home::at(folder.path()).serve();
    let document = format!("{}/api/v1/openapi.json", server.address);
    let program = Program::new(installed("schemathesis")).args(["run", &document, "--no-color", "--seed", "7"]);
    let program = program.env("SCHEMATHESIS_HOOKS", HOOKS).env("PYTHONDONTWRITEBYTECODE", "1");
    let program = program.args(["--max-examples", EXAMPLES, "--checks", "all", "--exclude-checks", UNCHECKED]);
    let program = program.args(["--workers", "1", "--continue-on-failure", "--warnings", "off"]);
    let program = program.args(["--request-timeout", "30", "--generation-database", "none"]);
    let program = program.args(["--header", &format!("Authorization: Bearer {}", server.key)]);
    let program = program.args(part.iter().copied());
    let program = program.args(LEFT_OUT.iter().flat_map(|id| ["--exclude-operation-id", id]));
    let mut fuzzer = program.spawn();
    let status = fuzzer.wait_within(TIME_MAX);
    let told = format!("{}\n{}", fuzzer.stdout(), fuzzer.stderr());
    assert!(status.is_some_and(|status| status.success()), "{told}");
    assert_eq!(server.get("/api/v1/account").status, 200, "the key was ended: {told}");
    assert!(server.process.terminate().success());
    assert!(!server.process.stderr().contains("panicked"), "{}", server.process.stderr());
}
