//! Proof of who wrote what: nodes, paths and trees verified, and the chain that leads to a node.

use skein_core::tree::verify::{Verdict, Verification};
use skein_core::{ConversationId, Digest, ItemId, Millis, NodeId};
use skein_store::timeline::items::Page;
use skein_store::tree::NodeRow;
use skein_store::tree::proof::{NodeVerdict, PROOFS_PER_PIECE_MAX};
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;

/// Most nodes of a lineage that are named beside a chain.
const LINEAGE_NODES_MAX: usize = 1_000;

/// What is verified at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VerificationScope {
    /// One node by itself, with the stored hashes of its parents.
    Node(NodeId),
    /// A node and everything it descends from, through forks.
    Path(ConversationId, NodeId),
    /// Every node of a conversation.
    Tree(ConversationId),
}

/// One link of the chain that leads to a node.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenanceLink {
    /// The node, without what it says.
    pub row: NodeRow,
    /// What was found of it; nothing for one that is not complete.
    pub verdict: Option<Verdict>,
    /// The hash of the item that tells its place.
    pub item_hash: Digest,
    /// When the store recorded it.
    pub realized_at: Millis,
}

/// A piece of the chain, from a node towards the root.
#[derive(Debug, Clone, PartialEq)]
pub struct ProvenanceChain {
    /// The links, and the node the next piece begins with.
    pub links: Page<ProvenanceLink, NodeId>,
    /// The nodes made by editing the one asked for, or that it was made from by editing, oldest first; the first of them
    /// if there are very many.
    pub lineage: Vec<NodeId>,
}

impl Engine {
    /// Verifies a node, a path or a tree, reading a piece at a time.
    pub async fn verify_tree(&self, caller: &Caller, scope: VerificationScope) -> Result<Verification, EngineError> {
        match scope {
            VerificationScope::Node(node) => Ok(sum(self.judged_path(caller, node, 1).await?)),
            VerificationScope::Path(conversation, node) => {
                self.refuse_stranger(caller, conversation, node).await?;
                self.verify_path(caller, node).await
            }
            VerificationScope::Tree(conversation) => self.verify_whole(caller, conversation).await,
        }
    }

    async fn verify_path(&self, caller: &Caller, node: NodeId) -> Result<Verification, EngineError> {
        let mut pieces: Vec<Vec<NodeVerdict>> = Vec::new();
        let mut end = Some(node);
        while let Some(node) = end {
            let piece = self.judged_path(caller, node, PROOFS_PER_PIECE_MAX).await?;
            let first = piece.first().map(|(first, _)| *first).filter(|_| piece.len() == PROOFS_PER_PIECE_MAX);
            end = match first {
                Some(first) => self.before(caller, first).await?,
                None => None,
            };
            pieces.push(piece);
        }
        Ok(sum(pieces.into_iter().rev().flatten()))
    }

    async fn verify_whole(&self, caller: &Caller, conversation: ConversationId) -> Result<Verification, EngineError> {
        let (mut found, mut after) = (Verification::default(), None);
        loop {
            let viewer = caller.viewer();
            let judge = move |tx: &mut Tx<'_>| tx.verify_tree(&viewer, conversation, after, PROOFS_PER_PIECE_MAX);
            let piece = self.parts().store.read(judge).await?;
            for judged in &piece {
                add(&mut found, *judged);
            }
            after = piece.last().map(|(last, _)| *last);
            if piece.len() < PROOFS_PER_PIECE_MAX {
                return Ok(found);
            }
        }
    }

    /// The chain that leads to a node, towards the root: at most `limit` links, from `from` on.
    pub async fn provenance(
        &self,
        caller: &Caller,
        node: NodeId,
        from: Option<NodeId>,
        limit: usize,
    ) -> Result<ProvenanceChain, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            tx.node(&viewer, node)?;
            let mut judged = tx.verify_path(&viewer, from.unwrap_or(node), limit)?;
            judged.reverse();
            let next = match judged.last().filter(|_| judged.len() >= limit) {
                Some((last, _)) => tx.node_before(&viewer, *last)?,
                None => None,
            };
            let rows =
                judged.into_iter().map(|(id, verdict)| link(tx, &viewer, id, verdict)).collect::<Result<_, _>>()?;
            let lineage = tx.edits(&viewer, node, None, LINEAGE_NODES_MAX)?.rows;
            Ok(ProvenanceChain { links: Page { rows, next }, lineage })
        };
        Ok(self.parts().store.read(look).await?)
    }

    async fn judged_path(&self, caller: &Caller, node: NodeId, limit: usize) -> Result<Vec<NodeVerdict>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.verify_path(&viewer, node, limit)).await?)
    }

    async fn before(&self, caller: &Caller, node: NodeId) -> Result<Option<NodeId>, EngineError> {
        let viewer = caller.viewer();
        Ok(self.parts().store.read(move |tx| tx.node_before(&viewer, node)).await?)
    }

    /// A node of another conversation is none of this one.
    async fn refuse_stranger(
        &self,
        caller: &Caller,
        conversation: ConversationId,
        node: NodeId,
    ) -> Result<(), EngineError> {
        let viewer = caller.viewer();
        let check = move |tx: &mut Tx<'_>| {
            let is_of_it = tx.node(&viewer, node)?.conversation == conversation;
            if is_of_it { Ok(()) } else { Err(StoreError::NotFound(node.to_string())) }
        };
        Ok(self.parts().store.read(check).await?)
    }
}

fn link(
    tx: &mut Tx<'_>,
    viewer: &skein_core::Viewer,
    id: NodeId,
    verdict: Option<Verdict>,
) -> Result<ProvenanceLink, StoreError> {
    let row = tx.node(viewer, id)?;
    // A place that is only kept is told by the item that keeps it.
    let told_by = if row.content.is_some() { ItemId::from(id) } else { row.reserved_by.unwrap_or(ItemId::from(id)) };
    let item = tx.item(viewer, told_by)?.item;
    Ok(ProvenanceLink { row, verdict, item_hash: item.hash, realized_at: item.header.realized_at })
}

fn sum(judged: impl IntoIterator<Item = NodeVerdict>) -> Verification {
    let mut found = Verification::default();
    for judged in judged {
        add(&mut found, judged);
    }
    found
}

fn add(found: &mut Verification, (node, verdict): NodeVerdict) {
    if let Some(verdict) = verdict {
        found.add(node.into(), verdict);
    }
}
