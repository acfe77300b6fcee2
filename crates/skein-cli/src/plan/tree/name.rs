//! Conversations, nodes and words as they were given.

use std::path::PathBuf;

use anyhow::anyhow;
use skein_core::ItemId;
use skein_core::tree::local_id::lookup_form;

use crate::arguments::{PlaceArguments, WordsArguments};
use crate::failure::Failure;
use crate::plan::api_request::parse;
use crate::plan::catalog::EntryName;

/// How people write "where I stand".
const HERE: &str = ".";

/// A node inside a conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NodeName {
    Id(ItemId),
    /// Its short name.
    Local(String),
    /// Where the owner of the conversation stands.
    Here,
}

impl NodeName {
    pub(super) fn new(text: &str) -> Result<Self, Failure> {
        let hint =
            "give the node's id (item_…), its local id as skein conversation show draws it, or . for where you stand";
        if text == HERE {
            return Ok(Self::Here);
        }
        if text.starts_with("item_") {
            return Ok(Self::Id(parse(text, hint)?));
        }
        let local = lookup_form(text).ok_or_else(|| Failure::usage(anyhow!("{text:?} does not name a node"), hint))?;
        Ok(Self::Local(local))
    }
}

/// A node, and the conversation in which it is looked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct NodeLocation {
    pub(crate) conversation: EntryName,
    pub(crate) node: NodeName,
}

impl NodeLocation {
    pub(super) fn new(conversation: &EntryName, node: &str) -> Result<Self, Failure> {
        Ok(Self { conversation: conversation.clone(), node: NodeName::new(node)? })
    }

    pub(super) fn of(place: &PlaceArguments) -> Result<Self, Failure> {
        Self::new(&conversation(&place.conversation.conversation)?, &place.node)
    }

    pub(super) fn here(conversation: &EntryName) -> Self {
        Self { conversation: conversation.clone(), node: NodeName::Here }
    }
}

pub(super) fn conversation(text: &str) -> Result<EntryName, Failure> {
    EntryName::new(text, "give the id as skein conversation list shows it: entity_…, or the beginning of the title")
}

pub(super) fn project(text: &str) -> Result<EntryName, Failure> {
    EntryName::new(text, "give the id as skein project list shows it: entity_…, or the name")
}

/// What is said, and where it is read from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextSource {
    Said(String),
    Input,
    File(PathBuf),
}

impl TextSource {
    pub(super) fn new(arguments: WordsArguments) -> Self {
        match (arguments.text, arguments.file) {
            (_, Some(file)) if file.as_os_str() != "-" => Self::File(file),
            (Some(text), None) if text != "-" => Self::Said(text),
            _ => Self::Input,
        }
    }
}
