//! Plans the API requests of commands on memory.

use serde_json::{Value, json};
use skein_core::{ConversationId, EpisodeId, NodeId};

use crate::api_client::ApiCall;
use crate::arguments::{AskingArguments, BroughtSource, EpisodeCommand, IndexCommand, RecallArguments};
use crate::failure::Failure;
use crate::plan::api_request::{ApiRequest, parse, portion, time};
use crate::views::memory as views;

/// One command about memory.
#[derive(Debug, PartialEq)]
pub(crate) enum MemoryTask {
    /// A question, and whether to say why each answer was found; people and a project may still be named as people do.
    Recall { ask: ApiCall, people: Vec<String>, project: Option<String>, explain: bool },
    /// Something brought from elsewhere; its content may still stand in standard input.
    Bring { content: String, is_document: bool, body: Value },
    /// The index of a server is built again, with the vectors there are or without.
    Rebuild { anew: bool },
}

impl From<MemoryTask> for ApiRequest {
    fn from(task: MemoryTask) -> Self {
        Self::Memory(task)
    }
}

impl MemoryTask {
    pub(super) fn of_recall(arguments: RecallArguments) -> Result<(AskingArguments, ApiRequest), Failure> {
        let node = arguments.node.map(|id| parse::<NodeId>(&id, "a node is given as item_…")).transpose()?;
        let conversation = arguments.conversation;
        let conversation = conversation
            .map(|id| parse::<ConversationId>(&id, "a conversation is given as entity_…; skein conversation list"))
            .transpose()?;
        let moment = |text: Option<String>| text.map(|text| time(&text)).transpose();
        let mut body = json!({ "text": arguments.text, "limit": arguments.limit, "recent": arguments.recent,
            "elsewhere": arguments.elsewhere, "allBranches": arguments.all_branches, "atLeast": "latest" });
        let named = [
            ("nodeId", json!(node)),
            ("conversationId", json!(conversation)),
            ("asOf", json!(moment(arguments.as_of)?)),
            ("knownAt", json!(moment(arguments.known_at)?)),
            ("from", json!(moment(arguments.from)?)),
            ("until", json!(moment(arguments.until)?)),
        ];
        for (name, value) in named.into_iter().filter(|(_, value)| !value.is_null()) {
            body[name] = value;
        }
        let hint = "a conversation is given as entity_…; skein conversation list";
        let within = arguments.within.iter().map(|id| parse::<ConversationId>(id, hint));
        let within: Vec<ConversationId> = within.collect::<Result<_, _>>()?;
        let sources: Vec<&str> = arguments.kind.iter().map(|kind| kind.name()).collect();
        for (name, value) in [("within", json!(within)), ("sources", json!(sources))] {
            if value.as_array().is_some_and(|named| !named.is_empty()) {
                body[name] = value;
            }
        }
        if arguments.strict {
            body["strict"] = json!(true);
        }
        let (people, project) = (arguments.person, arguments.project);
        let task = Self::Recall { ask: ApiCall::post("/search", body), people, project, explain: arguments.explain };
        Ok((arguments.asking, task.into()))
    }

    pub(super) fn of_episode(command: EpisodeCommand) -> Result<ApiRequest, Failure> {
        Ok(match command {
            EpisodeCommand::List { conversation, amount } => {
                let hint = "a conversation is given as entity_…; skein conversation list";
                let conversation = conversation.map(|id| parse::<ConversationId>(&id, hint)).transpose()?;
                let (amount, after) = portion(amount);
                let ask = ApiCall::get("/episodes").with("conversation", conversation);
                ApiRequest::List { ask, list: &views::EPISODES, amount, after }
            }
            EpisodeCommand::Show { id } => {
                let id = parse::<EpisodeId>(&id, "an episode is given as episode_…; skein episode list")?;
                ApiRequest::Show { ask: ApiCall::get(format!("/episodes/{id}")), sheet: &views::EPISODE }
            }
            EpisodeCommand::Add { content, source, speaker, at, node } => {
                let node = node.map(|id| parse::<NodeId>(&id, "a node is given as item_…")).transpose()?;
                let source_name = match source {
                    BroughtSource::Text => "text",
                    BroughtSource::Message => "message",
                    BroughtSource::Json => "json",
                };
                let at = at.map(|text| time(&text)).transpose()?;
                let body = json!({ "source": source_name, "speaker": speaker, "validAt": at, "nodeId": node });
                Self::Bring { content, is_document: source == BroughtSource::Json, body }.into()
            }
        })
    }

    pub(super) fn of_index(command: IndexCommand) -> (AskingArguments, ApiRequest) {
        match command {
            IndexCommand::Status { asking } => {
                (asking, ApiRequest::Show { ask: ApiCall::get("/index"), sheet: &views::INDEX })
            }
            IndexCommand::Rebuild { asking, anew } => (asking, Self::Rebuild { anew }.into()),
            IndexCommand::Unbound { asking, amount } => {
                let (amount, after) = portion(amount);
                (
                    asking,
                    ApiRequest::List { ask: ApiCall::get("/index/unindexable"), list: &views::UNBOUND, amount, after },
                )
            }
        }
    }
}
