//! Summaries of nodes and trees: made when they are asked for, and in the background after something was said.
//!
//! Whoever appends only leaves a note in memory ([`Growth`]); a worker turns it into a job, and the job into summaries. A
//! note that is lost costs nothing: a summary that is missing is made when somebody asks for it. The built-in model
//! answers, until a process does.

use std::collections::BTreeMap;
use std::sync::Mutex;

use serde_json::{Value, json};
use skein_connect::llm::chat::{Attachment, ChatRequest, Message, Part};
use skein_connect::offline;
use skein_core::account::Scope;
use skein_core::tree::context::FourCharacters;
use skein_core::tree::node::TreeSummary;
use skein_core::tree::summary::{is_node_due, trim_to_sentence, trim_to_tree_summary};
use skein_core::{ConversationId, ItemId, NodeId, PathId, UserId, Viewer};
use skein_store::tree::read::SeenNode;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{Changed, Outcome, Request, referred};
use crate::tree::{conversations, show_conversation, text_of};

/// How much of the main path a summary of the tree looks at, from its end.
const TREE_NODES_MAX: usize = 100;

/// What is summarised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// One node.
    Node(NodeId),
    /// A whole tree.
    Tree(ConversationId),
}

/// A summary as it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownSummary {
    /// What of.
    pub subject: Subject,
    /// What it says; nothing where there is nothing to say, or what was said was destroyed.
    pub summary: Option<TreeSummary>,
    /// The item that keeps it; nothing while it is kept nowhere.
    pub item: Option<ItemId>,
}

impl Outcome for ShownSummary {
    fn reference(&self) -> Value {
        json!({ "item": self.item, "node": node_of(self.subject), "conversation": tree_of(self.subject) })
    }

    fn recall(tx: &mut Tx<'_>, viewer: &Viewer, reference: &Value) -> Result<Self, StoreError> {
        let (item, node): (Option<ItemId>, Option<NodeId>) =
            (referred(reference, "item")?, referred(reference, "node")?);
        let conversation: Option<ConversationId> = referred(reference, "conversation")?;
        let lost = || StoreError::Damaged("an operation does not say what was summarised".to_owned());
        let subject = node.map(Subject::Node).or(conversation.map(Subject::Tree)).ok_or_else(lost)?;
        let kept = item.map(|item| tx.item(viewer, item)).transpose()?;
        let document = kept.and_then(|kept| kept.item.document());
        let summary = document.and_then(|document| skein_core::tree::node::Fact::from_document(&document));
        Ok(Self { subject, summary, item })
    }
}

fn node_of(subject: Subject) -> Option<NodeId> {
    match subject {
        Subject::Node(node) => Some(node),
        Subject::Tree(_) => None,
    }
}

fn tree_of(subject: Subject) -> Option<ConversationId> {
    match subject {
        Subject::Node(_) => None,
        Subject::Tree(conversation) => Some(conversation),
    }
}

/// Where something was said since the worker last looked: the first node of it.
#[derive(Debug, Default)]
pub(crate) struct Growth(Mutex<BTreeMap<(UserId, ConversationId), NodeId>>);

impl Growth {
    pub(super) fn note(&self, owner: UserId, conversation: ConversationId, node: NodeId) {
        if let Ok(mut noted) = self.0.lock() {
            let first = noted.entry((owner, conversation)).or_insert(node);
            *first = node.min(*first);
        }
    }

    pub(super) fn take(&self) -> BTreeMap<(UserId, ConversationId), NodeId> {
        self.0.lock().map(|mut noted| std::mem::take(&mut *noted)).unwrap_or_default()
    }
}

impl Engine {
    /// The summary of a node or a tree; made now if there is none, and kept if the caller may write.
    pub async fn summary(&self, caller: &Caller, subject: Subject) -> Result<ShownSummary, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| match kept(tx, &viewer, subject)? {
            Some(kept) => Ok((kept, true)),
            None => Ok((made(tx, &viewer, subject)?, false)),
        };
        let (shown, is_kept) = self.parts().store.read(look).await?;
        let may_keep = caller.grant.is_none() && caller.require(Scope::Write).is_ok();
        let Some(summary) = shown.summary.clone().filter(|_| !is_kept && may_keep) else { return Ok(shown) };
        let acting = caller.acting();
        let keep = move |tx: &mut Tx<'_>| match kept(tx, &acting, subject)? {
            Some(kept) => Ok(kept),
            None => keep(tx, &acting, subject, Some(summary.clone())),
        };
        Ok(self.parts().store.write(keep).await?.value)
    }

    /// Makes a summary anew, in place of the one there is.
    pub async fn renew_summary(
        &self,
        caller: &Caller,
        request: Request,
        subject: Subject,
    ) -> Result<Changed<ShownSummary>, EngineError> {
        self.change(caller, request, "summary.make", move |tx, viewer| {
            let made = made(tx, viewer, subject)?;
            keep(tx, viewer, subject, made.summary)
        })
        .await
    }
}

/// The summary there is; none is shown of what was destroyed.
pub(super) fn kept(tx: &mut Tx<'_>, viewer: &Viewer, subject: Subject) -> Result<Option<ShownSummary>, StoreError> {
    let found = match subject {
        Subject::Node(node) => {
            let main = PathId::main_of(tx.node(viewer, node)?.conversation);
            if tx.seen_node(viewer, main, node)?.content.is_none() {
                return Ok(Some(ShownSummary { subject, summary: None, item: None }));
            }
            let conversation = tx.node(viewer, node)?.conversation;
            tx.summary(viewer, conversation, Some(node))?
        }
        Subject::Tree(conversation) => tx.summary(viewer, conversation, None)?,
    };
    Ok(found.map(|summary| ShownSummary { subject, summary: Some(summary), item: None }))
}

fn keep(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    subject: Subject,
    summary: Option<TreeSummary>,
) -> Result<ShownSummary, StoreError> {
    let item = summary.as_ref().map(|summary| tx.summarise(viewer, summary)).transpose()?;
    Ok(ShownSummary { subject, summary, item: item.map(|item| item.item.header.id) })
}

/// Makes a summary of a subject and keeps it.
pub(super) fn make(tx: &mut Tx<'_>, viewer: &Viewer, subject: Subject) -> Result<(), StoreError> {
    let summary = made(tx, viewer, subject)?.summary;
    keep(tx, viewer, subject, summary).map(drop)
}

fn made(tx: &mut Tx<'_>, viewer: &Viewer, subject: Subject) -> Result<ShownSummary, StoreError> {
    let summary = match subject {
        Subject::Node(node) => of_node(tx, viewer, node)?,
        Subject::Tree(conversation) => of_tree(tx, viewer, conversation)?,
    };
    Ok(ShownSummary { subject, summary, item: None })
}

fn of_node(tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<Option<TreeSummary>, StoreError> {
    let conversation = tx.node(viewer, node)?.conversation;
    let seen = tx.seen_node(viewer, PathId::main_of(conversation), node)?;
    let text = text_of(&seen).unwrap_or_default();
    if !is_node_due(seen.row.status, &text, None) {
        return Ok(None);
    }
    let asked = "Summarize the following message in one sentence.";
    let answer = quoted(asked, "message", &text, 1);
    let sentence = answer.and_then(|answer| trim_to_sentence(&answer, &FourCharacters));
    let sentence = sentence.or_else(|| trim_to_sentence(&text, &FourCharacters));
    let nodes = tx.conversation(viewer, conversation)?.nodes;
    Ok(sentence.map(|text| told(conversation, Some(node), text, nodes)))
}

fn of_tree(tx: &mut Tx<'_>, viewer: &Viewer, conversation: ConversationId) -> Result<Option<TreeSummary>, StoreError> {
    let row = tx.conversation(viewer, conversation)?;
    let main = PathId::main_of(conversation);
    let Some(end) = tx.path_cursor(viewer, conversation, main)?.or(row.root_node) else { return Ok(None) };
    let description = conversations::load(tx, viewer, conversation)?.entry.description;
    let mut lines: Vec<String> = description.into_iter().map(|text| text.as_str().to_owned()).collect();
    for seen in tx.path_to(viewer, main, end, TREE_NODES_MAX)? {
        lines.extend(gist(tx, viewer, conversation, &seen)?);
    }
    let record = tx.record(viewer, conversation.into())?;
    let title = show_conversation(tx, viewer, record)?.title;
    let text = lines.join("\n\n");
    let asked = "Summarize this conversation in two sentences.";
    let answer = quoted(asked, &title, &text, 2).and_then(|answer| trim_to_tree_summary(&answer, &FourCharacters));
    let sentences = answer.or_else(|| trim_to_tree_summary(&text, &FourCharacters));
    Ok(sentences.map(|text| told(conversation, None, text, row.nodes)))
}

/// What a node adds to the summary of its tree: its own summary, else its first sentence; nothing once it was destroyed.
fn gist(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    seen: &SeenNode,
) -> Result<Option<String>, StoreError> {
    let Some(text) = text_of(seen) else { return Ok(None) };
    let known =
        if seen.row.conversation == conversation { tx.summary(viewer, conversation, Some(seen.row.id))? } else { None };
    Ok(known.map(|summary| summary.text).or_else(|| trim_to_sentence(&text, &FourCharacters)))
}

fn told(conversation_id: ConversationId, node_id: Option<NodeId>, text: String, nodes: i64) -> TreeSummary {
    TreeSummary { conversation_id, node_id, text, model: offline::MODEL.to_owned(), nodes }
}

/// The first passages the built-in model quotes when it is asked for a summary of a text.
fn quoted(asked: &str, title: &str, text: &str, sentences: usize) -> Option<String> {
    let attached = Attachment { title: title.to_owned(), source: None, text: text.to_owned() };
    let message = Message::User(vec![Part::Text(asked.to_owned()), Part::Attached(attached)]);
    let answer = offline::answer(&ChatRequest::new(offline::MODEL, vec![message])).ok()?;
    let body: Value = serde_json::from_slice(&answer.raw.body).ok()?;
    let quotes = body.get("quotes")?.as_array()?.iter().filter_map(|quote| quote.get("text")?.as_str());
    let chosen: Vec<&str> = quotes.take(sentences).collect();
    (!chosen.is_empty()).then(|| chosen.join(" "))
}
