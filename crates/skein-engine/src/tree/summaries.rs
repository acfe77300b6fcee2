//! Summaries of nodes and trees: made when they are asked for, and in the background after something was said.
//!
//! Whoever appends only leaves a note in memory ([`Growth`]); a worker turns it into a job, and the job into summaries. A
//! note that is lost costs nothing: a summary that is missing is made when somebody asks for it. What is asked is in
//! `material.rs`; who answers is a setting, and the built-in model wherever nobody else does.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use skein_core::account::Scope;
use skein_core::setting::SUMMARY_TOOL;
use skein_core::tree::node::TreeSummary;
use skein_core::{ConversationId, ItemId, NodeId, PathId, RecordId, UserId, Viewer};
use skein_store::tree::summaries::DraftSummary;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::catalog::ModelReply;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::request::{CommittedChange, Outcome, Request, referred};
use crate::tree::summary_input::Material;

/// After so long without a new node a conversation is summarised.
const PAUSE: Duration = Duration::from_secs(1);
/// After so long it is summarised although it still grows.
const GROWING_MAX: Duration = Duration::from_secs(10);

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
        let summary = document.and_then(|document| skein_core::tree::node::TreePayload::from_document(&document));
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

/// Conversations in which something was said that the worker has not queued yet.
#[derive(Debug, Default)]
pub(crate) struct Growth(Mutex<BTreeMap<(UserId, ConversationId), Grew>>);

/// How a conversation grew.
#[derive(Debug, Clone, Copy)]
struct Grew {
    /// The first node that was added.
    from: NodeId,
    since: Instant,
    last: Instant,
}

impl Growth {
    pub(crate) fn note(&self, owner: UserId, conversation: ConversationId, node: NodeId, now: Instant) {
        if let Ok(mut noted) = self.0.lock() {
            let grew = noted.entry((owner, conversation)).or_insert(Grew { from: node, since: now, last: now });
            (grew.from, grew.last) = (node.min(grew.from), now);
        }
    }

    /// Takes the conversations that paused, or have been growing for long, each with its first new node. A summary of one in
    /// motion would be out of date at once.
    pub(crate) fn take(&self, now: Instant) -> Vec<((UserId, ConversationId), NodeId)> {
        let is_due = |_: &(UserId, ConversationId), grew: &mut Grew| {
            now.saturating_duration_since(grew.last) >= PAUSE
                || now.saturating_duration_since(grew.since) >= GROWING_MAX
        };
        let Ok(mut noted) = self.0.lock() else { return Vec::new() };
        noted.extract_if(.., is_due).map(|(place, grew)| (place, grew.from)).collect()
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
        if is_kept || !may_keep || shown.summary.is_none() {
            return Ok(shown);
        }
        let acting = caller.acting();
        let composed = self.compose(&acting, subject).await;
        let keep = move |tx: &mut Tx<'_>| match kept(tx, &acting, subject)? {
            Some(kept) => {
                composed.conclude(tx, None)?;
                Ok(kept)
            }
            None => keep(tx, &acting, subject, &composed),
        };
        Ok(self.parts().store.write(keep).await?.value)
    }

    /// Makes a summary anew, in place of the one there is.
    pub async fn renew_summary(
        &self,
        caller: &Caller,
        request: Request,
        subject: Subject,
    ) -> Result<CommittedChange<ShownSummary>, EngineError> {
        caller.require(Scope::Write)?;
        let composed = match self.summary_tool().await {
            None => ComposedSummary::default(),
            // A repeat is told what came of the first; it does not cost another call.
            Some(_) => match self.replay(caller, request).await {
                Err(EngineError::Store(StoreError::RequestInFlight)) => self.compose(&caller.acting(), subject).await,
                told => return told,
            },
        };
        self.change(caller, request, "summary.make", move |tx, viewer| keep(tx, viewer, subject, &composed)).await
    }

    /// The tool whose model writes summaries, if one is set (rule AG-SUM-003).
    pub(crate) async fn summary_tool(&self) -> Option<RecordId> {
        let state = self.setting(SUMMARY_TOOL.name).await.ok()?;
        state.value.as_str().and_then(|id| id.parse().ok())
    }

    /// What the model that is set says; nothing where none is set or none answers.
    pub(crate) async fn compose(&self, owner: &Viewer, subject: Subject) -> ComposedSummary {
        let Some(tool) = self.summary_tool().await else { return ComposedSummary::default() };
        let viewer = owner.clone();
        let material = self.parts().store.read(move |tx| Material::of(tx, &viewer, subject)).await;
        let Ok(Some(material)) = material else { return ComposedSummary::default() };
        let replied = self.ask_model(owner.owner(), tool, material.question()).await;
        ComposedSummary(replied.map(|replied| (material, replied)))
    }
}

/// What a model outside said of something, and of what it said it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ComposedSummary(Option<(Material, ModelReply)>);

impl ComposedSummary {
    /// Whether a model answered.
    pub(crate) fn is_answered(&self) -> bool {
        self.0.is_some()
    }

    /// Writes down what was made of it, if anything was.
    pub(crate) fn conclude(&self, tx: &mut Tx<'_>, kept_in: Option<ItemId>) -> Result<(), StoreError> {
        self.0.as_ref().map_or(Ok(()), |(_, replied)| replied.conclude(tx, kept_in))
    }

    /// The summary it is, unless something it speaks of was destroyed since.
    fn summary(&self, tx: &mut Tx<'_>, viewer: &Viewer) -> Result<Option<TreeSummary>, StoreError> {
        let Some((material, replied)) = &self.0 else { return Ok(None) };
        if !material.is_still_there(tx)? || !material.is_asked_alike(tx, viewer)? {
            return Ok(None);
        }
        Ok(material.told_by(&replied.model, &replied.text))
    }
}

impl ComposedSummary {
    /// Keeps what a model said, else this draft; neither if something it speaks of was destroyed since.
    pub(crate) fn keep_or(
        &self,
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        draft: Option<&DraftSummary>,
    ) -> Result<(), StoreError> {
        let said = self.summary(tx, viewer)?;
        let is_said = said.is_some();
        let drafted = match draft {
            Some(draft) if !is_said && tx.without_content(&draft.used)?.is_empty() => Some(draft.summary.clone()),
            _ => None,
        };
        let item = said.or(drafted).map(|summary| tx.summarise(viewer, &summary)).transpose()?;
        self.conclude(tx, item.map(|item| item.item.header.id).filter(|_| is_said))
    }
}

/// The summary there is; none is shown of what was destroyed.
pub(crate) fn kept(tx: &mut Tx<'_>, viewer: &Viewer, subject: Subject) -> Result<Option<ShownSummary>, StoreError> {
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

/// Keeps what was composed; where nothing was, what the built-in model says now.
fn keep(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    subject: Subject,
    composed: &ComposedSummary,
) -> Result<ShownSummary, StoreError> {
    let composition = composed.summary(tx, viewer)?;
    let is_composed = composition.is_some();
    let summary = if is_composed { composition } else { made(tx, viewer, subject)?.summary };
    let item = summary.as_ref().map(|summary| tx.summarise(viewer, summary)).transpose()?;
    let item = item.map(|item| item.item.header.id);
    composed.conclude(tx, item.filter(|_| is_composed))?;
    Ok(ShownSummary { subject, summary, item })
}

/// Makes a summary of a subject unless it has one.
pub(crate) fn make_missing(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    subject: Subject,
    composed: &ComposedSummary,
) -> Result<(), StoreError> {
    if kept(tx, viewer, subject)?.is_some() {
        composed.conclude(tx, None)
    } else {
        keep(tx, viewer, subject, composed).map(drop)
    }
}

fn made(tx: &mut Tx<'_>, viewer: &Viewer, subject: Subject) -> Result<ShownSummary, StoreError> {
    let summary = Material::of(tx, viewer, subject)?.and_then(|material| material.built_in());
    Ok(ShownSummary { subject, summary, item: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: (UserId, ConversationId) = (UserId::from_bytes([1; 16]), ConversationId::from_bytes([2; 16]));

    fn node(number: u8) -> NodeId {
        NodeId::from_bytes([number; 16])
    }

    #[test]
    fn a_conversation_is_taken_from_its_first_new_node_once_it_pauses() {
        let (growth, start) = (Growth::default(), Instant::now());
        growth.note(PLACE.0, PLACE.1, node(5), start);
        growth.note(PLACE.0, PLACE.1, node(4), start + PAUSE / 2);
        assert_eq!(growth.take(start + PAUSE), []);
        assert_eq!(growth.take(start + PAUSE + PAUSE / 2), [(PLACE, node(4))]);
        assert_eq!(growth.take(start + GROWING_MAX), []);
    }

    #[test]
    fn a_conversation_that_never_pauses_is_taken_now_and_then() {
        let (growth, start) = (Growth::default(), Instant::now());
        let ticks = 2 * GROWING_MAX.as_secs() * 2;
        let taken = (0..ticks).filter(|tick| {
            let now = start + Duration::from_millis(500 * tick);
            growth.note(PLACE.0, PLACE.1, node(1), now);
            !growth.take(now).is_empty()
        });
        assert_eq!(taken.count(), 1, "within twenty seconds");
    }
}
