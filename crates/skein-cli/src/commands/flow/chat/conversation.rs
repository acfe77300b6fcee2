//! A conversation that is being talked in: where one stands in it, and what is said there.

use anyhow::anyhow;
use axum::http::Method;
use serde_json::{Value, json};
use skein_core::RecordId;

use crate::api_client::ApiCall;
use crate::commands::catalog::{default_process, find, told_default};
use crate::commands::flow::follow::{self, FollowOutcome, FollowOutput};
use crate::commands::flow::{id, is_paused, run_in, waits, words};
use crate::commands::tree::Lookup;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{printable, text};
use crate::plan::{ChatTask, EntryName, NamedEntry, Resolver as _};
use crate::session::{OutputFormat, Session};
use crate::views::tree as views;

/// As much as is shown of what was said before.
const RECALLED_NODES: u32 = 6;
const TITLE_CHARS_MAX: usize = 60;
/// Answers to one thing that can be turned to by number.
const ANSWERS_MAX: u32 = 100;

pub(super) struct ChatConversation {
    process: RecordId,
    name: String,
    /// None until something is said.
    conversation: Option<RecordId>,
    /// What the next thing that is said answers.
    here: Option<String>,
    said: Option<ChatNode>,
    answered: Option<ChatNode>,
}

/// The process that answers, with its name: the one that was typed, else the one the conversation offers, else the default.
fn answerer(
    typed: Option<NamedEntry>,
    offered: Option<&str>,
    desk: &mut Session<'_>,
) -> Result<(RecordId, String), Failure> {
    match (typed, offered) {
        (Some(thing), _) => {
            let process = find(&thing, desk)?;
            match thing.named {
                EntryName::Name(name) => Ok((process, name)),
                EntryName::Id(_) => named(process, desk),
            }
        }
        (None, Some(offered)) => named(id(offered)?, desk),
        (None, None) => default_answerer(desk),
    }
}

fn named(process: RecordId, desk: &mut Session<'_>) -> Result<(RecordId, String), Failure> {
    Ok((process, text(&desk.ask(&ApiCall::get(format!("/processes/{process}")))?["name"])))
}

/// The default process. One that cannot answer is reported on standard error, and the built-in model stands in.
fn default_answerer(desk: &mut Session<'_>) -> Result<(RecordId, String), Failure> {
    let found = default_process(desk)?;
    if found["problem"].is_string() {
        eprintln!("{}", told_default(&found));
    }
    let Some(process) = found["process"]["id"].as_str() else {
        let error = anyhow!("none of your processes can answer in a conversation");
        return Err(Failure::new(Exit::NotFound, error, "make one with skein process new, or name one with --process"));
    };
    Ok((id(process)?, text(&found["process"]["name"])))
}

/// A node and the turn it stands at.
#[derive(Clone)]
struct ChatNode {
    turn: String,
    node: String,
}

impl ChatNode {
    fn of(node: &Value) -> Self {
        Self { turn: text(&node["turnId"]), node: text(&node["id"]) }
    }
}

impl ChatConversation {
    pub(super) fn begin(wanted: ChatTask, desk: &mut Session<'_>) -> Result<Self, Failure> {
        let named = wanted.conversation.map(|named| Lookup::new(desk).conversation(&named)).transpose()?;
        let shown = named.map(|id| desk.ask(&ApiCall::get(format!("/conversations/{id}")))).transpose()?;
        let offered = shown.as_ref().and_then(|shown| shown["processId"].as_str());
        let (process, name) = answerer(wanted.process, offered, desk)?;
        let mut talk = Self { process, name, conversation: None, here: None, said: None, answered: None };
        if let Some((conversation, shown)) = named.zip(shown) {
            talk.enter(conversation, &shown, desk)?;
        }
        Ok(talk)
    }

    /// Takes up a conversation where its owner stands.
    fn enter(&mut self, conversation: RecordId, shown: &Value, desk: &mut Session<'_>) -> Result<(), Failure> {
        (self.conversation, self.said, self.answered) = (Some(conversation), None, None);
        self.here = shown["cursorNodeId"].as_str().map(str::to_owned);
        for node in &self.path(desk)? {
            if node["conversationId"] != conversation.to_string() || node["turnId"].is_null() {
                continue;
            }
            match node["speaker"].as_str() {
                Some("user") => (self.said, self.answered) = (Some(ChatNode::of(node)), None),
                Some("agent") if self.said.is_some() => self.answered = Some(ChatNode::of(node)),
                _ => {}
            }
        }
        Ok(())
    }

    fn path(&self, desk: &mut Session<'_>) -> Result<Vec<Value>, Failure> {
        let Some(conversation) = self.conversation else { return Ok(Vec::new()) };
        let ask = ApiCall::get(format!("/conversations/{conversation}/path")).with("limit", Some(RECALLED_NODES));
        Ok(desk.ask(&ask)?["data"].as_array_mut().map(std::mem::take).unwrap_or_default())
    }

    pub(super) fn answerer(&self) -> String {
        printable(&self.name)
    }

    pub(super) fn conversation(&self) -> Option<RecordId> {
        self.conversation
    }

    /// Shows what was said last.
    pub(super) fn recall(&self, desk: &mut Session<'_>) -> Result<(), Failure> {
        for node in self.path(desk)? {
            let mark = if node["speaker"] == "user" { "> " } else { "" };
            writeln!(desk.out, "{mark}{}", printable(&views::said(&node)))?;
        }
        Ok(())
    }

    pub(super) fn say(&mut self, words: &str, desk: &mut Session<'_>) -> Result<(), Failure> {
        let conversation = self.conversation_for(words, desk)?;
        let mut body = json!({ "text": words });
        if let Some(here) = &self.here {
            body["parentAlternativeId"] = here.as_str().into();
        }
        let grown = desk.ask(&ApiCall::post(format!("/conversations/{conversation}/turns"), body))?;
        self.answer_to(&grown["node"], conversation, desk)
    }

    /// Says something else in place of what was said last; that stays, beside it.
    pub(super) fn edit(&mut self, words: &str, desk: &mut Session<'_>) -> Result<(), Failure> {
        let (conversation, said) = self.last(self.said.clone(), "nothing was said here yet")?;
        let path = format!("/conversations/{conversation}/turns/{}/alternatives", said.turn);
        let body = json!({ "text": words, "editedFrom": said.node, "makeActive": true });
        let grown = desk.ask(&ApiCall::post(path, body))?;
        self.answer_to(&grown["node"], conversation, desk)
    }

    /// Has the last thing that was said answered once more.
    pub(super) fn again(&mut self, desk: &mut Session<'_>) -> Result<(), Failure> {
        let (conversation, answered) = self.last(self.answered.clone(), "nothing was answered here yet")?;
        let path = format!("/conversations/{conversation}/turns/{}/alternatives", answered.turn);
        let mut body = json!({ "processId": self.process, "makeActive": true });
        if let Some(said) = &self.said {
            body["parentAlternativeId"] = said.node.as_str().into();
        }
        let begun = desk.ask(&ApiCall::post(path, body))?;
        self.hear(&begun, desk)?;
        let number = self.answers(desk)?.len();
        if matches!(desk.form, OutputFormat::People(_)) {
            eprintln!("(answer {number} of {number}; /alt NUMBER turns to another)");
        }
        Ok(())
    }

    /// Turns to another answer to the last thing that was said.
    pub(super) fn switch(&mut self, number: usize, desk: &mut Session<'_>) -> Result<(), Failure> {
        let (conversation, answered) = self.last(self.answered.clone(), "nothing was answered here yet")?;
        let answers = self.answers(desk)?;
        let wanted = number.checked_sub(1).and_then(|at| answers.get(at)).ok_or_else(|| {
            let error = anyhow!("there is no answer {number}; there are {}", answers.len());
            Failure::new(Exit::NotFound, error, "/alt makes another")
        })?;
        let seat = ChatNode::of(wanted);
        let path = format!("/conversations/{conversation}/turns/{}/alternatives/{}/activate", answered.turn, seat.node);
        desk.ask(&ApiCall::new(Method::PUT, path))?;
        (self.here, self.answered) = (Some(seat.node.clone()), Some(seat));
        match desk.form {
            OutputFormat::Json => writeln!(desk.out, "{wanted}")?,
            OutputFormat::People(_) | OutputFormat::Quiet => writeln!(desk.out, "{}", printable(&views::said(wanted)))?,
        }
        Ok(())
    }

    /// Goes on from here in a conversation of its own.
    pub(super) fn fork(&mut self, title: Option<String>, desk: &mut Session<'_>) -> Result<(), Failure> {
        let here = self.here.clone().map(|node| ChatNode { turn: String::new(), node });
        let (conversation, here) = self.last(here, "nothing was said here yet")?;
        let mut body = json!({ "nodeId": here.node });
        if let Some(title) = title {
            body["title"] = title.into();
        }
        let fork = desk.ask(&ApiCall::post(format!("/conversations/{conversation}/fork"), body))?;
        self.conversation = Some(id(&text(&fork["id"]))?);
        (self.here, self.said, self.answered) = (None, None, None);
        if matches!(desk.form, OutputFormat::People(_)) {
            eprintln!("(you go on in {}, {})", printable(&text(&fork["title"])), text(&fork["id"]));
        }
        Ok(())
    }

    /// The conversation; one is begun with the first words, and called by them.
    fn conversation_for(&mut self, words: &str, desk: &mut Session<'_>) -> Result<RecordId, Failure> {
        if let Some(conversation) = self.conversation {
            return Ok(conversation);
        }
        let title: String = words.lines().next().unwrap_or_default().chars().take(TITLE_CHARS_MAX).collect();
        let made = desk.ask(&ApiCall::post("/conversations", json!({ "title": title.trim() })))?;
        let id: RecordId = id(&text(&made["id"]))?;
        self.conversation = Some(id);
        Ok(id)
    }

    /// What was said is answered.
    fn answer_to(&mut self, said: &Value, conversation: RecordId, desk: &mut Session<'_>) -> Result<(), Failure> {
        let seat = ChatNode::of(said);
        let body = json!({ "speaker": "agent", "parentAlternativeId": seat.node, "processId": self.process });
        (self.here, self.said, self.answered) = (Some(seat.node.clone()), Some(seat), None);
        let begun = desk.ask(&ApiCall::post(format!("/conversations/{conversation}/turns"), body))?;
        self.hear(&begun, desk)
    }

    /// Hears an answer to its end, and stands there from then on; one that fails leaves one where one was.
    fn hear(&mut self, begun: &Value, desk: &mut Session<'_>) -> Result<(), Failure> {
        let answer = &begun["answers"][0];
        let seat = ChatNode::of(&answer["node"]);
        self.answered = Some(seat.clone());
        let (whole, is_told) = match follow::follow(run_in(answer)?, FollowOutput::Words, desk)? {
            FollowOutcome::Asking(review) => return Err(waits(&review)),
            FollowOutcome::Paused(run) => return Err(is_paused(&run)),
            FollowOutcome::Run { whole, is_told } => (whole, is_told),
        };
        follow::outcome(&whole)?;
        match desk.form {
            OutputFormat::Json => {
                let told = json!({ "conversationId": self.conversation, "nodeId": seat.node,
                    "executionId": whole["id"], "output": whole["output"] });
                writeln!(desk.out, "{told}")?;
            }
            OutputFormat::People(_) | OutputFormat::Quiet if is_told => {}
            OutputFormat::People(_) | OutputFormat::Quiet => writeln!(desk.out, "{}", words(&whole["output"]))?,
        }
        desk.out.flush()?;
        self.here = Some(seat.node);
        Ok(())
    }

    /// The answers to the last thing that was said, the first one first.
    fn answers(&self, desk: &mut Session<'_>) -> Result<Vec<Value>, Failure> {
        let (conversation, answered) = self.last(self.answered.clone(), "nothing was answered here yet")?;
        let ask = ApiCall::get(format!("/conversations/{conversation}/turns/{}", answered.turn));
        let mut turn = desk.ask(&ask.with("limit", Some(ANSWERS_MAX)))?;
        let mut answers = turn["alternatives"].as_array_mut().map(std::mem::take).unwrap_or_default();
        answers.sort_by_key(|node| node["ordinal"].as_i64());
        answers.dedup_by_key(|node| node["id"].clone());
        Ok(answers)
    }

    fn last(&self, seat: Option<ChatNode>, otherwise: &'static str) -> Result<(RecordId, ChatNode), Failure> {
        self.conversation
            .zip(seat)
            .ok_or_else(|| Failure::new(Exit::NotFound, anyhow!(otherwise), "say something first"))
    }
}
