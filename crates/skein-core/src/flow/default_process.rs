//! Decides which process answers where none is named: the user's default, or a built-in one while that cannot answer.
//!
//! The first process that answers through a connected model becomes its owner's default by itself. From then on only
//! its owner changes it, and a default that cannot answer is never replaced silently: [`DefaultResolution`] names the
//! problem.

use serde::{Deserialize, Serialize};

use crate::catalog::entry::Entry;
use crate::catalog::operation::Operation;
use crate::catalog::service::Builtin;
use crate::flow::process::Process;
use crate::id::RecordId;
use crate::rule::RuleViolation;
use crate::time::Millis;

/// The variables that a process is given when it answers in a conversation.
pub const ANSWER_VARIABLES: [&str; 3] = ["conversationId", "nodeId", "message"];
/// The record's name, so that there is one for each user.
pub const DEFAULT_PROCESS_NAME: &str = "conversations";
/// The process every new user is given to answer with.
const PLAINEST: &str = "Chat";

/// The default a user has, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DefaultProcess {
    /// Always [`DEFAULT_PROCESS_NAME`].
    pub name: String,
    /// None: a process with a built-in model.
    pub process_id: Option<RecordId>,
}

impl Entry for DefaultProcess {
    const RECORD_TYPE: &'static str = "DefaultProcess";
}

impl DefaultProcess {
    pub fn new(process_id: Option<RecordId>) -> Self {
        Self { name: DEFAULT_PROCESS_NAME.to_owned(), process_id }
    }
}

/// Where the model is that a process answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelSource {
    BuiltIn,
    /// A provider that its owner connected.
    Connected,
}

/// The source of the model that a process sends the conversation to; `tools` are those of its steps, with the
/// built-in kind of their service. None if no step sends a conversation's messages to a model.
pub fn model_source<'a>(tools: impl IntoIterator<Item = (&'a Operation, Option<Builtin>)>) -> Option<ModelSource> {
    let chats = |operation: &Operation| matches!(operation, Operation::LlmCall(call) if call.messages_from.is_some());
    let sources = tools.into_iter().filter(|(operation, _)| chats(operation));
    sources.fold(None, |found, (_, builtin)| match (found, builtin) {
        (Some(ModelSource::Connected), _) | (_, None) => Some(ModelSource::Connected),
        (_, Some(_)) => Some(ModelSource::BuiltIn),
    })
}

/// The variables a process requires that a conversation cannot give it.
fn missing_variables(process: &Process) -> Vec<&str> {
    let required = process.initial_context.required().into_iter();
    required.filter(|name| !ANSWER_VARIABLES.contains(name)).collect()
}

/// Why a process cannot answer in conversations, apart from the health of its tools.
pub fn obstacle(process: &Process) -> Option<String> {
    if process.archived {
        return Some("it was deleted".to_owned());
    }
    if !process.enabled {
        return Some("it is disabled".to_owned());
    }
    let missing = missing_variables(process);
    (!missing.is_empty()).then(|| format!("it requires {}, which no conversation gives", missing.join(", ")))
}

/// Refuses a default that cannot answer in conversations.
pub fn check_default(process: &Process) -> Result<(), RuleViolation> {
    let Some(obstacle) = obstacle(process) else { return Ok(()) };
    let problem = format!("the process {:?} cannot answer in conversations: {obstacle}", process.name.as_str());
    let remedy = "choose an enabled process that requires at most conversationId, nodeId and message";
    Err(RuleViolation::new("BR-CONV-001", problem, remedy))
}

/// What a user chose, with what keeps the chosen process from answering.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DefaultChoice {
    /// Nothing was chosen, and no model was connected.
    Open,
    BuiltIn,
    Process {
        id: RecordId,
        /// Whether it was deleted.
        is_gone: bool,
        obstacle: Option<String>,
    },
}

impl DefaultChoice {
    /// Whether the next process that answers through a connected model becomes the default.
    pub fn adopts_next(&self) -> bool {
        matches!(self, Self::Open | Self::Process { is_gone: true, .. })
    }

    /// Whether a process that was just made or changed becomes the default.
    pub fn adopts(&self, process: &Process, model: Option<ModelSource>) -> bool {
        self.adopts_next() && model == Some(ModelSource::Connected) && obstacle(process).is_none()
    }
}

/// An enabled process that can answer in conversations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultCandidate {
    pub id: RecordId,
    pub name: String,
    pub created_at: Millis,
    pub model: Option<ModelSource>,
}

/// The process that answers where none is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefaultResolution {
    /// None if no process of the user can.
    pub process: Option<RecordId>,
    /// Why the chosen process does not answer.
    pub problem: Option<String>,
}

/// Resolves a choice. A chosen process that cannot answer gives way to a built-in model, and the problem is named.
pub fn answering(choice: &DefaultChoice, candidates: &[DefaultCandidate]) -> DefaultResolution {
    let built_in = || plainest(candidates.iter().filter(|one| one.model == Some(ModelSource::BuiltIn)));
    match choice {
        DefaultChoice::Open => DefaultResolution { process: plainest(candidates.iter()), problem: None },
        DefaultChoice::BuiltIn => DefaultResolution { process: built_in(), problem: None },
        DefaultChoice::Process { id, obstacle: None, .. } => DefaultResolution { process: Some(*id), problem: None },
        DefaultChoice::Process { obstacle, .. } => DefaultResolution { process: built_in(), problem: obstacle.clone() },
    }
}

/// The process named Chat, else the oldest.
fn plainest<'a>(candidates: impl Iterator<Item = &'a DefaultCandidate>) -> Option<RecordId> {
    let rank = |one: &&DefaultCandidate| (one.name != PLAINEST, one.created_at, one.id);
    candidates.min_by_key(rank).map(|one| one.id)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const CONNECTED: RecordId = RecordId::from_bytes([1; 16]);
    const CHAT: RecordId = RecordId::from_bytes([2; 16]);
    const OLDEST: RecordId = RecordId::from_bytes([3; 16]);

    fn process(context: &Value) -> Process {
        let step = json!({ "id": "ask", "ask": { "prompt": "How many?" }, "output": { "variable": "count" } });
        let draft =
            json!({ "name": "Count", "initialContext": context, "steps": [step], "outputTemplate": "{{count}}" });
        Process::create(serde_json::from_value(draft).unwrap()).unwrap()
    }

    fn candidates() -> [DefaultCandidate; 3] {
        let one = |id, name: &str, created_at, model| DefaultCandidate {
            id,
            name: name.to_owned(),
            created_at: Millis(created_at),
            model: Some(model),
        };
        [
            one(CONNECTED, "Chat with llama", 1, ModelSource::Connected),
            one(OLDEST, "Summarise", 2, ModelSource::BuiltIn),
            one(CHAT, "Chat", 3, ModelSource::BuiltIn),
        ]
    }

    fn chosen(obstacle: Option<&str>, is_gone: bool) -> DefaultChoice {
        DefaultChoice::Process { id: CONNECTED, is_gone, obstacle: obstacle.map(str::to_owned) }
    }

    fn operation(value: &Value) -> Operation {
        Operation::parse(value).unwrap()
    }

    #[test]
    fn a_chosen_process_answers_while_it_can() {
        let expected = DefaultResolution { process: Some(CONNECTED), problem: None };
        assert_eq!(answering(&chosen(None, false), &candidates()), expected);
    }

    #[test]
    fn a_chosen_process_that_cannot_answer_gives_way_to_the_built_in_model_and_the_problem_is_named() {
        for (obstacle, is_gone) in [("it is disabled", false), ("it was deleted", true)] {
            let found = answering(&chosen(Some(obstacle), is_gone), &candidates());
            assert_eq!(found, DefaultResolution { process: Some(CHAT), problem: Some(obstacle.to_owned()) });
        }
        // A connected model never stands in for another one.
        let found = answering(&chosen(Some("it is disabled"), false), &candidates()[..1]);
        assert_eq!(found.process, None);
    }

    #[test]
    fn without_a_choice_chat_answers_else_the_oldest_process() {
        assert_eq!(answering(&DefaultChoice::Open, &candidates()).process, Some(CHAT));
        assert_eq!(answering(&DefaultChoice::Open, &candidates()[..2]).process, Some(CONNECTED));
        assert_eq!(answering(&DefaultChoice::BuiltIn, &candidates()[..2]).process, Some(OLDEST));
        assert_eq!(answering(&DefaultChoice::Open, &[]), DefaultResolution { process: None, problem: None });
    }

    #[test]
    fn only_the_first_connected_model_becomes_the_default_by_itself() {
        let answers = process(&json!(["message"]));
        let connected = Some(ModelSource::Connected);
        assert!(DefaultChoice::Open.adopts(&answers, connected));
        assert!(chosen(Some("it was deleted"), true).adopts(&answers, connected));
        for choice in [DefaultChoice::BuiltIn, chosen(None, false), chosen(Some("it is disabled"), false)] {
            assert!(!choice.adopts(&answers, connected), "{choice:?}");
        }
        for model in [None, Some(ModelSource::BuiltIn)] {
            assert!(!DefaultChoice::Open.adopts(&answers, model), "{model:?}");
        }
        assert!(!DefaultChoice::Open.adopts(&process(&json!(["place"])), connected));
    }

    #[test]
    fn a_model_is_connected_unless_its_service_is_built_in() {
        let chat = operation(&json!({ "type": "llm_call", "promptTemplate": "", "messagesFrom": "messages" }));
        let prompt = operation(&json!({ "type": "llm_call", "promptTemplate": "Say {word}" }));
        let built_in = Some(Builtin::OfflineModel);
        assert_eq!(model_source([(&chat, built_in)]), Some(ModelSource::BuiltIn));
        assert_eq!(model_source([(&chat, built_in), (&chat, None)]), Some(ModelSource::Connected));
        assert_eq!(model_source([(&chat, None), (&chat, built_in)]), Some(ModelSource::Connected));
        assert_eq!(model_source([(&prompt, None)]), None);
    }

    #[test]
    fn br_conv_001_a_default_that_can_answer_in_conversations_holds() {
        let optional = json!({ "type": "object", "required": ["nodeId"], "properties": {
            "nodeId": { "type": "string" }, "tone": { "type": "string" } } });
        for context in [json!([]), json!(["nodeId", "message"]), optional] {
            assert_eq!(check_default(&process(&context)), Ok(()), "{context}");
        }
    }

    #[test]
    fn br_conv_001_a_default_that_cannot_answer_refuses() {
        let disabled = Process { enabled: false, ..process(&json!([])) };
        for process in [disabled, process(&json!([])).archive(), process(&json!(["place"]))] {
            assert_eq!(check_default(&process).unwrap_err().rule(), "BR-CONV-001", "{process:?}");
        }
    }
}
