//! A conversation as a belief: what it is called, how it is written in, where it grew from, whether it is folded.
//!
//! What is said in it is not here: appending touches no conversation, except that an archived one wakes. Start at
//! [`Conversation::create`] and [`Conversation::fork`].

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

use crate::catalog::entry::{self, Description, Entry, FixedField, refuse_fixed};
use crate::id::{ItemId, RecordId, TurnId};
use crate::rule::RuleViolation;
use crate::time::Millis;
use crate::tree::actor::{ActorId, AuthorType};
use crate::tree::short_text::{Instructions, Tag, Title};
use crate::tree::spelled_enum::words;
use crate::tree::visible_text::is_blank;

/// Longest summary of a folded branch, in characters.
pub const FOLD_TEXT_CHARS_MAX: usize = 32_000;
/// Most nodes one summary cites.
pub const FOLD_CITES_MAX: usize = 1_000;
/// Most tags of one conversation.
pub const TAGS_MAX: usize = 100;
/// Smallest and largest context window, in tokens.
pub const CONTEXT_BUDGET_MIN: u32 = 2_048;
pub const CONTEXT_BUDGET_MAX: u32 = 100_000_000;

words! {
    /// How a tree is written in. Set when it is made (rule AG-TREE-003).
    Mode {
        /// Messages that answer each other.
        Dialogue = "dialogue",
        /// One growing text.
        Buffer = "buffer",
    }
}

words! {
    /// Why a conversation was made (decision A34).
    ConversationKind {
        Main = "main",
        Fork = "fork",
        /// Where a tool worked; hidden from lists.
        ToolRun = "tool_run",
    }
}

words! {
    ConversationStatus {
        Active = "active",
        Archived = "archived",
    }
}

/// Most nodes a fork notes of what was shown above it; they are the nearest.
pub const SHOWN_ABOVE_MAX: usize = 1_000;

/// How many tokens a model may be shown of a conversation (decision Z7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32")]
pub struct ContextBudget(u32);

impl ContextBudget {
    pub fn tokens(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl TryFrom<u32> for ContextBudget {
    type Error = BadBudget;

    fn try_from(tokens: u32) -> Result<Self, BadBudget> {
        if (CONTEXT_BUDGET_MIN..=CONTEXT_BUDGET_MAX).contains(&tokens) { Ok(Self(tokens)) } else { Err(BadBudget) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("contextBudget is a number of tokens from {CONTEXT_BUDGET_MIN} to {CONTEXT_BUDGET_MAX}")]
pub struct BadBudget;

/// The node a conversation grew from. Never changes (rules BR-CONV-003, MG-CONV-002).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForkOrigin {
    pub conversation_id: RecordId,
    pub turn_id: TurnId,
    pub node_id: ItemId,
}

impl ForkOrigin {
    /// Refuses an origin that is not where the node really is; `found` is nothing when there is no such node.
    pub fn check(&self, found: Option<(RecordId, TurnId)>) -> Result<(), RuleViolation> {
        if found == Some((self.conversation_id, self.turn_id)) {
            return Ok(());
        }
        let problem = format!("{} is no alternative of {} in {}", self.node_id, self.turn_id, self.conversation_id);
        Err(RuleViolation::new("BR-CONV-003", problem, "fork at an alternative of a turn of the parent conversation"))
    }
}

/// A node that a summary came from. Summaries stored earlier may name a fragment of it, as `item_…#3`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Citation {
    pub node: ItemId,
    /// Counted from 0.
    pub position: Option<u32>,
}

impl fmt::Display for Citation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.position {
            Some(position) => write!(f, "{}#{position}", self.node),
            None => write!(f, "{}", self.node),
        }
    }
}

impl Serialize for Citation {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Citation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bad = || serde::de::Error::custom("a citation is the id of a node");
        let (node, position) = match text.split_once('#') {
            Some((node, position)) => (node, Some(position.parse().map_err(|_| bad())?)),
            None => (text.as_str(), None),
        };
        Ok(Self { node: node.parse().map_err(|_| bad())?, position })
    }
}

/// What became of a folded branch (rule MG-CONV-004).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FoldSummary {
    pub at: Millis,
    pub author_id: ActorId,
    pub author_type: AuthorType,
    /// Empty where an item has it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The item that has the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_item: Option<ItemId>,
    /// The nodes it came from.
    pub cites: Vec<Citation>,
    /// The node the branch ended at then: reopening starts there (decision Z35).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<ItemId>,
}

impl FoldSummary {
    fn check(&self) -> Result<(), RuleViolation> {
        let refuse = |problem: String, remedy| Err(RuleViolation::new("MG-CONV-004", problem, remedy));
        if is_blank(&self.text) {
            return refuse("a branch is folded into a summary".to_owned(), "say in words what came of it");
        }
        if self.text.chars().count() > FOLD_TEXT_CHARS_MAX || self.text.contains('\0') {
            return refuse(format!("a summary has at most {FOLD_TEXT_CHARS_MAX} characters"), "shorten it");
        }
        if self.cites.len() > FOLD_CITES_MAX {
            return refuse(format!("a summary cites at most {FOLD_CITES_MAX} nodes"), "cite the ones that matter");
        }
        if let Some(fragment) = self.cites.iter().find(|cite| cite.position.is_some()) {
            return refuse(format!("{fragment} names a fragment, and there are none yet"), "cite the whole node");
        }
        Ok(())
    }
}

/// A conversation as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conversation {
    /// Absent until somebody gives one; meanwhile see [`Self::own_name`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<Title>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    pub mode: Mode,
    pub kind: ConversationKind,
    pub status: ConversationStatus,
    /// Stands at the head of every context window (rule AG-TREE-005).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_context: Option<Instructions>,
    /// Of a buffer: whether its windows have a system part; they do where nothing is said (decision Z37).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_mode_system_context: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_budget: Option<ContextBudget>,
    /// The process chosen last: what is offered next time, never what is run (rule BR-CONV-001B).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_id: Option<RecordId>,
    /// The project it was made in, of conversations made before `groups_with` alone said so. No answer reads it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<RecordId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkOrigin>,
    /// What was shown above the origin when it was forked, where there were several versions to show.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown_above: Vec<ItemId>,
    /// The folded conversation that this one reopens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<RecordId>,
    /// Present when it is folded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<FoldSummary>,
    #[serde(default)]
    pub tags: BTreeSet<Tag>,
}

impl Entry for Conversation {
    const RECORD_TYPE: &'static str = "Conversation";
}

/// What a client sends to make a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConversationDraft {
    pub title: Option<Title>,
    pub description: Option<Description>,
    /// Left out: dialogue.
    pub mode: Option<Mode>,
    pub system_context: Option<Instructions>,
    pub buffer_mode_system_context: Option<bool>,
    pub context_budget: Option<ContextBudget>,
    /// Left out: the owner's default process. None: no process is offered.
    #[serde(deserialize_with = "entry::named")]
    pub process_id: Option<Option<RecordId>>,
    /// Left out: the owner's default project.
    pub project_id: Option<RecordId>,
}

/// What a client sends to alter a conversation; what is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ConversationChange {
    #[serde(deserialize_with = "entry::named")]
    pub title: Option<Option<Title>>,
    #[serde(deserialize_with = "entry::named")]
    pub description: Option<Option<Description>>,
    #[serde(deserialize_with = "entry::named")]
    pub system_context: Option<Option<Instructions>>,
    #[serde(deserialize_with = "entry::named")]
    pub buffer_mode_system_context: Option<Option<bool>>,
    #[serde(deserialize_with = "entry::named")]
    pub context_budget: Option<Option<ContextBudget>>,
    #[serde(deserialize_with = "entry::named")]
    pub process_id: Option<Option<RecordId>>,
    pub status: Option<ConversationStatus>,
    pub tags: Option<BTreeSet<Tag>>,
    pub mode: FixedField,
    pub kind: FixedField,
    pub owner_id: FixedField,
    pub user_id: FixedField,
    pub forked_from: FixedField,
    pub shown_above: FixedField,
    pub continues: FixedField,
    pub summary: FixedField,
    pub project_id: FixedField,
}

impl ConversationChange {
    fn refuse_fixed(&self) -> Result<(), RuleViolation> {
        refuse_fixed("AG-TREE-003", &[("mode", self.mode)], "make another conversation")?;
        refuse_fixed("BR-CONV-002", &[("ownerId", self.owner_id), ("userId", self.user_id)], "export and import it")?;
        let origin = [("kind", self.kind), ("forkedFrom", self.forked_from), ("shownAbove", self.shown_above)];
        refuse_fixed("BR-CONV-003", &origin, "fork at the node you want")?;
        refuse_fixed("MG-CONV-004", &[("summary", self.summary)], "fold the conversation")?;
        refuse_fixed("MG-CONV-006", &[("continues", self.continues)], "reopen the folded conversation")?;
        refuse_fixed("MG-PROJ-003", &[("projectId", self.project_id)], "change its groups_with relation")
    }
}

impl Conversation {
    /// A conversation of its own; the default process is taken where the draft names none.
    pub fn create(draft: ConversationDraft, default_process: Option<RecordId>) -> Self {
        Self {
            title: draft.title,
            description: draft.description,
            mode: draft.mode.unwrap_or(Mode::Dialogue),
            kind: ConversationKind::Main,
            status: ConversationStatus::Active,
            system_context: draft.system_context,
            buffer_mode_system_context: draft.buffer_mode_system_context,
            context_budget: draft.context_budget,
            process_id: draft.process_id.unwrap_or(default_process),
            project_id: None,
            forked_from: None,
            shown_above: Vec::new(),
            continues: None,
            summary: None,
            tags: BTreeSet::new(),
        }
    }

    /// A conversation grown from a node of this one.
    #[must_use]
    pub fn fork(&self, origin: ForkOrigin, title: Option<Title>) -> Self {
        Self { title, ..self.grow(ConversationKind::Fork, Some(origin)) }
    }

    /// Refuses to copy active entities into a fork while there are none.
    pub fn check_copying(active_entities: Option<bool>) -> Result<(), RuleViolation> {
        if active_entities != Some(true) {
            return Ok(());
        }
        let problem = "copyActiveEntities has no effect yet: no entities are active in a conversation";
        Err(RuleViolation::new("BR-CONV-003", problem, "leave it out, or send false"))
    }

    /// Where tools called at a node of this one work (decision A34).
    #[must_use]
    pub fn tool_run(&self, origin: ForkOrigin) -> Self {
        self.grow(ConversationKind::ToolRun, Some(origin))
    }

    /// What all that grows from this one takes along; nothing that was said is copied (decision Z2).
    fn grow(&self, kind: ConversationKind, forked_from: Option<ForkOrigin>) -> Self {
        Self {
            title: None,
            description: None,
            kind,
            status: ConversationStatus::Active,
            forked_from,
            shown_above: Vec::new(),
            continues: None,
            project_id: None,
            summary: None,
            tags: BTreeSet::new(),
            ..self.clone()
        }
    }

    pub fn change(&self, change: ConversationChange) -> Result<Self, RuleViolation> {
        change.refuse_fixed()?;
        let mut next = self.clone();
        next.title = change.title.unwrap_or(next.title);
        next.description = change.description.unwrap_or(next.description);
        next.system_context = change.system_context.unwrap_or(next.system_context);
        next.buffer_mode_system_context = change.buffer_mode_system_context.unwrap_or(next.buffer_mode_system_context);
        next.context_budget = change.context_budget.unwrap_or(next.context_budget);
        next.check_system_context()?;
        next.process_id = change.process_id.unwrap_or(next.process_id);
        next.status = change.status.unwrap_or(next.status);
        next.tags = change.tags.unwrap_or(next.tags);
        if next.tags.len() > TAGS_MAX {
            let problem = format!("a conversation has at most {TAGS_MAX} tags");
            return Err(RuleViolation::new("AG-NODE-007", problem, "take some away"));
        }
        Ok(next)
    }

    /// Refuses the switch of a buffer in a conversation that is none, where it would do nothing.
    pub fn check_system_context(&self) -> Result<(), RuleViolation> {
        if self.mode == Mode::Buffer || self.buffer_mode_system_context.is_none() {
            return Ok(());
        }
        let problem = "bufferModeSystemContext belongs to buffer conversations, and this one is a dialogue";
        Err(RuleViolation::new("AG-TREE-005", problem, "leave it out, or take systemContext away"))
    }

    /// Whether its windows have a system part.
    pub fn shows_system_context(&self) -> bool {
        self.buffer_mode_system_context.unwrap_or(true)
    }

    /// Refuses a hint at a process that cannot be used; `enabled` is nothing when there is no such process.
    pub fn check_hint(&self, enabled: Option<bool>) -> Result<(), RuleViolation> {
        let Some(process) = self.process_id.filter(|_| enabled != Some(true)) else { return Ok(()) };
        let problem = format!("{process} is not an enabled process");
        Err(RuleViolation::new("BR-CONV-001", problem, "choose an enabled process, or null for none"))
    }

    pub fn is_archived(&self) -> bool {
        self.status == ConversationStatus::Archived
    }

    pub fn is_folded(&self) -> bool {
        self.summary.is_some()
    }

    /// The conversation folded into a summary; `active_children` are its forks that are neither folded nor archived.
    pub fn fold(&self, active_children: usize, summary: FoldSummary) -> Result<Self, RuleViolation> {
        if self.is_folded() {
            let problem = "the conversation is folded already, and its summary stays as it is";
            return Err(RuleViolation::new("MG-CONV-006", problem, "reopen it and fold the new one"));
        }
        if active_children > 0 {
            let problem = format!("{active_children} forks of it are still open");
            return Err(RuleViolation::new("MG-CONV-003", problem, "fold or archive its forks first"));
        }
        summary.check()?;
        Ok(Self { summary: Some(summary), ..self.clone() })
    }

    /// The same with the text of its summary in an item, where it can be destroyed.
    #[must_use]
    pub fn with_text_in(self, item: ItemId) -> Self {
        let kept = |summary| FoldSummary { text: String::new(), text_item: Some(item), ..summary };
        Self { summary: self.summary.map(kept), ..self }
    }

    /// A new conversation that goes on where this folded one ended (rule MG-CONV-006, decision M3).
    ///
    /// `id` is this one, `end` where it ended: the new one grows from there and so sees all of it. One that ended
    /// before anything was said grows from where this one did.
    pub fn reopen(&self, id: RecordId, end: Option<ForkOrigin>) -> Result<Self, RuleViolation> {
        if !self.is_folded() {
            let problem = "the conversation is not folded";
            return Err(RuleViolation::new("MG-CONV-006", problem, "write to it as it is"));
        }
        let kind = if end.is_some() { ConversationKind::Fork } else { self.kind };
        // Where nothing was said since, what is shown above stays.
        let shown_above = if end.is_some() { Vec::new() } else { self.shown_above.clone() };
        Ok(Self { continues: Some(id), shown_above, ..self.grow(kind, end.or(self.forked_from)) })
    }

    /// What somebody hears who wants to delete one (rule BR-CONV-006).
    pub fn refuse_deletion() -> RuleViolation {
        RuleViolation::new("BR-CONV-006", "a conversation is never deleted", "archive it: set its status to archived")
    }
}

#[cfg(test)]
mod tests;
