//! The rows of one owner: a fixed record per episode, and the columns a question reads.
//!
//! A row is written once and never changed; an episode that changes gets a new row and its old one dies. Dead rows stay
//! until compaction. Ids that are compared for many rows are interned into small numbers when the file is read.

use std::collections::{BTreeSet, HashMap};
use std::hash::Hash;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use skein_core::tree::actor::ActorId;
use skein_core::tree::node_place::NodeLabel;
use skein_core::{ConversationId, EpisodeId, Millis, NodeId};
use xxhash_rust::xxh64::xxh64;

use crate::analysis::terms;
use crate::episode::{Episode, EpisodePlace, KIND_BYTES_MAX};
use crate::language::Language;
use crate::retrievers::ScoreSheets;
use crate::visible_rows::{BlockSums, RowSet, VisibleRows};

pub(crate) const ROW_BYTES: usize = 176;
/// No row, no slot, no number.
pub(crate) const NONE: u32 = u32::MAX;

/// What the file keeps of an episode beside its vector and text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: EpisodeId,
    pub(crate) place: Option<EpisodePlace>,
    pub(crate) previous: Option<EpisodeId>,
    pub(crate) actor: Option<ActorId>,
    pub(crate) kind: [u8; KIND_BYTES_MAX],
    pub(crate) valid_at: Millis,
    pub(crate) created_at: Millis,
    /// Where speaker and text stand, one after the other.
    pub(crate) text_at: u64,
    pub(crate) speaker_bytes: u32,
    pub(crate) text_bytes: u32,
    /// Telling terms, for the length in BM25.
    pub(crate) terms: u32,
    /// Where the different word pieces of the text stand, two bytes each.
    pub(crate) pieces_at: u64,
    pub(crate) pieces: u16,
    /// Hash of the speaker's name.
    pub(crate) speaker: u64,
    /// The language whose stems it is filed under too.
    pub(crate) language: Option<Language>,
    pub(crate) has_vector: bool,
    /// Hash of everything that was sent, by which sending it again is known.
    pub(crate) content: u64,
}

impl Row {
    pub(crate) fn encode(&self) -> [u8; ROW_BYTES] {
        let mut out = [0; ROW_BYTES];
        let place = self.place;
        out[..16].copy_from_slice(self.id.as_bytes());
        out[16..32].copy_from_slice(place.map_or([0; 16], |place| *place.conversation.as_bytes()).as_slice());
        out[32..48].copy_from_slice(place.map_or([0; 16], |place| *place.label.branch.as_bytes()).as_slice());
        out[48..56].copy_from_slice(&place.map_or(0, |place| place.label.depth).to_le_bytes());
        out[56..72].copy_from_slice(self.previous.map_or([0; 16], |id| *id.as_bytes()).as_slice());
        out[72..88].copy_from_slice(self.actor.map_or([0; 16], |actor| *actor.as_bytes()).as_slice());
        out[88..104].copy_from_slice(&self.kind);
        out[104..112].copy_from_slice(&self.valid_at.0.to_le_bytes());
        out[112..120].copy_from_slice(&self.created_at.0.to_le_bytes());
        out[120..128].copy_from_slice(&self.text_at.to_le_bytes());
        out[128..132].copy_from_slice(&self.speaker_bytes.to_le_bytes());
        out[132..136].copy_from_slice(&self.text_bytes.to_le_bytes());
        out[136..140].copy_from_slice(&self.terms.to_le_bytes());
        let flags = [place.is_some(), self.previous.is_some(), self.actor.is_some(), self.has_vector];
        flags.iter().enumerate().for_each(|(bit, flag)| out[140] |= u8::from(*flag) << bit);
        out[141] = Language::number(self.language);
        out[142..144].copy_from_slice(&self.pieces.to_le_bytes());
        out[144..152].copy_from_slice(&self.content.to_le_bytes());
        out[152..160].copy_from_slice(&self.pieces_at.to_le_bytes());
        out[160..168].copy_from_slice(&self.speaker.to_le_bytes());
        let check = xxh64(&out[..ROW_BYTES - 8], 0);
        out[ROW_BYTES - 8..].copy_from_slice(&check.to_le_bytes());
        out
    }

    /// `None` when the checksum does not fit.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        if bytes.len() != ROW_BYTES || xxh64(&bytes[..ROW_BYTES - 8], 0).to_le_bytes() != bytes[ROW_BYTES - 8..] {
            return None;
        }
        let id = |at: usize| -> [u8; 16] { bytes[at..at + 16].try_into().expect("a row is long enough") };
        let long = |at: usize| i64::from_le_bytes(bytes[at..at + 8].try_into().expect("a row is long enough"));
        let short = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("a row is long enough"));
        let flag = |bit: u8| bytes[140] & (1 << bit) != 0;
        let label = NodeLabel { branch: NodeId::from_bytes(id(32)), depth: long(48) };
        Some(Self {
            id: EpisodeId::from_bytes(id(0)),
            place: flag(0).then(|| EpisodePlace { conversation: ConversationId::from_bytes(id(16)), label }),
            previous: flag(1).then(|| EpisodeId::from_bytes(id(56))),
            actor: flag(2).then(|| ActorId::from_bytes(id(72))),
            kind: id(88),
            valid_at: Millis(long(104)),
            created_at: Millis(long(112)),
            text_at: long(120).cast_unsigned(),
            speaker_bytes: short(128),
            text_bytes: short(132),
            terms: short(136),
            pieces_at: long(152).cast_unsigned(),
            pieces: u16::from_le_bytes([bytes[142], bytes[143]]),
            speaker: long(160).cast_unsigned(),
            language: Language::numbered(bytes[141]),
            has_vector: flag(3),
            content: long(144).cast_unsigned(),
        })
    }

    pub(crate) fn kind(&self) -> &str {
        let end = self.kind.iter().position(|byte| *byte == 0).unwrap_or(KIND_BYTES_MAX);
        std::str::from_utf8(&self.kind[..end]).unwrap_or_default()
    }
}

/// The kind as a row keeps it, padded with zeros.
pub(crate) fn kind_bytes(kind: &str) -> [u8; KIND_BYTES_MAX] {
    let mut bytes = [0; KIND_BYTES_MAX];
    let end = kind.len().min(KIND_BYTES_MAX);
    bytes[..end].copy_from_slice(&kind.as_bytes()[..end]);
    bytes
}

/// Hash of all that was sent of an episode, vector included.
pub(crate) fn content_of(episode: &Episode) -> u64 {
    let place = episode.place.map(|place| (place.conversation, place.label));
    let head = format!(
        "{:?}{:?}{:?}{:?}{:?}{:?}{}\0{}\0{}",
        place,
        episode.previous,
        episode.actor,
        episode.valid_at,
        episode.created_at,
        episode.kind.len(),
        episode.kind,
        episode.speaker.len(),
        episode.speaker
    );
    let text = xxh64(episode.text.as_bytes(), xxh64(head.as_bytes(), 0));
    let Some(vector) = &episode.vector else { return text };
    vector.iter().fold(text, |hash, number| xxh64(&number.to_le_bytes(), hash))
}

/// Whether a text should have a vector and has none.
pub(crate) fn is_lacking<'a>(has_vector: bool, text: impl FnOnce() -> &'a str) -> bool {
    !has_vector && !text().trim().is_empty()
}

/// Gives every different value a small number, in order of appearance.
#[derive(Debug)]
pub(crate) struct Interned<T> {
    numbers: HashMap<T, u32>,
    values: Vec<T>,
}

impl<T> Default for Interned<T> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), values: Vec::new() }
    }
}

impl<T: Copy + Eq + Hash> Interned<T> {
    fn intern(&mut self, value: T) -> u32 {
        let next = u32::try_from(self.values.len()).expect("there are fewer values than rows");
        *self.numbers.entry(value).or_insert_with(|| {
            self.values.push(value);
            next
        })
    }

    pub(crate) fn number(&self, value: &T) -> Option<u32> {
        self.numbers.get(value).copied()
    }

    pub(crate) fn values(&self) -> &[T] {
        &self.values
    }
}

/// How many rows live, and what they have. Kept while rows come and go, so that nobody counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    pub(crate) living: u32,
    pub(crate) vectors: u32,
    /// Those that say something and have no vector.
    pub(crate) lacking: u32,
}

impl Counts {
    pub(crate) fn add(&mut self, has_vector: bool, is_lacking: bool) {
        self.living += 1;
        self.vectors += u32::from(has_vector);
        self.lacking += u32::from(is_lacking);
    }

    fn take(&mut self, has_vector: bool, is_lacking: bool) {
        self.living -= 1;
        self.vectors -= u32::from(has_vector);
        self.lacking -= u32::from(is_lacking);
    }
}

/// The columns of all rows, and who stands beside whom.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    pub(crate) lanes: Interned<(ConversationId, NodeId)>,
    pub(crate) actors: Interned<ActorId>,
    pub(crate) kinds: Interned<[u8; KIND_BYTES_MAX]>,
    pub(crate) lane: Vec<u32>,
    pub(crate) depth: Vec<i64>,
    pub(crate) actor: Vec<u32>,
    pub(crate) kind: Vec<u32>,
    pub(crate) valid_at: Vec<i64>,
    pub(crate) created_at: Vec<i64>,
    pub(crate) terms: BlockSums,
    pub(crate) content: Vec<u64>,
    pub(crate) pieces_at: Vec<u64>,
    pub(crate) pieces: Vec<u16>,
    pub(crate) speaker: Vec<u32>,
    /// The terms of each different speaker's name.
    pub(crate) speaker_terms: Vec<Vec<String>>,
    /// The languages of all rows, as far as they are known and not English.
    pub(crate) languages: BTreeSet<Language>,
    speakers: Interned<u64>,
    pub(crate) with_vector: RowSet,
    pub(crate) alive: RowSet,
    pub(crate) counts: Counts,
    /// Living rows that say something and have no vector.
    pub(crate) lacking: BTreeSet<u32>,
    /// How many living rows of each actor are filed under each speaker's name.
    named: HashMap<(u32, u32), u32>,
    slots: Interned<EpisodeId>,
    /// The slot of the episode each row is of.
    slot: Vec<u32>,
    /// The slot of the episode it follows.
    previous: Vec<u32>,
    /// The living row of each slot.
    living: Vec<u32>,
    first_follower: Vec<u32>,
    next_follower: Vec<u32>,
    conversations: Interned<ConversationId>,
    /// The last row of each conversation, and for every row the one before it in its own.
    last_of: Vec<u32>,
    before_in: Vec<u32>,
    pub(crate) shown: Mutex<VisibleRows>,
    pub(crate) sheets: ScoreSheets,
}

impl Columns {
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.lane.len()).expect("rows are counted in 32 bits")
    }

    /// Adds the next row; the row its episode had before dies. The speaker's name is asked for when it is new, and whether the
    /// text says anything when it has no vector.
    pub(crate) fn push<'a>(&mut self, row: &Row, speaker: impl FnOnce() -> &'a str, text: impl FnOnce() -> &'a str) {
        let number = self.count();
        let speaker_number = self.speakers.intern(row.speaker);
        if speaker_number as usize == self.speaker_terms.len() {
            self.speaker_terms.push(terms(speaker()).into_iter().map(|term| term.text).collect());
        }
        self.speaker.push(speaker_number);
        self.languages.extend(row.language);
        self.pieces_at.push(row.pieces_at);
        self.pieces.push(row.pieces);
        let lane = row.place.map_or(NONE, |place| self.lanes.intern((place.conversation, place.label.branch)));
        self.lane.push(lane);
        self.depth.push(row.place.map_or(0, |place| place.label.depth));
        let before_in = row.place.map_or(NONE, |place| self.chain(place.conversation, number));
        self.before_in.push(before_in);
        self.actor.push(row.actor.map_or(NONE, |actor| self.actors.intern(actor)));
        self.kind.push(self.kinds.intern(row.kind));
        self.valid_at.push(row.valid_at.0);
        self.created_at.push(row.created_at.0);
        self.terms.push(row.terms);
        self.content.push(row.content);
        self.with_vector.push(row.has_vector);
        self.alive.push(true);
        let is_lacking = is_lacking(row.has_vector, text);
        self.counts.add(row.has_vector, is_lacking);
        if is_lacking {
            self.lacking.insert(number);
        }
        let naming = self.naming(number);
        *self.named.entry(naming).or_default() += 1;
        let slot = self.slot_of(row.id);
        self.slot.push(slot);
        let previous = row.previous.map_or(NONE, |previous| self.slot_of(previous));
        self.previous.push(previous);
        let follower = match previous {
            NONE => NONE,
            slot => std::mem::replace(&mut self.first_follower[slot as usize], number),
        };
        self.next_follower.push(follower);
        let before = std::mem::replace(&mut self.living[slot as usize], number);
        if before != NONE {
            self.die(before);
        }
    }

    fn die(&mut self, row: u32) {
        if !self.alive.has(row) {
            return;
        }
        self.alive.clear(row);
        let is_lacking = self.lacking.remove(&row);
        self.counts.take(self.with_vector.has(row), is_lacking);
        let naming = self.naming(row);
        if let Some(rows) = self.named.get_mut(&naming) {
            *rows -= 1;
            if *rows == 0 {
                self.named.remove(&naming);
            }
        }
    }

    fn naming(&self, row: u32) -> (u32, u32) {
        (self.actor[row as usize], self.speaker[row as usize])
    }

    /// What would be counted without these rows.
    pub(crate) fn counts_without(&self, rows: impl Iterator<Item = u32>) -> Counts {
        let mut counts = self.counts;
        rows.for_each(|row| counts.take(self.with_vector.has(row), self.lacking.contains(&row)));
        counts
    }

    /// Makes a row the last of its conversation; the one that was.
    fn chain(&mut self, conversation: ConversationId, row: u32) -> u32 {
        let conversation = self.conversations.intern(conversation) as usize;
        if conversation == self.last_of.len() {
            self.last_of.push(NONE);
        }
        std::mem::replace(&mut self.last_of[conversation], row)
    }

    /// The rows of a conversation, dead ones too.
    pub(crate) fn rows_of(&self, conversation: ConversationId) -> impl Iterator<Item = u32> {
        let last = self.conversations.number(&conversation).map(|number| self.last_of[number as usize]);
        std::iter::successors(last, |row| Some(self.before_in[*row as usize]).filter(|row| *row != NONE))
    }

    fn slot_of(&mut self, id: EpisodeId) -> u32 {
        let slot = self.slots.intern(id);
        if slot as usize == self.living.len() {
            self.living.push(NONE);
            self.first_follower.push(NONE);
        }
        slot
    }

    /// The row dies.
    pub(crate) fn purge(&mut self, row: u32) {
        self.die(row);
        let slot = self.slot[row as usize] as usize;
        if self.living[slot] == row {
            self.living[slot] = NONE;
        }
    }

    /// The living row of an episode.
    pub(crate) fn row_of(&self, id: EpisodeId) -> Option<u32> {
        let row = self.living[self.slots.number(&id)? as usize];
        (row != NONE).then_some(row)
    }

    /// Whether all that lives of an actor's is filed under the name of this hash.
    pub(crate) fn is_named(&self, actor: ActorId, name: u64) -> bool {
        let Some(actor) = self.actors.number(&actor) else { return true };
        let name = self.speakers.number(&name);
        !self.named.keys().any(|(of, speaker)| *of == actor && Some(*speaker) != name)
    }

    pub(crate) fn id_of(&self, row: u32) -> EpisodeId {
        self.slots.values()[self.slot[row as usize] as usize]
    }

    /// The living row this one follows.
    pub(crate) fn before(&self, row: u32) -> Option<u32> {
        match self.previous[row as usize] {
            NONE => None,
            slot => Some(self.living[slot as usize]).filter(|row| *row != NONE),
        }
    }

    /// The living rows that follow this one, newest first.
    pub(crate) fn after(&self, row: u32) -> impl Iterator<Item = u32> {
        let first = self.first_follower[self.slot[row as usize] as usize];
        let followers = std::iter::successors((first != NONE).then_some(first), |row| {
            Some(self.next_follower[*row as usize]).filter(|next| *next != NONE)
        });
        followers.filter(|row| self.alive.has(*row))
    }
}
