//! Finds where the words of a node stand besides, before a redaction destroys them.
//!
//! What Skein copied while it made an answer goes with them: the messages of tool runs, and what a model was asked to make one
//! answer of several. What a person wrote, or a model answered, is theirs: it is listed, for the person to decide. Why:
//! `docs/decisions/0044-what-a-redaction-reaches.md`.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skein_core::flow::execution::content_references::NodeQuotation;
use skein_core::garden::item::{Item, ItemType};
use skein_core::garden::record::RecordType;
use skein_core::{ConversationId, ItemId, Millis, NodeId, RecordId, UserId, Viewer};

use crate::error::StoreError;
use crate::timeline::items::{ItemQuery, PagePosition, StoredItem, place};
use crate::timeline::records::RECORDS_PER_PAGE_MAX;
use crate::tree::NodeRow;
use crate::tx::Tx;

/// Most quotes that are listed.
pub const QUOTES_MAX: usize = 200;
/// Items of a page; one of them may have 16 MiB.
const ITEMS_AT_ONCE: usize = 50;
/// Items and bytes of one read before a redaction, after which the next read goes on.
const SEARCH_MAX: SearchLimit = SearchLimit { items: 20_000, bytes: 64 << 20 };
const UNLIMITED: SearchLimit = SearchLimit { items: usize::MAX, bytes: usize::MAX };
const CLOCKS_APART_MAX_MS: i64 = 60_000;
const LOOKING: Viewer = Viewer::System("redaction");
const TOOL_RUN: &str = "tool_run";
/// Fields of a conversation in which a person writes. Of a summary, versions before kept the text there.
const FIELDS: [&str; 4] = ["title", "description", "systemContext", "summary"];

/// What still has words that were destroyed elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum QuoteKind {
    /// A message; redact its item.
    Node,
    /// The summary that a conversation was folded into; redact its item.
    FoldSummary,
    /// A note, an episode that was brought, or another item that somebody stated; redact it.
    Item,
    /// A field of a conversation. It can be changed; its history keeps what it said.
    Conversation,
}

/// Where words stand besides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Quote {
    pub kind: QuoteKind,
    /// The item that has them; none where a record has.
    pub item: Option<ItemId>,
    pub conversation: Option<ConversationId>,
    /// The field of the conversation.
    pub field: Option<String>,
}

/// Everything that holds a node's words besides what is made of them, as far as it was searched for.
#[derive(Debug, Clone, Default)]
pub struct Quotes {
    pub listed: Vec<Quote>,
    /// Whether there are more than are listed.
    pub has_more: bool,
    pub(crate) tool_runs: Vec<NodeRow>,
    /// The last item that was searched.
    reached: Option<PagePosition>,
    /// Whether the search reached the end of the timeline.
    is_complete: bool,
}

impl Quotes {
    fn add(
        &mut self,
        kind: QuoteKind,
        item: Option<ItemId>,
        conversation: Option<ConversationId>,
        field: Option<&str>,
    ) {
        let quote = Quote { kind, item, conversation, field: field.map(str::to_owned) };
        if self.listed.contains(&quote) {
            return;
        }
        if self.listed.len() == QUOTES_MAX {
            self.has_more = true;
            return;
        }
        self.listed.push(quote);
    }

    fn add_tool_run(&mut self, row: NodeRow) {
        if self.tool_runs.iter().all(|known| known.id != row.id) {
            self.tool_runs.push(row);
        }
    }

    /// Whether there is nothing left to search before the redaction.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

/// What is looked for, and where short words count.
struct Search {
    quoted: NodeQuotation,
    node: NodeId,
    trees: BTreeSet<ConversationId>,
}

/// How much is searched at once.
#[derive(Clone, Copy)]
struct SearchLimit {
    items: usize,
    bytes: usize,
}

/// How surely words were found.
#[derive(PartialEq, Eq)]
enum Match {
    Certain,
    /// They are short: only in the trees of the node.
    Short,
}

impl Search {
    fn find(&self, content: &Map<String, Value>) -> Option<Match> {
        if self.quoted.is_said_in(content) {
            return Some(Match::Certain);
        }
        self.quoted.may_be_said_in(content).then_some(Match::Short)
    }

    fn counts(&self, found: &Match, conversation: ConversationId) -> bool {
        *found == Match::Certain || self.trees.contains(&conversation)
    }
}

impl Tx<'_> {
    /// Searches on for what quotes a node, [`SEARCH_MAX`] further. A redaction begins when this is complete: how much
    /// an owner has does not decide how long its transaction takes.
    pub fn search_quotes(&mut self, viewer: &Viewer, id: ItemId, mut quotes: Quotes) -> Result<Quotes, StoreError> {
        let node = self.node_of_item(viewer, id)?.filter(|node| viewer.may_redact(node.owner, self.now()));
        let content = node.as_ref().and_then(|node| node.content);
        let (Some(node), Some(content)) = (node, content) else { return Ok(Quotes { is_complete: true, ..quotes }) };
        let Some((search, since)) = self.search_of(&node, content)? else {
            return Ok(Quotes { is_complete: true, ..quotes });
        };
        if quotes.reached.is_none() {
            self.look_into_conversations(&search, &node, &mut quotes)?;
        }
        let from = (since, quotes.reached);
        quotes.is_complete = self.look_on(&search, node.owner, from, SEARCH_MAX, &mut quotes)?;
        Ok(quotes)
    }

    /// Everything of the owner's that quotes a node, from the moment on at which it was said; `known` was found before.
    pub(crate) fn quotes_of(
        &mut self,
        node: &NodeRow,
        content: ItemId,
        known: Option<Quotes>,
    ) -> Result<Quotes, StoreError> {
        let Some((search, since)) = self.search_of(node, content)? else { return Ok(Quotes::default()) };
        let mut quotes = known.unwrap_or_default();
        if quotes.reached.is_none() {
            self.look_into_conversations(&search, node, &mut quotes)?;
        }
        // Another server's clock may be behind, so the end is searched once more.
        let again = quotes.reached.map_or(since, |place| since.max(place.at.plus(-CLOCKS_APART_MAX_MS)));
        self.look_on(&search, node.owner, (again, None), UNLIMITED, &mut quotes)?;
        Ok(quotes)
    }

    /// The words to search for, and since when somebody can have quoted them.
    fn search_of(&mut self, node: &NodeRow, content: ItemId) -> Result<Option<(Search, Millis)>, StoreError> {
        let Some(told) = self.find_item(content)? else { return Ok(None) };
        let words = NodeQuotation::of(node.id, &told.item.document().unwrap_or_default());
        if words.is_empty() {
            return Ok(None);
        }
        let trees = self.grown_of(node.conversation)?.into_iter().collect();
        Ok(Some((Search { quoted: words, node: node.id, trees }, told.item.header.realized_at)))
    }

    /// Searches items of an owner up to a limit; whether that was all of them.
    fn look_on(
        &mut self,
        search: &Search,
        owner: UserId,
        (from, mut after): (Millis, Option<PagePosition>),
        most: SearchLimit,
        quotes: &mut Quotes,
    ) -> Result<bool, StoreError> {
        let mut searched = SearchLimit { items: 0, bytes: 0 };
        while searched.items < most.items && searched.bytes < most.bytes {
            let query = ItemQuery {
                from: Some(from),
                after,
                limit: ITEMS_AT_ONCE,
                include_hidden: true,
                without_bookkeeping: true,
                ..ItemQuery::default()
            };
            let page = self.items_of(&LOOKING, owner, &query)?;
            for stored in &page.rows {
                self.look_into(search, &stored.item, quotes)?;
            }
            let bytes = |stored: &StoredItem| stored.item.payload.as_ref().map_or(0, |payload| payload.bytes().len());
            searched.items += page.rows.len();
            searched.bytes += page.rows.iter().map(bytes).sum::<usize>();
            let last = page.rows.last();
            quotes.reached = last.map(|last| place(last, query.along)).or(quotes.reached);
            after = page.next;
            if after.is_none() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn look_into(&mut self, search: &Search, item: &Item, quotes: &mut Quotes) -> Result<(), StoreError> {
        let item_type = &item.header.item_type;
        let is_stated = !item_type.is_system() || *item_type == ItemType::EPISODE;
        if !is_stated && ![ItemType::NODE_CONTENT, ItemType::FOLD_SUMMARY].contains(item_type) {
            return Ok(());
        }
        let Some(document) = item.document() else { return Ok(()) };
        let id = item.header.id;
        if is_stated {
            // Its fields have any name.
            if search.quoted.is_in(&document) {
                quotes.add(QuoteKind::Item, Some(id), None, None);
            }
            return Ok(());
        }
        let Some(found) = search.find(&document) else { return Ok(()) };
        let named = |name: &str| document.get(name).and_then(Value::as_str);
        if *item_type == ItemType::FOLD_SUMMARY {
            let conversation = named("conversationId").and_then(|id| id.parse::<ConversationId>().ok());
            if conversation.is_none_or(|conversation| search.counts(&found, conversation)) {
                quotes.add(QuoteKind::FoldSummary, Some(id), conversation, None);
            }
            return Ok(());
        }
        let node = named("nodeId").and_then(|node| node.parse::<NodeId>().ok()).filter(|node| *node != search.node);
        let Some(row) = node.map(|node| self.find_node(node)).transpose()?.flatten() else { return Ok(()) };
        if !search.counts(&found, row.conversation) {
            return Ok(());
        }
        let is_tool_run = self.find_conversation(row.conversation)?.is_some_and(|of| of.kind == TOOL_RUN);
        if is_tool_run {
            quotes.add_tool_run(row);
        } else {
            quotes.add(QuoteKind::Node, Some(row.id.into()), Some(row.conversation), None);
        }
        Ok(())
    }

    /// What people wrote about conversations: of these no time is known before which nothing could quote.
    fn look_into_conversations(
        &mut self,
        search: &Search,
        node: &NodeRow,
        quotes: &mut Quotes,
    ) -> Result<(), StoreError> {
        let (owner, record_type) = (Viewer::User(node.owner), RecordType::parse("Conversation")?);
        let mut after: Option<RecordId> = None;
        loop {
            let page = self.records(&owner, &record_type, after, RECORDS_PER_PAGE_MAX)?;
            for record in &page.rows {
                let id = ConversationId::from_bytes(*record.id.as_bytes());
                for field in FIELDS {
                    let Some(value) = record.content.data.get(field) else { continue };
                    let text = value.get("text").unwrap_or(value).clone();
                    let content = Map::from_iter([("text".to_owned(), text)]);
                    if search.find(&content).is_some_and(|found| search.counts(&found, id)) {
                        quotes.add(QuoteKind::Conversation, None, Some(id), Some(field));
                    }
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}
