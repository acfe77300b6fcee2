//! Plans the API requests of commands on conversations and projects.
//!
//! Conversations, nodes and projects may be given as people call them, and words may stand in files, so a request is
//! complete only once they were looked at: until then it is a [`UnresolvedTreeRequest`]. What is done with it is in [`crate::commands`].
//! Start at [`ConversationTask`].

mod commands;
mod name;
mod unresolved_request;

use std::path::PathBuf;

use serde_json::{Map, Value};

pub(crate) use self::name::{NodeLocation, NodeName, TextSource};
use crate::plan::api_request::ApiRequest;
use crate::plan::catalog::EntryName;
pub(crate) use crate::plan::tree::unresolved_request::{NodeSlot, Resolver, UnresolvedTreeRequest};
use crate::session::ListLimit;
use crate::views::{List, Sheet};

/// One command about conversations or projects.
#[derive(Debug, PartialEq)]
pub(crate) enum ConversationTask {
    Show {
        wish: UnresolvedTreeRequest,
        sheet: &'static Sheet,
    },
    List {
        wish: UnresolvedTreeRequest,
        list: &'static List,
        portion: (ListLimit, Option<String>),
    },
    /// All rows come with one answer, in this field.
    Rows {
        wish: UnresolvedTreeRequest,
        field: &'static str,
        list: &'static List,
    },
    /// The whole tree.
    Draw {
        conversation: EntryName,
        most: ListLimit,
    },
    /// One path, as a dialogue.
    Read {
        conversation: EntryName,
        node: Option<NodeName>,
        most: ListLimit,
    },
    /// Something is said, and shown as it was kept.
    Say(UnresolvedTreeRequest),
    /// Another node is turned to.
    Switch(UnresolvedTreeRequest),
    /// Changed in these fields, on what is there now.
    Change {
        conversation: EntryName,
        fields: Map<String, Value>,
    },
    /// Ends by what was found.
    Verify(UnresolvedTreeRequest),
    Compare(UnresolvedTreeRequest),
    Context(UnresolvedTreeRequest),
    Export {
        wish: UnresolvedTreeRequest,
        file: PathBuf,
    },
    /// Into a file that can be taken in again.
    Bundle {
        conversation: EntryName,
        file: PathBuf,
    },
}

impl From<ConversationTask> for ApiRequest {
    fn from(task: ConversationTask) -> Self {
        Self::Conversation(task)
    }
}

#[cfg(test)]
mod tests;
