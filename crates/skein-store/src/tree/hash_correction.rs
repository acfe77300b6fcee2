//! Corrects the account of node hashes that were computed with a raw response although the author is no model.
//!
//! Skein hashed answers of output templates so before decision Z30, and verification called them invalid. Nothing is
//! rewritten: a [`NodeCorrected`] item states what the hash covers, and only where the hash proves it.

use skein_core::NodeId;
use skein_core::tree::actor::AuthorType;
use skein_core::tree::node::{NodeCorrected, TreePayload};
use skein_core::tree::node_status::GenerationStatus;
use skein_core::tree::verify::Verdict;

use crate::db::sql::params;
use crate::error::StoreError;
use crate::tree::rows::NodeRow;
use crate::tx::Tx;

/// Most nodes that are looked at in one transaction.
pub const CORRECTIONS_PER_PIECE: usize = 2_000;
/// The mark in `meta` of a store all of whose nodes were looked at.
const DONE: &str = "node_hashes_corrected";

impl Tx<'_> {
    /// Whether every node of this store was looked at once.
    pub fn are_nodes_corrected(&mut self) -> Result<bool, StoreError> {
        Ok(self.first("SELECT name FROM meta WHERE name = ?1", params![DONE], |row| row.text(0).map(drop))?.is_some())
    }

    /// Notes that every node of this store was looked at. Nodes made since are hashed as they are verified.
    pub fn note_nodes_corrected(&mut self) -> Result<(), StoreError> {
        let sql = "INSERT INTO meta (name, value) VALUES (?1, '1') ON CONFLICT (name) DO NOTHING";
        self.execute(sql, params![DONE])?;
        Ok(())
    }

    /// Corrects the next nodes after one of them; gives the last it looked at, if there may be more.
    pub fn correct_nodes(&mut self, after: Option<NodeId>) -> Result<Option<NodeId>, StoreError> {
        let after = after.unwrap_or(NodeId::from_bytes([0; 16]));
        let limit = i64::try_from(CORRECTIONS_PER_PIECE).expect("pieces are small");
        let sql =
            "SELECT p.id, CASE WHEN p.raw_response IS NOT NULL AND p.author_type <> 'model' THEN CAST(1 AS BIGINT)
                 ELSE CAST(0 AS BIGINT) END FROM
             (SELECT n.id, n.raw_response, n.author_type FROM nodes n WHERE n.id > ?1 ORDER BY n.id LIMIT ?2) p
             ORDER BY p.id";
        let seen =
            self.all(sql, params![&after, limit], |row| Ok((NodeId::from_bytes(row.array(0)?), row.int(1)? != 0)))?;
        for (node, _) in seen.iter().filter(|(_, is_suspect)| *is_suspect) {
            self.correct_node(*node)?;
        }
        Ok(seen.last().filter(|_| seen.len() == CORRECTIONS_PER_PIECE).map(|(node, _)| *node))
    }

    /// Records the correction of a node whose hash proves to cover its raw response. Whatever else is wrong with it stays wrong.
    pub fn correct_node(&mut self, id: NodeId) -> Result<bool, StoreError> {
        let Some(node) = self.find_node(id)? else { return Ok(false) };
        let Some(raw_response) = node.raw_response.filter(|_| is_suspect(&node)) else { return Ok(false) };
        if self.is_corrected(id)? || !self.is_proven(&node)? {
            return Ok(false);
        }
        let corrected = NodeCorrected { node_id: id, raw_response };
        let item = corrected.to_draft().realize(NodeCorrected::id_of(id), node.owner, self.now());
        self.append_realized(vec![item])?;
        Ok(true)
    }

    /// Whether a correction of the node is on record.
    pub(crate) fn is_corrected(&mut self, id: NodeId) -> Result<bool, StoreError> {
        let Some(stored) = self.find_item(NodeCorrected::id_of(id))? else { return Ok(false) };
        let corrected = stored.item.document().as_ref().and_then(NodeCorrected::from_document);
        Ok(corrected.is_some_and(|corrected| corrected.node_id == id))
    }

    /// Whether the hash was computed again with the response and is the same. Without its text a node is redacted, and no hash
    /// was computed; without its response the hash of that is on record.
    fn is_proven(&mut self, node: &NodeRow) -> Result<bool, StoreError> {
        Ok(match self.verify_with_response(node.id)? {
            Some(Verdict::Valid) => true,
            Some(Verdict::Redacted) => self.has_text(node)?,
            _ => false,
        })
    }

    fn has_text(&mut self, node: &NodeRow) -> Result<bool, StoreError> {
        let Some(content) = node.content else { return Ok(false) };
        Ok(self.find_item(content)?.is_some_and(|stored| stored.item.document().is_some()))
    }
}

fn is_suspect(node: &NodeRow) -> bool {
    node.status == GenerationStatus::Complete && node.author_type != AuthorType::Model
}
