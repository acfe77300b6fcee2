//! Each command becomes exactly the request the API takes, once names and words were looked at.

use clap::Parser as _;
use skein_core::{ItemId, RecordId};

use super::*;
use crate::arguments::{Arguments, Command};
use crate::exit::Exit;
use crate::failure::Failure;

const ONE: &str = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
const FOUND: &str = "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2B";
const TURN: &str = "turn_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
const NODE: &str = "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A";
const LOCAL: &str = "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2B";
const HERE: &str = "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2C";

fn with_ids(text: &str) -> String {
    let names = [("ONE", ONE), ("FOUND", FOUND), ("TURN", TURN), ("NODE", NODE), ("LOCAL", LOCAL), ("HERE", HERE)];
    names.iter().fold(text.to_owned(), |text, (name, id)| text.replace(name, id))
}

/// Finds everything, under ids that say how it was given.
struct AlwaysResolves {
    is_anything_said: bool,
}

impl Resolver for AlwaysResolves {
    fn conversation(&mut self, named: &EntryName) -> Result<RecordId, Failure> {
        match named {
            EntryName::Id(id) => Ok(*id),
            EntryName::Name(_) => Ok(FOUND.parse().unwrap()),
        }
    }

    fn project(&mut self, named: &EntryName) -> Result<RecordId, Failure> {
        self.conversation(named)
    }

    fn node(&mut self, spot: &NodeLocation) -> Result<ItemId, Failure> {
        match &spot.node {
            NodeName::Id(id) => Ok(*id),
            NodeName::Local(_) => Ok(LOCAL.parse().unwrap()),
            NodeName::Here => Ok(HERE.parse().unwrap()),
        }
    }

    fn parent(&mut self, spot: &NodeLocation) -> Result<Option<ItemId>, Failure> {
        if self.is_anything_said { self.node(spot).map(Some) } else { Ok(None) }
    }

    fn seat(&mut self, spot: &NodeLocation) -> Result<NodeSlot, Failure> {
        let conversation = self.conversation(&spot.conversation)?;
        Ok(NodeSlot { conversation, turn: TURN.parse().unwrap(), node: self.node(spot)? })
    }

    fn words(&mut self, words: &TextSource) -> Result<String, Failure> {
        Ok(match words {
            TextSource::Said(words) => words.clone(),
            TextSource::Input => "from input".to_owned(),
            TextSource::File(path) => format!("from {}", path.display()),
        })
    }
}

fn task(line: &str) -> Result<ConversationTask, Failure> {
    let line = with_ids(line);
    let words = std::iter::once("skein").chain(line.split(' '));
    match Arguments::try_parse_from(words).unwrap_or_else(|error| panic!("{error}")).command {
        Command::Conversation(conversation) => ConversationTask::of_conversation(conversation.command),
        Command::Project(project) => ConversationTask::of_project(project.command),
        _ => panic!("{line} is not about conversations"),
    }
}

fn wish(line: &str) -> UnresolvedTreeRequest {
    match task(line).unwrap_or_else(|failure| panic!("{line}: {failure}")) {
        ConversationTask::Show { wish, .. }
        | ConversationTask::List { wish, .. }
        | ConversationTask::Rows { wish, .. }
        | ConversationTask::Say(wish)
        | ConversationTask::Switch(wish)
        | ConversationTask::Verify(wish)
        | ConversationTask::Compare(wish)
        | ConversationTask::Context(wish)
        | ConversationTask::Export { wish, .. } => wish,
        other => panic!("{line} became {other:?}"),
    }
}

fn made(line: &str, is_anything_said: bool) -> String {
    let ask = wish(line).ask(&mut AlwaysResolves { is_anything_said }).unwrap();
    let query: Vec<String> = ask.query.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let body = ask.body.map(|body| body.to_string()).unwrap_or_default();
    format!("{} {} {} {body}", ask.method, ask.path, query.join("&")).trim_end().to_owned()
}

/// `expected` is the request as `METHOD path query body`.
fn check(line: &str, expected: &str) {
    assert_eq!(made(line, true), with_ids(expected), "{line}");
}

#[test]
fn conversations_are_begun_and_listed() {
    check("conversation list", "GET /conversations status=active");
    check("conv list --archived --project Garden", "GET /conversations status=archived&projectId=FOUND");
    check("conv new", r#"POST /conversations  {"mode":"dialogue"}"#);
    check(
        "conv new Herons --system Briefly --buffer-system false --budget 4096 --mode buffer --description d --project ONE",
        r#"POST /conversations  {"bufferModeSystemContext":false,"contextBudget":4096,"description":"d","mode":"buffer","projectId":"ONE","systemContext":"Briefly","title":"Herons"}"#,
    );
    check("conv forks ONE", "GET /conversations/ONE/forks");
}

#[test]
fn what_is_said_goes_on_where_one_stands_or_after_the_node_that_is_named() {
    let line = "conv append ONE hello";
    check(line, r#"POST /conversations/ONE/turns  {"parentAlternativeId":"HERE","text":"hello"}"#);
    assert_eq!(made(line, false), with_ids(r#"POST /conversations/ONE/turns  {"text":"hello"}"#));
    check(
        "conv append Herons --file f --after 01hq3k --source NODE --source .",
        r#"POST /conversations/FOUND/turns  {"parentAlternativeId":"LOCAL","sources":[{"nodeId":"NODE","role":"context"},{"nodeId":"HERE","role":"context"}],"text":"from f"}"#,
    );
    check(
        "conv append ONE - --after NODE",
        r#"POST /conversations/ONE/turns  {"parentAlternativeId":"NODE","text":"from input"}"#,
    );
    check(
        "conv append ONE --file - --after NODE",
        r#"POST /conversations/ONE/turns  {"parentAlternativeId":"NODE","text":"from input"}"#,
    );
}

#[test]
fn edits_and_switches_name_the_turn_of_the_node() {
    check(
        "conv edit Herons 01HQ3K4 better",
        r#"POST /conversations/FOUND/turns/TURN/alternatives  {"editedFrom":"LOCAL","makeActive":true,"text":"better"}"#,
    );
    check(
        "conv edit ONE . - --stay",
        r#"POST /conversations/ONE/turns/TURN/alternatives  {"editedFrom":"HERE","makeActive":false,"text":"from input"}"#,
    );
    check("conv switch ONE NODE", "PUT /conversations/ONE/turns/TURN/alternatives/NODE/activate  {}");
    check("conv alternatives ONE NODE", "GET /conversations/ONE/turns/TURN");
}

#[test]
fn nodes_are_remarked_on_marked_and_found() {
    check("conv node ONE 01HQ3K", "GET /nodes/LOCAL");
    check("conv annotate ONE NODE why", r#"POST /nodes/NODE/annotations  {"text":"why"}"#);
    check("conv bookmark ONE NODE good", r#"PUT /nodes/NODE/marks  {"bookmarked":true,"label":"good"}"#);
    check("conv bookmark ONE . --remove", r#"PUT /nodes/HERE/marks  {"bookmarked":false}"#);
    check(
        "conv mark ONE NODE --prune --include --tag a --tag b --untag c --unbookmark",
        r#"PUT /nodes/NODE/marks  {"bookmarked":false,"excluded":false,"pruned":true,"tag":["a","b"],"untag":["c"]}"#,
    );
    check("conv nodes", "GET /nodes");
    check("conv nodes --bookmarked", "GET /nodes bookmarked=true");
    check("conv nodes --tag a", "GET /nodes tag=a");
    check("conv provenance ONE NODE", "GET /nodes/NODE/provenance");
    check("conv summary Herons", "GET /conversations/FOUND/summary");
    check("conv summary ONE --renew", "POST /conversations/ONE/summary  {}");
    check("conv summary ONE --node .", "GET /nodes/HERE/summary");
}

#[test]
fn conversations_fork_fold_and_open_again() {
    check("conv fork ONE", "POST /conversations/ONE/fork  {}");
    check(
        "conv fork Herons --node 01HQ3K --title Storks",
        r#"POST /conversations/FOUND/fork  {"nodeId":"LOCAL","title":"Storks"}"#,
    );
    check("conv fold ONE done", r#"POST /conversations/ONE/fold  {"summary":"done"}"#);
    check(
        "conv fold ONE --file f --cite NODE --cite 01HQ3K",
        r#"POST /conversations/ONE/fold  {"cites":["NODE","LOCAL"],"summary":"from f"}"#,
    );
    check("conv reopen ONE", "POST /conversations/ONE/reopen  {}");
    check("conv move ONE Garden", r#"PUT /conversations/ONE/project  {"projectId":"FOUND"}"#);
}

#[test]
fn trees_are_proved_compared_and_written_down() {
    check("conv verify ONE", "GET /conversations/ONE/verify");
    check("conv verify ONE --node 01HQ3K", "GET /conversations/ONE/verify nodeId=LOCAL");
    check("conv compare ONE NODE .", r#"POST /compare  {"as":"nodes","left":"NODE","right":"HERE"}"#);
    check("conv compare ONE NODE . --paths", r#"POST /compare  {"as":"paths","left":"NODE","right":"HERE"}"#);
    check("conv context ONE", "GET /nodes/HERE/context");
    check(
        "conv context ONE --node NODE --budget 4096 --strategy rollingWindow",
        "GET /nodes/NODE/context budget=4096&strategy=rollingWindow",
    );
    check("conv export ONE", "GET /conversations/ONE/export format=markdown");
    check("conv export ONE f --format html --node NODE", "GET /conversations/ONE/export format=html&nodeId=NODE");
}

#[test]
fn projects_become_requests() {
    check("project list", "GET /projects");
    check("project new Garden --description d", r#"POST /projects  {"description":"d","name":"Garden"}"#);
    check("project show Garden", "GET /projects/FOUND");
    check("project stack ONE", "GET /projects/ONE/stack");
    check("project frames ONE", "GET /projects/ONE/frames");
}

#[test]
fn a_conversation_is_drawn_read_or_changed() {
    let one = || EntryName::Id(ONE.parse().unwrap());
    let drawn = ConversationTask::Draw { conversation: one(), most: ListLimit::AtMost(200) };
    assert_eq!(task("conv show ONE").unwrap(), drawn);
    let read = ConversationTask::Read { conversation: one(), node: Some(NodeName::Here), most: ListLimit::All };
    assert_eq!(task("conv show ONE --path --node . --all").unwrap(), read);
    for (line, expected) in [
        ("conv archive ONE", r#"{"status":"archived"}"#),
        ("conv restore ONE", r#"{"status":"active"}"#),
        ("conv change ONE --title t --budget 4096", r#"{"contextBudget":4096,"title":"t"}"#),
    ] {
        let Ok(ConversationTask::Change { fields, .. }) = task(line) else { panic!("{line} changes nothing") };
        assert_eq!(Value::from(fields).to_string(), expected, "{line}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused_with_what_to_do() {
    for line in [
        "conv switch ONE here",
        "conv switch ONE 01HQ3",
        "conv switch ONE item_1",
        "conv switch entity_1 NODE",
        "conv fold ONE done --cite NODE#x",
        "conv show ONE --path --node there",
    ] {
        let failure = task(line).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage, "{line}");
        assert!(!failure.hint().is_empty());
    }
    for line in [
        "conv append ONE",
        "conv append ONE words --file f",
        "conv change ONE",
        "conv nodes --bookmarked --tag a",
        "conv mark ONE NODE",
        "conv mark ONE NODE --prune --unprune",
        "conv show ONE --node NODE",
        "conv export ONE --format zip",
    ] {
        let line = with_ids(line);
        assert!(Arguments::try_parse_from(std::iter::once("skein").chain(line.split(' '))).is_err(), "{line}");
    }
}
