//! Tests the plans of commands on executions, reviews and workers.

use clap::Parser as _;
use serde_json::json;

use super::*;
use crate::arguments::{Arguments, Command};
use crate::configuration::Environment;
use crate::exit::Exit;
use crate::output::Paint;
use crate::plan::Plan;

const RUN: &str = "run_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
const REVIEW: &str = "review_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";

fn resolve(line: &str) -> Result<Plan, Failure> {
    let line = line.replace("RUN", RUN).replace("REVIEW", REVIEW);
    let parsed = Arguments::try_parse_from(line.split(' ')).map_err(|bad| Failure::usage(bad, "see --help"))?;
    let Arguments { config, settings, mut command } = parsed;
    let mut flags = settings.0;
    if let Command::Serve(serve) = &mut command {
        flags.append(&mut serve.settings.0);
    }
    Plan::resolve(command, Configuration::resolve(config, flags, &Environment::default())?, Paint::Plain)
}

fn task(line: &str) -> FlowTask {
    match resolve(&format!("skein --dir d {line}")) {
        Ok(Plan::Errand { task: ApiRequest::Flow(task), .. }) => task,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn a_run_is_given_words_and_json() {
    let FlowTask::Run { process, inputs, follows, .. } = task("run Echo -i word=heron --input days:=3 --follow") else {
        panic!("not a run")
    };
    assert_eq!(process.named, EntryName::Name("Echo".to_owned()));
    assert!(follows);
    assert_eq!(Value::from(inputs.read().unwrap().unwrap()), json!({ "word": "heron", "days": 3 }));
    let FlowTask::Run { inputs, .. } = task("run Echo") else { panic!("not a run") };
    assert_eq!(inputs.read().unwrap(), None);
}

#[test]
fn a_decision_is_what_was_typed() {
    let verdict = |line: &str| match task(&format!("review {line}")) {
        FlowTask::Decide { verdict, .. } => verdict,
        other => panic!("{other:?}"),
    };
    assert_eq!(verdict("approve REVIEW"), Verdict::Approve { changed: Map::new(), scope: None });
    let scope = Some(ApprovalScope::SameArguments);
    assert_eq!(verdict("approve REVIEW --scope same-arguments"), Verdict::Approve { changed: Map::new(), scope });
    let scope = Some(ApprovalScope::Always);
    assert_eq!(verdict("approve REVIEW --scope always"), Verdict::Approve { changed: Map::new(), scope });
    assert_eq!(verdict("deny REVIEW --reason no"), Verdict::Deny(Some("no".to_owned())));
    assert_eq!(verdict("ask REVIEW Why?"), Verdict::Ask("Why?".to_owned()));
    assert_eq!(verdict("answer REVIEW eleven"), Verdict::Answer(json!("eleven")));
    assert_eq!(verdict("answer REVIEW --value 11"), Verdict::Answer(json!(11)));
}

#[test]
fn what_stands_is_listed_and_revoked() {
    let asked = |line: &str| match resolve(&format!("skein --dir d review {line}")) {
        Ok(Plan::Errand { task: ApiRequest::Show { ask, .. } | ApiRequest::List { ask, .. }, .. }) => ask,
        other => panic!("{line}: {other:?}"),
    };
    assert_eq!(asked("approvals"), ApiCall::get("/approvals"));
    let id = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
    assert_eq!(asked(&format!("revoke {id}")), ApiCall::new(Method::DELETE, format!("/approvals/{id}")));
}

#[test]
fn a_question_is_given_to_somebody_by_name_or_id_and_taken_back() {
    let asked = |line: &str| match resolve(&format!("skein --dir d review delegate {REVIEW} {line}")) {
        Ok(Plan::Errand { task: ApiRequest::Show { ask, .. }, .. }) => ask,
        other => panic!("{line}: {other:?}"),
    };
    let put = |body: Value| ApiCall::new(Method::PUT, format!("/reviews/{REVIEW}/delegate")).with_body(body);
    assert_eq!(asked("--to Ben"), put(json!({ "userName": "Ben" })));
    let id = "user_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
    assert_eq!(asked(&format!("--to {id}")), put(json!({ "userId": id })));
    assert_eq!(asked("--back"), put(json!({ "userId": null })));
}

#[test]
fn what_cannot_be_meant_is_a_usage_error() {
    for line in [
        "run",
        "execution show entity_1",
        "execution pause",
        "execution go-on entity_1",
        "review show run_1",
        "review revoke REVIEW",
        "review answer REVIEW",
        "review ask REVIEW",
        "review delegate REVIEW",
        "review delegate REVIEW --to Ben --back",
        "review answer REVIEW eleven --value 11",
        "review answer REVIEW --value {",
        "chat entity_1",
        "worker --types ftp",
        "worker --concurrency 0",
        "worker --types llm_call",
    ] {
        assert_eq!(resolve(&format!("skein --dir d {line}")).unwrap_err().exit, Exit::Usage, "{line}");
    }
}

#[test]
fn an_alias_names_the_same_command() {
    assert_eq!(task("exec show RUN"), task("execution show RUN"));
}

#[test]
fn a_chat_names_no_process_unless_one_is_typed() {
    let FlowTask::Chat(chat) = task("chat") else { panic!("not a chat") };
    assert_eq!((chat.conversation, chat.process), (None, None));
    let FlowTask::Chat(chat) = task("chat --process Chat") else { panic!("not a chat") };
    assert_eq!(chat.process.map(|process| process.named), Some(EntryName::Name("Chat".to_owned())));
}

#[test]
fn a_worker_of_its_own_needs_a_database_that_others_reach() {
    let refused = resolve("skein worker --dir d").unwrap_err();
    assert!(refused.to_string().contains("runs the workers inside"), "{refused}");
    let line = "skein worker --dir d --database postgres://u@h/n --types llm_call,rest_call,llm_call --concurrency 3";
    let Ok(Plan::Work { pools, .. }) = resolve(line) else { panic!("not a worker") };
    assert_eq!(pools, PoolSizes(vec![(OperationType::LlmCall, 3), (OperationType::RestCall, 3)]));
}

#[test]
fn a_server_makes_as_many_calls_as_it_is_set_to() {
    let Ok(Plan::Serve(serve)) = resolve("skein serve --dir d --workers-llm-call 2 --workers-rest-call 0") else {
        panic!("not a plan to serve")
    };
    let expected =
        [(OperationType::GraphQuery, 32), (OperationType::LlmCall, 2), (OperationType::McpTool, 32)].to_vec();
    assert_eq!(serve.pools, PoolSizes(expected));
    for number in ["1025", "-1", "many"] {
        let refused = resolve(&format!("skein serve --dir d --workers-llm-call={number}")).unwrap_err();
        assert_eq!(refused.exit, Exit::Usage, "{number}");
    }
}
