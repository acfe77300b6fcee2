//! Each command becomes exactly the request the API takes; what cannot be meant is refused before anything is asked.

use clap::Parser as _;

use super::*;
use crate::arguments::{Arguments, Command};
use crate::exit::Exit;

const ITEM: &str = "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
const OTHER: &str = "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2B";
const USER: &str = "user_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
const KEY: &str = "key_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
const RECORD: &str = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
const RELATION: &str = "rel_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";

fn task(line: &str) -> Result<ApiRequest, Failure> {
    let line = [("ITEM", ITEM), ("OTHER", OTHER), ("USER", USER), ("RECORD", RECORD), ("RELATION", RELATION)]
        .iter()
        .fold(line.replace("KEY", KEY), |line, (name, id)| line.replace(name, id));
    let words = std::iter::once("skein").chain(line.split(' '));
    match Arguments::try_parse_from(words).unwrap().command {
        Command::User(user) => ApiRequest::of_user(user.command),
        Command::Key(key) => ApiRequest::of_key(key.command),
        Command::Session(session) => ApiRequest::of_session(session.command),
        Command::Grant(grant) => ApiRequest::of_grant(grant.command),
        Command::Item(item) => ApiRequest::of_item(item.command),
        Command::Relation(relation) => ApiRequest::of_relation(relation.command),
        Command::History(history) => ApiRequest::of_history(history).map(|(_, task)| task),
        Command::Storage(_) => Ok(ApiRequest::storage()),
        _ => panic!("{line} is no errand"),
    }
}

/// `expected` is the request as `METHOD path query body`.
fn check(line: &str, expected: &str) {
    let ask = match task(line).unwrap() {
        ApiRequest::Show { ask, .. } | ApiRequest::List { ask, .. } | ApiRequest::Rows { ask, .. } => ask,
        other => panic!("{line} became {other:?}"),
    };
    let query: Vec<String> = ask.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let body = ask.body.map(|body| body.to_string()).unwrap_or_default();
    let made = format!("{} {} {} {body}", ask.method, ask.path, query.join("&"));
    let expected = expected.replace("ITEM", ITEM).replace("OTHER", OTHER).replace("USER", USER);
    let expected = expected.replace("KEY", KEY).replace("RECORD", RECORD).replace("RELATION", RELATION);
    assert_eq!(made.trim_end(), expected, "{line}");
}

#[test]
fn accounts_become_requests() {
    check("user list", "GET /users");
    check("user add anna --role admin", r#"POST /users  {"name":"anna","role":"admin"}"#);
    check("user add anna", r#"POST /users  {"name":"anna","role":"user"}"#);
    check("user show USER", "GET /users/USER");
    check("key list --all", "GET /keys");
    check("key create laptop --scope write", r#"POST /keys  {"name":"laptop","scope":"write"}"#);
    check(
        "key create laptop --scope read --expires 2027-01-31T12:00:00+01:00",
        r#"POST /keys  {"expiresAt":"2027-01-31T11:00:00.000Z","name":"laptop","scope":"read"}"#,
    );
    check("key revoke KEY", "DELETE /keys/KEY");
    check("session list", "GET /account/sessions");
    let end = "session end session_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
    check(end, "DELETE /account/sessions/session_01HQ3K4N7Y8M2P5R6T9W0X1Z2A");
    check("grant list", "GET /grants");
    check(
        "grant create USER --name audit --reason asked --until 2026-01-31T12:00:00+01:00",
        r#"POST /grants  {"name":"audit","ownerId":"USER","reason":"asked","until":"2026-01-31T11:00:00.000Z"}"#,
    );
    check("grant end ITEM", "DELETE /grants/ITEM");
}

#[test]
fn items_become_requests() {
    check("item list", "GET /items order=desc&clock=realized");
    check("item list --type Note --order asc --clock canonical", "GET /items type=Note&order=asc&clock=canonical");
    check("item show ITEM", "GET /items/ITEM");
    check("item undo ITEM", "POST /items/ITEM/undo  {}");
    check(
        "item time ITEM 2026-01-31T12:00:00Z",
        r#"PUT /items/ITEM/canonical-time  {"canonicalAt":"2026-01-31T12:00:00.000Z"}"#,
    );
    check("item time ITEM --clear", r#"PUT /items/ITEM/canonical-time  {"canonicalAt":null}"#);
}

#[test]
fn relations_and_histories_become_requests() {
    check(
        r#"relation add triggers ITEM OTHER --confidence 0.5 --metadata {"a":1}"#,
        r#"POST /relations  {"confidence":0.5,"kind":"triggers","metadata":{"a":1},"source":"ITEM","target":"OTHER"}"#,
    );
    check("relation list ITEM --side source --kind k", "GET /relations of=ITEM&side=source&kind=k");
    check("relation list ITEM --kind k", "GET /relations of=ITEM&side=source&kind=k");
    check("relation show RELATION", "GET /relations/RELATION");
    check(
        "relation chain ITEM --kind triggers --direction backward --limit 3",
        "GET /relations/chain from=ITEM&kind=triggers&direction=backward&limit=3",
    );
    check("relation remove RELATION --reason wrong", "DELETE /relations/RELATION reason=wrong");
    check("storage", "GET /storage");
    check("history RECORD", "GET /records/RECORD/history");
    check("history RECORD --diff 1..3", "GET /records/RECORD/diff from=1&to=3");
    check("history RECORD --version 2", "GET /records/RECORD version=2");
    check("history RECORD --restore 2", r#"POST /records/RECORD/restore  {"version":2}"#);
    check("history RECORD --at 2026-01-31T12:00:00Z", "GET /records/RECORD at=2026-01-31T12:00:00.000Z");
}

#[test]
fn an_item_says_words_or_a_document_from_the_line_or_from_input() {
    let content = |line: &str| match task(line) {
        Ok(ApiRequest::AddItem { content, .. }) => content,
        other => panic!("{other:?}"),
    };
    assert_eq!(content("item add words"), Content::Words("words".to_owned()));
    assert_eq!(content("item add -"), Content::WordsFromInput);
    assert_eq!(content("item add --data -"), Content::DocumentFromInput);
    assert!(matches!(content(r#"item add --data {"a":1}"#), Content::Document(document) if document["a"] == 1));
}

#[test]
fn a_user_is_changed_in_what_was_named() {
    let Ok(ApiRequest::ChangeUser { changes, .. }) = task("user change USER --role admin") else { panic!("no change") };
    assert_eq!(Value::from(changes), json!({ "role": "admin" }));
    assert!(Arguments::try_parse_from(["skein", "user", "change", USER]).is_err());
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_to_do() {
    for line in [
        "item show RECORD",
        "item show item_../../x",
        "item add --data [1]",
        r#"item add --data {"a":1,"a":2}"#,
        "item add words --at yesterday",
        "user show ITEM",
        "key revoke ITEM",
        "key create laptop --scope read --expires tomorrow",
        "history ITEM",
        "history RECORD --diff 1-3",
        "grant create USER --name n --reason r --until soon",
        "relation show ITEM",
        "relation add k ITEM OTHER --metadata x",
    ] {
        let failure = task(line).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage, "{line}");
        assert!(!failure.hint().is_empty());
    }
}
