//! Names conversations while they are shown; what a name is made of is decided in `skein_core::tree::naming`.

use std::collections::HashMap;

use skein_core::tree::conversation::Conversation;
use skein_core::tree::conversation_name::{OwnName, is_full, name_after, numbered};
use skein_core::{ConversationId, PathId, Viewer};
use skein_store::tree::ConversationRow;
use skein_store::{StoreError, Tx};

use crate::tree::{conversation_id, conversations, text_of};

/// What the name of a conversation is made of.
#[derive(Debug)]
pub(super) struct Name {
    /// How it grew from others, nearest first.
    grown: Vec<&'static str>,
    /// What the last of these is called, unless it is by its number.
    words: Option<String>,
    /// The last of these.
    of: ConversationId,
}

/// The names looked up so far: forks of one conversation are listed together.
#[derive(Debug, Default)]
pub(super) struct NameCache(HashMap<ConversationId, Option<OwnName>>);

impl NameCache {
    pub(super) fn of(
        &mut self,
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        conversation: &Conversation,
        row: &ConversationRow,
    ) -> Result<Name, StoreError> {
        let (mut grown, mut of) = (Vec::new(), row.id);
        let mut own = own_name(tx, viewer, conversation, row)?;
        while let OwnName::After(prefix, above) = own {
            let above = conversation_id(above);
            let next =
                if is_full(&grown) { Some(OwnName::Words(String::new())) } else { self.above(tx, viewer, above)? };
            // What it grew from may be in another store.
            let Some(next) = next else { return Ok(Name { grown, words: None, of }) };
            grown.push(prefix);
            (own, of) = (next, above);
        }
        let words = if let OwnName::Words(words) = own { Some(words) } else { None };
        Ok(Name { grown, words, of })
    }

    fn above(&mut self, tx: &mut Tx<'_>, viewer: &Viewer, id: ConversationId) -> Result<Option<OwnName>, StoreError> {
        if let Some(known) = self.0.get(&id) {
            return Ok(known.clone());
        }
        let found = match conversations::load(tx, viewer, id) {
            Ok(shown) => {
                let row = tx.conversation(viewer, id)?;
                Some(own_name(tx, viewer, &shown.entry, &row)?)
            }
            Err(StoreError::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        self.0.insert(id, found.clone());
        Ok(found)
    }
}

/// What a conversation is called by; its root is read only where that decides.
fn own_name(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: &Conversation,
    row: &ConversationRow,
) -> Result<OwnName, StoreError> {
    let (OwnName::Number, Some(root)) = (conversation.own_name(None), row.root_node) else {
        return Ok(conversation.own_name(None));
    };
    let root = tx.seen_node(viewer, PathId::main_of(row.id), root)?;
    Ok(conversation.own_name(text_of(&root).as_deref()))
}

/// The titles these names make, in their order; the numbers are looked up together.
pub(super) fn titles(tx: &mut Tx<'_>, viewer: &Viewer, names: Vec<Name>) -> Result<Vec<String>, StoreError> {
    let silent: Vec<ConversationId> = names.iter().filter(|name| name.words.is_none()).map(|name| name.of).collect();
    let numbers = tx.conversation_numbers(viewer, &silent)?;
    let number = |id| numbers.get(&id).and_then(|number| usize::try_from(*number).ok()).unwrap_or_default();
    let title = |Name { grown, words, of }: Name| match words {
        // A title that was given stays as it is.
        Some(words) if grown.is_empty() => words,
        words => name_after(&grown, &words.unwrap_or_else(|| numbered(number(of)))),
    };
    Ok(names.into_iter().map(title).collect())
}
