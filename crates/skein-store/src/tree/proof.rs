//! Verifies nodes against their hashes, piece by piece.
//!
//! What a hash covers is taken from where it is kept now, unchecked: that something there was altered is what is asked.
//! A piece costs three statements however many nodes it has; only raw responses, which can be large, are read one by one.

use std::collections::HashMap;

use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::verify::{NodeFacts, RawResponseState, Verdict};
use skein_core::{ConversationId, Digest, ItemId, Millis, NodeId, Viewer};

use crate::db::sql::{Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::tree::rows::spelled;
use crate::tx::Tx;

/// Most nodes judged in one go.
pub const PROOFS_PER_PIECE_MAX: usize = 2_000;

/// What the hash of the node ?1 rests on: what it answers, at most ?2 of it, and on through what it was forked from. Not
/// what is shown there now: another version of an answered node is none of its parents.
const DESCENT: &str = "WITH RECURSIVE walk(id, hop) AS (
    SELECT n.id, CAST(1 AS BIGINT) FROM nodes n WHERE n.id = ?1
    UNION ALL
    SELECT CASE WHEN b.parent IS NULL THEN c.origin ELSE b.parent END, w.hop + 1 FROM walk w
    JOIN nodes b ON b.id = w.id
    JOIN conversations c ON c.id = b.conversation
    WHERE w.hop < ?2 AND b.turn IS NOT NULL AND (b.parent IS NOT NULL OR c.origin IS NOT NULL))";

/// What stands around the content of a node in its item: `{"content":…,"nodeId":"item_…"}`.
const BEFORE_CONTENT: &[u8] = br#"{"content":"#;
const AFTER_CONTENT: &[u8] = br#","nodeId":""#;

/// A node and what was found of it; nothing for one that is not complete.
pub type NodeVerdict = (NodeId, Option<Verdict>);

/// Which nodes a piece is of.
struct Piece<'a> {
    with: &'static str,
    which: &'static str,
    bound: &'a [Value<'a>],
}

type Parents = HashMap<NodeId, Vec<Option<Digest>>>;
/// The raw response of each node that has one, and whether a correction says that the node's hash covers it.
type Raws = HashMap<NodeId, (RawResponseState, bool)>;

impl Tx<'_> {
    /// The nodes of a tree after one of them, oldest first: at most `limit`, and each once.
    pub fn verify_tree(
        &mut self,
        viewer: &Viewer,
        conversation: ConversationId,
        after: Option<NodeId>,
        limit: usize,
    ) -> Result<Vec<NodeVerdict>, StoreError> {
        self.conversation(viewer, conversation)?;
        let after = after.unwrap_or(NodeId::from_bytes([0; 16]));
        let limit = i64::try_from(limit.clamp(1, PROOFS_PER_PIECE_MAX)).expect("pieces are small");
        let sql = "SELECT n.id FROM nodes n WHERE n.conversation = ?1 AND n.id > ?2 ORDER BY n.id LIMIT ?3";
        let ids = self.all(sql, params![&conversation, &after, limit], |row| row.array(0).map(NodeId::from_bytes))?;
        let Some(last) = ids.last().copied() else { return Ok(Vec::new()) };
        let which = "n.conversation = ?1 AND n.id > ?2 AND n.id <= ?3";
        let found = self.judge(&Piece { with: "", which, bound: params![&conversation, &after, &last] })?;
        Ok(ids.into_iter().map(|id| (id, found.get(&id).copied())).collect())
    }

    /// The last `limit` nodes of the path to a node, through forks, from the root's side on.
    pub fn verify_path(&mut self, viewer: &Viewer, node: NodeId, limit: usize) -> Result<Vec<NodeVerdict>, StoreError> {
        self.node(viewer, node)?;
        let limit = i64::try_from(limit.clamp(1, PROOFS_PER_PIECE_MAX)).expect("pieces are small");
        let sql = format!("{DESCENT} SELECT w.id FROM walk w ORDER BY w.hop DESC");
        let ids = self.all(&sql, params![&node, limit], |row| row.array(0).map(NodeId::from_bytes))?;
        let which = "n.id IN (SELECT w.id FROM walk w)";
        let found = self.judge(&Piece { with: DESCENT, which, bound: params![&node, limit] })?;
        Ok(ids.into_iter().map(|id| (id, found.get(&id).copied())).collect())
    }

    /// What comes before a node on its path: its parent, else where its conversation was forked.
    pub fn node_before(&mut self, viewer: &Viewer, node: NodeId) -> Result<Option<NodeId>, StoreError> {
        self.node(viewer, node)?;
        let sql = format!("{DESCENT} SELECT w.id FROM walk w WHERE w.hop = 2");
        Ok(self.first(&sql, params![&node, 2], |row| row.array(0))?.map(NodeId::from_bytes))
    }

    /// One node, judged as if a correction said that its hash covers its raw response.
    pub(crate) fn verify_with_response(&mut self, node: NodeId) -> Result<Option<Verdict>, StoreError> {
        let piece = Piece { with: "", which: "n.id = ?1", bound: params![&node] };
        let raws = self.raw_responses(&piece)?.into_iter().map(|(id, (raw, _))| (id, (raw, true))).collect();
        Ok(self.judge_by(&piece, &raws)?.get(&node).copied())
    }

    /// The next nodes of the whole store after one of them, by id.
    pub(crate) fn verify_all(&mut self, after: Option<NodeId>) -> Result<Vec<NodeVerdict>, StoreError> {
        let after = after.unwrap_or(NodeId::from_bytes([0; 16]));
        let limit = i64::try_from(PROOFS_PER_PIECE_MAX).expect("pieces are small");
        let sql = "SELECT n.id FROM nodes n WHERE n.id > ?1 ORDER BY n.id LIMIT ?2";
        let ids = self.all(sql, params![&after, limit], |row| row.array(0).map(NodeId::from_bytes))?;
        let Some(last) = ids.last().copied() else { return Ok(Vec::new()) };
        let which = "n.id > ?1 AND n.id <= ?2";
        let found = self.judge(&Piece { with: "", which, bound: params![&after, &last] })?;
        Ok(ids.into_iter().map(|id| (id, found.get(&id).copied())).collect())
    }

    fn judge(&mut self, piece: &Piece<'_>) -> Result<HashMap<NodeId, Verdict>, StoreError> {
        let raws = self.raw_responses(piece)?;
        self.judge_by(piece, &raws)
    }

    fn judge_by(&mut self, piece: &Piece<'_>, raws: &Raws) -> Result<HashMap<NodeId, Verdict>, StoreError> {
        let further = self.further_parents(piece)?;
        let Piece { with, which, bound } = piece;
        let sql = format!(
            "{with} SELECT n.id, n.parent, p.content_hash, n.content_hash, n.created_at, n.author, n.author_type, i.payload,
                 m.redaction
             FROM nodes n LEFT JOIN nodes p ON p.id = n.parent LEFT JOIN items i ON i.id = n.content
                 AND i.owner = n.owner
             LEFT JOIN item_marks m ON m.item = i.id WHERE {which} AND n.status = 'complete' ORDER BY n.id"
        );
        let found = self.all(&sql, bound, |row| read_verdict(row, &further, raws))?;
        Ok(found.into_iter().collect())
    }

    /// The hashes of what led to the nodes of a piece beside their parents.
    fn further_parents(&mut self, piece: &Piece<'_>) -> Result<Parents, StoreError> {
        let Piece { with, which, bound } = piece;
        let sql = format!(
            "{with} SELECT s.target, p.content_hash FROM nodes n JOIN node_sources s ON s.target = n.id
             LEFT JOIN nodes p ON p.id = s.source WHERE {which} AND s.kind = 'continuation'"
        );
        let found =
            self.all(&sql, bound, |row| Ok((NodeId::from_bytes(row.array(0)?), row.optional_array(1)?.map(Digest))))?;
        let mut parents = Parents::new();
        for (target, hash) in found {
            parents.entry(target).or_default().push(hash);
        }
        Ok(parents)
    }

    fn raw_responses(&mut self, piece: &Piece<'_>) -> Result<Raws, StoreError> {
        let Piece { with, which, bound } = piece;
        let sql = format!(
            "{with} SELECT n.id, i.id, n.raw_hash, n.author_type FROM nodes n
             LEFT JOIN items i ON i.id = n.raw_response AND i.owner = n.owner
             WHERE {which} AND (n.author_type = 'model' OR n.raw_response IS NOT NULL)"
        );
        let found = self.all(&sql, bound, |row| {
            let (item, hash) = (row.optional_array(1)?.map(ItemId::from_bytes), row.optional_array(2)?.map(Digest));
            Ok((NodeId::from_bytes(row.array(0)?), item.zip(hash), spelled::<AuthorType>(row, 3)?))
        })?;
        let judged = found.into_iter().map(|(node, raw, author_type)| {
            let is_corrected = author_type != AuthorType::Model && self.is_corrected(node)?;
            Ok((node, (self.raw_response(raw)?, is_corrected)))
        });
        judged.collect()
    }

    fn raw_response(&mut self, raw: Option<(ItemId, Digest)>) -> Result<RawResponseState, StoreError> {
        let Some((item, stated)) = raw else { return Ok(RawResponseState::Missing) };
        let sql = "SELECT i.encoding, i.payload, m.redaction FROM items i LEFT JOIN item_marks m ON m.item = i.id
             WHERE i.id = ?1";
        let found = self.first(sql, params![&item], |row| {
            let kept = row
                .optional_bytes(1)?
                .map(|bytes| crate::timeline::items::decode(row.int(0).unwrap_or(0), bytes).hash());
            Ok((kept, row.optional_array::<16>(2)?.is_some()))
        })?;
        Ok(match found {
            Some((Some(digest), _)) => RawResponseState::Kept(digest),
            Some((None, true)) => RawResponseState::Redacted(stated),
            Some((None, false)) | None => RawResponseState::Missing,
        })
    }
}

fn read_verdict(row: &dyn Row, further: &Parents, raws: &Raws) -> Result<(NodeId, Verdict), SqlError> {
    let id = NodeId::from_bytes(row.array(0)?);
    let mut parents: Vec<Option<Digest>> = further.get(&id).cloned().unwrap_or_default();
    if row.optional_array::<16>(1)?.is_some() {
        parents.push(row.optional_array(2)?.map(Digest));
    }
    let payload = row.optional_bytes(7)?;
    let is_redacted = row.optional_array::<16>(8)?.is_some();
    if payload.is_none() && !is_redacted {
        return Ok((id, Verdict::Incomplete));
    }
    // What is no longer a text of a node's form is not what was hashed.
    let content = payload.map(|payload| content_of(payload, id).unwrap_or_default());
    let (raw_response, covers_response) = raws.get(&id).copied().unwrap_or((RawResponseState::None, false));
    let facts = NodeFacts {
        content,
        stored_hash: row.optional_array(3)?.map_or(Digest([0; 32]), Digest),
        parents: &parents,
        created_at: Millis(row.int(4)?),
        author: ActorId::from_bytes(row.array(5)?),
        author_type: spelled(row, 6)?,
        raw_response,
        covers_response,
    };
    Ok((id, facts.verdict()))
}

/// The content inside a payload that is canonical JSON, without parsing it.
fn content_of(payload: &[u8], id: NodeId) -> Option<&str> {
    let id = id.to_string();
    let end = payload.strip_suffix(b"\"}")?.strip_suffix(id.as_bytes())?.strip_suffix(AFTER_CONTENT)?;
    std::str::from_utf8(end.strip_prefix(BEFORE_CONTENT)?).ok()
}
