//! What commands about conversations and projects ask of the API.
//!
//! Conversations, nodes and projects may be given as people call them, and words may stand in files, so a request is
//! complete only once they were looked at: until then it is a [`Wish`]. What is done with it is in [`crate::commands`].
//! Start at [`ConversationTask`].

mod commands;
mod name;
mod unresolved_request;

use std::path::PathBuf;

use serde_json::{Map, Value};

pub(crate) use self::name::{NodeName, Spot, Words};
use crate::plan::api_request::Task;
use crate::plan::catalog::Named;
pub(crate) use crate::plan::tree::unresolved_request::{Finder, Seat, Wish};
use crate::session::Amount;
use crate::views::{List, Sheet};

/// One command about conversations or projects.
#[derive(Debug, PartialEq)]
pub(crate) enum ConversationTask {
    Show {
        wish: Wish,
        sheet: &'static Sheet,
    },
    List {
        wish: Wish,
        list: &'static List,
        portion: (Amount, Option<String>),
    },
    /// All rows come with one answer, in this field.
    Rows {
        wish: Wish,
        field: &'static str,
        list: &'static List,
    },
    /// The whole tree.
    Draw {
        conversation: Named,
        most: Amount,
    },
    /// One path, as a dialogue.
    Read {
        conversation: Named,
        node: Option<NodeName>,
        most: Amount,
    },
    /// Something is said, and shown as it was kept.
    Say(Wish),
    /// Another node is turned to.
    Switch(Wish),
    /// Changed in these fields, on what is there now.
    Change {
        conversation: Named,
        fields: Map<String, Value>,
    },
    /// Ends by what was found.
    Verify(Wish),
    Compare(Wish),
    Context(Wish),
    Export {
        wish: Wish,
        file: PathBuf,
    },
    /// Into a file that can be taken in again.
    Bundle {
        conversation: Named,
        file: PathBuf,
    },
}

impl From<ConversationTask> for Task {
    fn from(task: ConversationTask) -> Self {
        Self::Conversation(task)
    }
}

#[cfg(test)]
mod tests;
