//! Derives the events for watchers: at most one from each item.
//!
//! Events are not kept anywhere; they are read off the timeline, so whatever happened can be told again, in order,
//! to whoever owns it. A fact that another fact of the same change tells better (the delta of a key beside the
//! [`SystemEvent`](ItemType::SYSTEM_EVENT) that names it) makes no event of its own.

use serde_json::{Map, Value, json};

use crate::garden::delta::Delta;
use crate::garden::item::{Item, ItemDraft, ItemType};
use crate::garden::record::Act;
use crate::id::{EpisodeId, ExecutionId, RecordId, ReviewId};

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $meaning:literal;)*) => {
        /// What happened.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum EventName { $($(#[$doc])* #[doc = $meaning] $name),* }

        impl EventName {
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// For people who read the list.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning),* }
            }
        }
    };
}

events! {
    ItemAppended = "item.appended", "A fact was stated; the subject is the item.";
    EpisodeBrought = "episode.brought", "Content was brought from elsewhere; the subject is the episode.";
    ItemUndone = "item.undone", "An item was taken back within its five minutes.";
    ItemRedacted = "item.redacted", "The payload of an item was destroyed.";
    ItemTimeCorrected = "item.time.corrected", "It was stated or withdrawn when an item really happened.";
    RelationCreated = "relation.created", "Two things were related.";
    RelationEdited = "relation.edited", "Confidence or metadata of a relation changed.";
    RelationRemoved = "relation.removed", "A relation was removed.";
    RecordCreated = "record.created", "A record was made.";
    RecordUpdated = "record.updated", "A record changed; the deltas tell from which hash to which.";
    RecordDeleted = "record.deleted", "A record was deleted; its history stays.";
    ServiceCreated = "service.created", "A service was made.";
    ServiceChanged = "service.changed", "A service changed, or is shared or no longer shared.";
    ServiceDeleted = "service.deleted", "A service was deleted.";
    SecretCreated = "secret.created", "A secret was made; its value is told nowhere.";
    SecretChanged = "secret.changed", "What a secret is called or said to be changed, not its value.";
    SecretRotated = "secret.rotated", "The value of a secret was replaced; the old one is destroyed.";
    SecretDeleted = "secret.deleted", "A secret was deleted and its value destroyed.";
    ToolCreated = "tool.created", "A tool was made.";
    ToolChanged = "tool.changed", "A tool changed, or is shared or no longer shared.";
    ToolDeleted = "tool.deleted", "A tool was deleted.";
    ServiceTemplateCreated = "service_template.created", "A template of services was made.";
    ServiceTemplateChanged = "service_template.changed", "A template of services changed, or is shared or no longer shared.";
    ServiceTemplateArchived = "service_template.archived", "Nothing new is made from a template of services.";
    ServiceTemplateDeleted = "service_template.deleted", "A template of services was deleted.";
    ToolTemplateCreated = "tool_template.created", "A template of tools was made.";
    ToolTemplateChanged = "tool_template.changed", "A template of tools changed, or is shared or no longer shared.";
    ToolTemplateArchived = "tool_template.archived", "Nothing new is made from a template of tools.";
    ToolTemplateDeleted = "tool_template.deleted", "A template of tools was deleted.";
    SecretBound = "secret_binding.created", "Somebody uses a secret of their own with a tool.";
    SecretRebound = "secret_binding.changed", "Somebody uses another secret of their own with a tool.";
    SecretUnbound = "secret_binding.deleted", "A tool is used with its owner's secret again.";
    EndpointAllowed = "endpoint.allowed", "An address that is refused otherwise may be reached.";
    EndpointChanged = "endpoint.changed", "What is allowed of an address changed.";
    EndpointRefused = "endpoint.refused", "An address that was allowed is refused again.";
    ConversationCreated = "conversation.created", "A conversation was begun.";
    ConversationChanged = "conversation.changed", "What a conversation is called, or whether it is archived, changed.";
    BranchCreated = "branch.created", "A conversation was forked; the subject is the new one.";
    BranchFolded = "branch.folded", "A conversation was folded into a summary.";
    BranchReopened = "branch.reopened", "A folded conversation goes on in a new one, the subject.";
    NodeCreated = "node.created", "Something was said; the subject is the node.";
    NodeReserved = "node.reserved", "A place is kept for what is being generated; the subject is the node.";
    NodeFailed = "node.failed", "Nothing came of what was to be generated; the subject is the node.";
    NodeMarked = "node.marked", "A bookmark, a tag or what is pruned or left out changed; the subject is the node.";
    PathMoved = "path.moved", "Somebody turned to another node; the subject is the node.";
    FrameMoved = "frame.moved", "Somebody turned to another conversation; the subject is the conversation.";
    SummaryMade = "summary.made", "A node or a conversation was summarised; the subject is which.";
    ProjectCreated = "project.created", "A project was begun.";
    ProjectChanged = "project.changed", "What a project is called changed.";
    ActorCreated = "actor.created", "Somebody who can write was described.";
    ActorChanged = "actor.changed", "Who can write, and with which rights, changed.";
    BlobAttached = "blob.attached", "Bytes were uploaded and attached.";
    KeyCreated = "key.created", "An API key was made.";
    KeyRevoked = "key.revoked", "An API key was ended.";
    UserCreated = "user.created", "A user was made.";
    UserChanged = "user.changed", "The name or role of a user changed.";
    GrantGiven = "grant.given", "An administrator may read this owner's things for a while.";
    GrantEnded = "grant.ended", "A grant was ended before its time.";
    LinkMade = "session.link.made", "A one-time sign-in link was made.";
    SessionStarted = "session.started", "Somebody signed in by a link.";
    SessionEnded = "session.ended", "A browser was signed out.";
    SettingChanged = "setting.changed", "A setting of the installation was changed.";
    OperationCancelled = "operation.cancelled", "A queued or running operation was cancelled.";
    VerificationRequested = "verification.requested", "A verification of the store was queued.";
    VerificationCompleted = "verification.completed", "A verification ended; the operation has its report.";
    VerificationFailed = "verification.failed", "A verification could not be carried out.";
    IndexRebuildRequested = "index.rebuild.requested", "The index of a server is built again from the timeline.";
    VaultRotationRequested = "vault.rotation.requested", "A new master key was asked for.";
    VaultRotated = "vault.rotated", "Every secret is under a new master key.";
    VaultRotationFailed = "vault.rotation.failed", "A rotation of the vault ended without opening every value; its operation says how to restore them.";
    ToolCallRequested = "tool.call.requested", "A tool is about to be called; the subject is the call.";
    ToolCalled = "tool.called", "A call of a tool succeeded; the subject is the call.";
    ToolCallFailed = "tool.call.failed", "A call of a tool came to nothing, or nobody saw its end.";
    ExecutionStarted = "execution.started", "A process is carried out; the subject is the run.";
    ExecutionCompleted = "execution.completed", "A run ended with its output; the subject is the run.";
    ExecutionFailed = "execution.failed", "A run came to nothing; the subject is the run.";
    ExecutionCancelled = "execution.cancelled", "A run was cancelled; the subject is the run.";
    ExecutionPaused = "execution.paused", "A run was paused: nothing more of it is begun; the subject is the run.";
    ExecutionContinued = "execution.continued", "A paused run goes on; the subject is the run.";
    ReviewRequested = "review.requested", "A run waits for a person; the subject is the review.";
    ReviewDecided = "review.decided", "A person decided, and whoever did so in another's place is told as well; the subject is the review.";
    ReviewDelegated = "review.delegated", "Somebody was asked to decide in its owner's place, and both are told; the subject is the review.";
    ReviewTakenBack = "review.taken_back", "A question is no longer another's to decide: taken back, or ended without them.";
    ApprovalGiven = "approval.given", "Calls of a tool are no longer asked about; the subject is the standing approval.";
    ApprovalRenewed = "approval.renewed", "A standing approval counts for the tool as it is now.";
    ApprovalRevoked = "approval.revoked", "Calls of a tool are asked about again.";
    ProcessCreated = "process.created", "A process was made.";
    ProcessChanged = "process.changed", "A process changed.";
    ProcessArchived = "process.archived", "A process was put away; what it made stays.";
    ProcessDeleted = "process.deleted", "A process that never ran was deleted.";
    DefaultProcessChanged = "default_process.changed", "Another process answers in new conversations.";
    ToolUsed = "tool.used", "Somebody else used a tool or service of this owner's.";
    DamageFound = "damage.found", "What is stored was found damaged while it was read; administrators are told, and skein verify says where.";
    ExportMade = "export.made", "A cut of the timeline was made for export.";
    ImportMade = "import.made", "A bundle was imported.";
}

impl EventName {
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|name| name.as_str() == text)
    }

    /// The fact that tells this event by itself, for whatever has no fact of its own.
    pub fn to_draft(self, subject: Option<&str>, mut told: Map<String, Value>) -> ItemDraft {
        told.insert("event".to_owned(), json!(self.as_str()));
        if let Some(subject) = subject {
            told.insert("subject".to_owned(), json!(subject));
        }
        ItemDraft::recorded(ItemType::SYSTEM_EVENT, &told)
    }
}

/// What watchers are told about one fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    pub name: EventName,
    /// The id of what it is about: an item, a record, a relation, a key, an operation.
    pub subject: String,
    /// What that is: an item's or a record's type.
    pub subject_type: Option<String>,
}

/// The event of a fact, if it has one.
pub fn event_of(item: &Item) -> Option<Event> {
    let header = &item.header;
    let own = |name| Some(Event { name, subject: header.id.to_string(), subject_type: None });
    if !header.item_type.is_system() {
        let subject_type = Some(header.item_type.as_str().to_owned());
        return Some(Event { subject_type, ..own(EventName::ItemAppended)? });
    }
    let document = item.document();
    let about = |name, field: &str| {
        let subject = document.as_ref()?.get(field)?.as_str()?.to_owned();
        Some(Event { name, subject, subject_type: None })
    };
    match &header.item_type {
        t if *t == ItemType::ENTITY_DELTA => delta_event(&document?),
        t if *t == ItemType::RELATION_CREATED => about(EventName::RelationCreated, "relationId"),
        t if *t == ItemType::RELATION_EDITED => about(EventName::RelationEdited, "relationId"),
        t if *t == ItemType::RELATION_REMOVED => about(EventName::RelationRemoved, "relationId"),
        t if *t == ItemType::TOMBSTONE => about(EventName::ItemUndone, "itemId"),
        t if *t == ItemType::BLOB_ATTACHED => own(EventName::BlobAttached),
        t if *t == ItemType::EPISODE => {
            let subject = EpisodeId::from_bytes(*header.id.as_bytes()).to_string();
            Some(Event { name: EventName::EpisodeBrought, subject, subject_type: None })
        }
        t if *t == ItemType::NODE => own(EventName::NodeCreated),
        t if *t == ItemType::NODE_RESERVED => about(EventName::NodeReserved, "nodeId"),
        t if *t == ItemType::NODE_FAILED => about(EventName::NodeFailed, "nodeId"),
        t if *t == ItemType::NODE_MARKED => about(EventName::NodeMarked, "nodeId"),
        t if *t == ItemType::PATH_MOVED => about(EventName::PathMoved, "nodeId"),
        t if *t == ItemType::FRAME_MOVED => about(EventName::FrameMoved, "conversationId"),
        t if *t == ItemType::TREE_SUMMARY => {
            about(EventName::SummaryMade, "nodeId").or_else(|| about(EventName::SummaryMade, "conversationId"))
        }
        t if *t == ItemType::TOOL_CALL => own(EventName::ToolCallRequested),
        t if *t == ItemType::TOOL_RESULT => match document.as_ref()?.get("status")?.as_str()? {
            "success" => about(EventName::ToolCalled, "callId"),
            _ => about(EventName::ToolCallFailed, "callId"),
        },
        t if *t == ItemType::EXECUTION_BEGUN => {
            let subject = ExecutionId::from_bytes(*header.id.as_bytes()).to_string();
            Some(Event { name: EventName::ExecutionStarted, subject, subject_type: None })
        }
        t if *t == ItemType::EXECUTION_ENDED => match document.as_ref()?.get("status")?.as_str()? {
            "completed" => about(EventName::ExecutionCompleted, "runId"),
            "cancelled" => about(EventName::ExecutionCancelled, "runId"),
            _ => about(EventName::ExecutionFailed, "runId"),
        },
        t if *t == ItemType::REVIEW_ASKED => {
            let subject = ReviewId::from_bytes(*header.id.as_bytes()).to_string();
            Some(Event { name: EventName::ReviewRequested, subject, subject_type: None })
        }
        t if *t == ItemType::REVIEW_DECIDED => about(EventName::ReviewDecided, "reviewId"),
        t if *t == ItemType::SYSTEM_EVENT => {
            let name = EventName::parse(document.as_ref()?.get("event")?.as_str()?)?;
            about(name, "subject").or_else(|| own(name))
        }
        // A seal is about the store; a redaction is told by its own system event, what a node says by its node, a large
        // output by its result.
        _ => None,
    }
}

fn delta_event(document: &Map<String, Value>) -> Option<Event> {
    let delta = Delta::from_document(document)?;
    let told = |name, record: RecordId| {
        Some(Event { name, subject: record.to_string(), subject_type: Some(delta.record_type.as_str().to_owned()) })
    };
    match delta.record_type.as_str() {
        "User" | "ApiKey" | "Setting" | "TimeOverride" => None,
        record_type => told(change_name(record_type, delta.act, delta.version == 1), delta.record),
    }
}

/// What a change of a record is called, by the record's type.
fn change_name(record_type: &str, act: Act, is_first: bool) -> EventName {
    use EventName as E;
    let [created, changed, deleted] = match record_type {
        "Service" => [E::ServiceCreated, E::ServiceChanged, E::ServiceDeleted],
        "Secret" => [E::SecretCreated, E::SecretChanged, E::SecretDeleted],
        "Tool" => [E::ToolCreated, E::ToolChanged, E::ToolDeleted],
        "ServiceTemplate" => [E::ServiceTemplateCreated, E::ServiceTemplateChanged, E::ServiceTemplateDeleted],
        "ToolTemplate" => [E::ToolTemplateCreated, E::ToolTemplateChanged, E::ToolTemplateDeleted],
        "Process" => [E::ProcessCreated, E::ProcessChanged, E::ProcessDeleted],
        "SecretBinding" => [E::SecretBound, E::SecretRebound, E::SecretUnbound],
        "Conversation" => [E::ConversationCreated, E::ConversationChanged, E::ConversationChanged],
        "Project" => [E::ProjectCreated, E::ProjectChanged, E::ProjectChanged],
        "Actor" => [E::ActorCreated, E::ActorChanged, E::ActorChanged],
        "AllowedEndpoint" => [E::EndpointAllowed, E::EndpointChanged, E::EndpointRefused],
        "StandingApproval" => [E::ApprovalGiven, E::ApprovalRenewed, E::ApprovalRevoked],
        "DefaultProcess" => [E::DefaultProcessChanged; 3],
        _ => [E::RecordCreated, E::RecordUpdated, E::RecordDeleted],
    };
    match (act, record_type) {
        (Act::Deleted, _) => deleted,
        (Act::Rotated, "Secret") => E::SecretRotated,
        (Act::Archived, "ServiceTemplate") => E::ServiceTemplateArchived,
        (Act::Archived, "Process") => E::ProcessArchived,
        (Act::Archived, "ToolTemplate") => E::ToolTemplateArchived,
        _ if is_first => created,
        _ => changed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ItemId, UserId};
    use crate::time::Millis;

    fn item(draft: ItemDraft) -> Item {
        draft.realize(ItemId::from_bytes([1; 16]), UserId::from_bytes([2; 16]), Millis(3))
    }

    #[test]
    fn every_name_reads_back_and_follows_the_grammar() {
        for name in EventName::ALL {
            assert_eq!(EventName::parse(name.as_str()), Some(*name));
            assert!(name.as_str().split('.').count() >= 2, "{name:?}");
        }
    }

    #[test]
    fn a_system_event_is_told_by_its_name() {
        let told = item(EventName::KeyRevoked.to_draft(Some("key_1"), Map::new()));
        let event = event_of(&told).unwrap();
        assert_eq!((event.name, event.subject.as_str()), (EventName::KeyRevoked, "key_1"));
    }

    #[test]
    fn a_fact_is_told_with_its_type_and_a_seal_not_at_all() {
        let note = ItemDraft::recorded(ItemType::NOTE, &Map::new());
        assert_eq!(event_of(&item(note)).unwrap().subject_type.as_deref(), Some("Note"));
        assert_eq!(event_of(&item(ItemDraft::recorded(ItemType::SEAL, &Map::new()))), None);
    }
}
