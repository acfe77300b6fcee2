//! A plain search for words in what was said, as far as it is visible from where one stands (decision Z8): the path that
//! leads there, through forks, the main paths of other conversations, and what was brought. It answers where there is no index.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use skein_core::garden::item::ItemType;
use skein_core::memory::episode::{EpisodePlace, EpisodeSource, ImportedEpisode, episode_of};
use skein_core::tree::actor::ActorId;
use skein_core::tree::node_place::NodeLabel;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, EpisodeId, ItemId, Millis, NodeId, PathId, Viewer};
use skein_recall::Snippet;
use skein_store::timeline::items::{Direction, ItemQuery, Page, StoredItem};
use skein_store::tree::conversations::ConversationQuery;
use skein_store::tree::read::{NODES_PER_PAGE_MAX, SeenNode};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::tree::text_of;

/// Most nodes that one search reads, the nearest first: so many are read in a fraction of a second, and no search can
/// hold up those who write.
const SEARCHED_NODES_MAX: usize = 10_000;
/// Most bytes of what these nodes say.
const SEARCHED_BYTES_MAX: usize = 32 << 20;
/// Most things that were brought, the newest first, and most bytes of them.
const SEARCHED_BROUGHT_MAX: usize = 2_000;
const SEARCHED_BROUGHT_BYTES_MAX: usize = 8 << 20;
/// Most conversations whose main paths one search walks.
const SEARCHED_CONVERSATIONS_MAX: usize = 1_000;
/// A long question is searched for by its first words; each has a bit of a `u64`.
const WORDS_MAX: usize = 64;
/// Shorter words are looked for whole; longer ones begin words too: heron finds herons.
const PREFIX_CHARS_MIN: usize = 3;
const SNIPPET_BYTES_BEFORE: usize = 80;
const SNIPPET_BYTES: usize = 400;
const RESULTS_MAX: usize = 100;
/// Places that are marked in a text, beside the first of each word.
const PLACES_MAX: usize = 64;

/// What is searched for, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SearchQuery {
    /// Words; what has more of them, and rarer ones, comes first.
    pub text: String,
    /// The end of the path one stands on.
    pub node: Option<NodeId>,
    /// Where its owner stands in a conversation, unless a node is named.
    pub conversation: Option<ConversationId>,
    /// Whether the path one stands on is left out, because it is known already.
    pub elsewhere: bool,
    /// How many results to pass over.
    pub skip: usize,
    /// How many are told at most.
    pub limit: usize,
}

/// Something that has some of the words.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundText {
    /// What remembers it.
    pub id: EpisodeId,
    /// Where it was said, or what it is visible with.
    pub place: Option<EpisodePlace>,
    /// Who spoke at its turn.
    pub speaker: Option<Speaker>,
    /// Who said what was brought.
    pub said_by: Option<String>,
    /// The actor who wrote it.
    pub author: Option<ActorId>,
    /// What kind of thing it is.
    pub source: EpisodeSource,
    /// When it was said.
    pub said_at: Millis,
    /// When it became known here.
    pub known_at: Millis,
    /// The item that holds what it says.
    pub item: ItemId,
    /// What it says around the first of the words.
    pub snippet: Snippet,
    /// Which of the words it has.
    pub words: Vec<String>,
}

impl Engine {
    /// Searches what was said and is visible from a place; the next page is asked for by how many to pass over.
    pub(crate) async fn search(
        &self,
        caller: &Caller,
        query: SearchQuery,
    ) -> Result<Page<FoundText, usize>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| search(tx, &viewer, &query)).await?)
    }
}

fn search(tx: &mut Tx<'_>, viewer: &Viewer, query: &SearchQuery) -> Result<Page<FoundText, usize>, StoreError> {
    let words = words(&query.text);
    let mut looking =
        WordSearch { words: &words, left: SEARCHED_NODES_MAX, room: SEARCHED_BYTES_MAX, ..WordSearch::default() };
    let own = match (query.node, query.conversation) {
        (Some(node), _) => Some((tx.node(viewer, node)?.conversation, Some(node))),
        (None, Some(conversation)) => {
            tx.conversation(viewer, conversation)?;
            let cursor = tx.path_cursor(viewer, conversation, PathId::main_of(conversation))?;
            Some((conversation, cursor))
        }
        (None, None) => None,
    };
    if words.is_empty() {
        return Ok(Page { rows: Vec::new(), next: None });
    }
    if let Some((conversation, Some(end))) = own {
        looking.path(tx, viewer, conversation, end, !query.elsewhere, |_| true)?;
    }
    looking.others(tx, viewer, own.map(|(conversation, _)| conversation))?;
    looking.brought(tx, viewer)?;
    Ok(looking.page(query))
}

/// A search under way.
#[derive(Default)]
struct WordSearch<'a> {
    words: &'a [String],
    left: usize,
    room: usize,
    looked_at: usize,
    seen: HashSet<NodeId>,
    /// Where those stand that may be told.
    places: HashMap<NodeId, (ConversationId, NodeLabel)>,
    hits: Vec<Hit>,
}

struct Hit {
    found: FoundText,
    /// A bit for each word it has.
    mask: u64,
}

impl WordSearch<'_> {
    fn is_over(&self) -> bool {
        self.left == 0 || self.room == 0
    }

    /// Looks at a path from its end on, as far up as the limits allow; nodes that are not taken count as seen.
    fn path(
        &mut self,
        tx: &mut Tx<'_>,
        viewer: &Viewer,
        conversation: ConversationId,
        end: NodeId,
        is_taken: bool,
        belongs: impl Fn(&SeenNode) -> bool,
    ) -> Result<(), StoreError> {
        let main = PathId::main_of(conversation);
        let mut end = Some(end);
        while let Some(last) = end.filter(|_| !self.is_over()) {
            // One more than is looked at: the next piece begins with it, in the version that is shown.
            let mut piece = tx.path_to(viewer, main, last, NODES_PER_PAGE_MAX.min(self.left) + 1)?;
            end = (piece.len() > NODES_PER_PAGE_MAX.min(self.left)).then(|| piece.remove(0).row.id);
            for seen in piece.iter().rev() {
                if !belongs(seen) {
                    return Ok(());
                }
                self.look(seen, is_taken);
            }
        }
        Ok(())
    }

    /// The main paths of other conversations, the one last spoken in first, archived ones last; where tools worked is
    /// not looked at (rule BR-EPISODE-003).
    fn others(&mut self, tx: &mut Tx<'_>, viewer: &Viewer, own: Option<ConversationId>) -> Result<(), StoreError> {
        let mut walked = 0;
        for archived in [false, true] {
            let mut after = None;
            loop {
                let query = ConversationQuery { project: None, archived, after, limit: 100 };
                let page = tx.conversations(viewer, &query)?;
                for row in page.rows.into_iter().filter(|row| Some(row.id) != own) {
                    if self.is_over() || walked >= SEARCHED_CONVERSATIONS_MAX {
                        return Ok(());
                    }
                    walked += 1;
                    if let Some(end) = tx.path_cursor(viewer, row.id, PathId::main_of(row.id))? {
                        // Above the fork it is another conversation's path.
                        self.path(tx, viewer, row.id, end, true, |seen| seen.row.conversation == row.id)?;
                    }
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(())
    }

    fn look(&mut self, seen: &SeenNode, is_taken: bool) {
        self.left = self.left.saturating_sub(1);
        if !self.seen.insert(seen.row.id) || !is_taken || seen.row.excluded || seen.row.pruned {
            return;
        }
        let (Some(text), Some(label), Some(item)) = (text_of(seen), seen.row.label(), seen.row.content) else { return };
        let (conversation, node) = (seen.row.conversation, seen.row.id);
        self.places.insert(node, (conversation, label));
        let found = FoundText {
            id: episode_of(node),
            place: Some(EpisodePlace { conversation, node, turn: seen.row.turn(), label, previous: None }),
            speaker: seen.spoken.map(|(speaker, _)| speaker),
            said_by: None,
            author: Some(seen.row.author),
            source: EpisodeSource::Message,
            said_at: seen.row.created_at,
            known_at: node.made_at(),
            item,
            snippet: Snippet::default(),
            words: Vec::new(),
        };
        self.take(found, &text);
    }

    /// What was brought, the newest first; of what names a node, only what is brought to one that may be told.
    fn brought(&mut self, tx: &mut Tx<'_>, viewer: &Viewer) -> Result<(), StoreError> {
        (self.left, self.room) = (SEARCHED_BROUGHT_MAX, SEARCHED_BROUGHT_BYTES_MAX);
        let mut after = None;
        while !self.is_over() {
            let item_type = Some(ItemType::EPISODE);
            let direction = Direction::Backward;
            let query = ItemQuery { item_type, direction, after, limit: 100, ..ItemQuery::default() };
            let page = tx.items(viewer, &query)?;
            for stored in page.rows.into_iter().take(self.left) {
                self.left -= 1;
                self.look_at_brought(&stored);
            }
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        Ok(())
    }

    fn look_at_brought(&mut self, stored: &StoredItem) {
        let brought = stored.item.document().and_then(|document| ImportedEpisode::from_document(&document));
        let Some(brought) = brought else { return };
        let place = match brought.node_id {
            None => None,
            Some(node) => {
                let Some((conversation, label)) = self.places.get(&node).copied() else { return };
                Some(EpisodePlace { conversation, node, turn: None, label, previous: None })
            }
        };
        let found = FoundText {
            id: EpisodeId::from_bytes(*stored.item.header.id.as_bytes()),
            place,
            speaker: None,
            author: None,
            source: brought.source,
            said_at: stored.canonical_at,
            known_at: stored.item.header.realized_at,
            item: stored.item.header.id,
            snippet: Snippet::default(),
            words: Vec::new(),
            said_by: brought.speaker.clone(),
        };
        self.take(found, &brought.text());
    }

    fn take(&mut self, found: FoundText, text: &str) {
        self.room = self.room.saturating_sub(text.len());
        self.looked_at += 1;
        let (mask, places) = matches(self.words, text);
        if places.is_empty() {
            return;
        }
        let has = self.words.iter().enumerate().filter(|(bit, _)| mask & (1 << bit) != 0);
        let words = has.map(|(_, word)| word.clone()).collect();
        self.hits.push(Hit { found: FoundText { snippet: snippet(text, &places), words, ..found }, mask });
    }

    /// The best first: rare words weigh more than those that are everywhere, and of equals the newest comes first.
    fn page(mut self, query: &SearchQuery) -> Page<FoundText, usize> {
        let mut having: BTreeMap<usize, usize> = BTreeMap::new();
        for hit in &self.hits {
            for bit in (0..self.words.len()).filter(|bit| hit.mask & (1 << bit) != 0) {
                *having.entry(bit).or_default() += 1;
            }
        }
        let weights: Vec<u64> =
            (0..self.words.len()).map(|bit| weight(self.looked_at, having.get(&bit).copied().unwrap_or(1))).collect();
        let score = |hit: &Hit| -> u64 {
            weights.iter().enumerate().filter(|(bit, _)| hit.mask & (1 << bit) != 0).map(|(_, weight)| weight).sum()
        };
        self.hits.sort_by_cached_key(|hit| std::cmp::Reverse((score(hit), hit.found.id)));
        let limit = query.limit.clamp(1, RESULTS_MAX);
        let next = (self.hits.len() > query.skip.saturating_add(limit)).then(|| query.skip + limit);
        let rows = self.hits.into_iter().skip(query.skip).take(limit).map(|hit| hit.found).collect();
        Page { rows, next }
    }
}

/// How much a word says that so many of all nodes have: one more for each time the nodes can be halved.
fn weight(nodes: usize, having: usize) -> u64 {
    const SCALE: usize = 16;
    u64::from((1 + SCALE * nodes / having.max(1)).ilog2())
}

/// The distinct words of a text in lower case, in their order.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let word = word.to_lowercase();
        if !words.contains(&word) {
            words.push(word);
        }
        if words.len() == WORDS_MAX {
            break;
        }
    }
    words
}

/// Which of the words a text has, a bit for each, and where the first of them stand.
fn matches(words: &[String], text: &str) -> (u64, Vec<Range<usize>>) {
    let (mut mask, mut places) = (0_u64, Vec::new());
    let mut at = 0;
    for piece in text.split(|c: char| !c.is_alphanumeric()) {
        let lower = piece.to_lowercase();
        let before = mask;
        let mut is_match = false;
        for (bit, word) in words.iter().enumerate() {
            let is_prefix = word.chars().count() >= PREFIX_CHARS_MIN && lower.starts_with(word.as_str());
            if lower == *word || is_prefix {
                mask |= 1 << bit;
                is_match = true;
            }
        }
        if is_match && (places.len() < PLACES_MAX || mask != before) {
            places.push(at..at + piece.len());
        }
        at += piece.len();
        at += text[at..].chars().next().map_or(0, char::len_utf8);
    }
    (mask, places)
}

/// What a text says around the first place, cut at whole characters.
fn snippet(text: &str, places: &[Range<usize>]) -> Snippet {
    let first = places.first().map_or(0, |place| place.start);
    let begin = text.floor_char_boundary(first.saturating_sub(SNIPPET_BYTES_BEFORE));
    let end = text.floor_char_boundary(begin.saturating_add(SNIPPET_BYTES).min(text.len()));
    let begin = end - text[begin..end].trim_start().len();
    let shown = text[begin..end].trim_end();
    let end = begin + shown.len();
    let inside = places.iter().filter(|place| place.start >= begin && place.end <= end);
    let highlights = inside.map(|place| place.start - begin..place.end - begin).collect();
    let is_cut = |rest: &str| !rest.trim().is_empty();
    let (cut_before, cut_after) = (is_cut(&text[..begin]), is_cut(&text[end..]));
    Snippet { text: shown.to_owned(), highlights, cut_before, cut_after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_at_the_beginning_of_longer_ones() {
        let words = words("Heron, HERON at: Ärger");
        assert_eq!(words, ["heron", "at", "ärger"]);
        let (mask, places) = matches(&words, "Two Herons — cat");
        assert_eq!((mask, places.len(), places.first()), (0b001, 1, Some(&(4..10))));
        assert_eq!(matches(&words, "äRGER at sea"), (0b110, vec![0..6, 7..9]));
        assert_eq!(matches(&words, "nothing"), (0, Vec::new()));
    }

    #[test]
    fn a_snippet_is_cut_at_whole_characters() {
        let text = format!("{} heron {}", "ä".repeat(300), "ö".repeat(300));
        let cut = snippet(&text, &matches(&words("heron"), &text).1);
        assert!(cut.text.starts_with('ä') && cut.text.ends_with('ö') && cut.cut_before && cut.cut_after, "{cut:?}");
        assert_eq!(&cut.text[cut.highlights[0].clone()], "heron");
        let whole = snippet(" a heron ", &matches(&words("heron"), " a heron ").1);
        assert_eq!((whole.text.as_str(), whole.highlights.first(), whole.cut_after), ("a heron", Some(&(2..7)), false));
    }

    #[test]
    fn rare_words_weigh_more() {
        assert!(weight(100, 1) > weight(100, 50));
        assert!(weight(1, 1) > 0);
    }
}
