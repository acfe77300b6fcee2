//! Two nodes compared word by word, or two paths by where they part.

use skein_core::tree::compare::{Precision, RunKind, compare_paths, compare_texts};
use skein_core::{NodeId, PathId, ReferenceField, Viewer};
use skein_store::tree::read::SeenNode;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::tree::text_of;

/// Most nodes of a path that are compared, counted from its end.
const COMPARED_PATH_NODES_MAX: usize = 100_000;
/// Most nodes told of what each path has for itself.
const TOLD_NODES_MAX: usize = 1_000;

const LEFT: ReferenceField = ReferenceField::new("Z34", "left", "node");
const RIGHT: ReferenceField = ReferenceField::new("Z34", "right", "node");

/// How the words of two nodes differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedNodes {
    /// What both have, or one of them, in order.
    pub runs: Vec<(RunKind, String)>,
    /// The smallest pieces that were compared everywhere.
    pub precision: Precision,
}

/// Where two paths part.
#[derive(Debug, Clone, PartialEq)]
pub struct ComparedPaths {
    /// How many nodes both have, from the root on.
    pub common: usize,
    /// The last of these.
    pub last_common: Option<NodeId>,
    /// What only the first has.
    pub left: PathDifference,
    /// What only the second has.
    pub right: PathDifference,
}

/// What one path has for itself.
#[derive(Debug, Clone, PartialEq)]
pub struct PathDifference {
    /// How many nodes.
    pub count: usize,
    /// The first of them, at most 1,000.
    pub nodes: Vec<SeenNode>,
}

impl Engine {
    /// Compares what two nodes say.
    pub async fn compare_nodes(
        &self,
        caller: &Caller,
        left: NodeId,
        right: NodeId,
    ) -> Result<ComparedNodes, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            let said =
                |tx: &mut Tx<'_>, field, node| said(tx, &viewer, node).map_err(|error| error.of_reference(field, node));
            Ok((said(tx, LEFT, left)?, said(tx, RIGHT, right)?))
        };
        let (old, new) = self.parts().store.read(look).await?;
        let compare = move || {
            let compared = compare_texts(&old, &new);
            let runs = compared.runs.iter().map(|run| (run.kind, run.text.to_owned())).collect();
            ComparedNodes { runs, precision: compared.precision }
        };
        Ok(self.compute().run(caller.user, compare).await?)
    }

    /// Compares the paths that lead to two nodes.
    pub async fn compare_paths(
        &self,
        caller: &Caller,
        left: NodeId,
        right: NodeId,
    ) -> Result<ComparedPaths, EngineError> {
        let viewer = caller.viewer();
        let look = move |tx: &mut Tx<'_>| {
            let mut path = |field, end: NodeId| {
                let ids = tx.path_ids(&viewer, end, COMPARED_PATH_NODES_MAX);
                ids.map_err(|error| error.of_reference(field, end))
            };
            let (left, right) = (path(LEFT, left)?, path(RIGHT, right)?);
            let compared = compare_paths(&left, &right, |id| *id);
            Ok(ComparedPaths {
                common: compared.common.len(),
                last_common: compared.common.last().copied(),
                left: apart(tx, &viewer, compared.left)?,
                right: apart(tx, &viewer, compared.right)?,
            })
        };
        Ok(self.parts().store.read(look).await?)
    }
}

/// What a node says; nothing once it was destroyed.
fn said(tx: &mut Tx<'_>, viewer: &Viewer, node: NodeId) -> Result<String, StoreError> {
    let main = PathId::main_of(tx.node(viewer, node)?.conversation);
    Ok(text_of(&tx.seen_node(viewer, main, node)?).unwrap_or_default())
}

fn apart(tx: &mut Tx<'_>, viewer: &Viewer, ids: &[NodeId]) -> Result<PathDifference, StoreError> {
    let told = ids.iter().take(TOLD_NODES_MAX);
    let nodes = told.map(|id| {
        let main = PathId::main_of(tx.node(viewer, *id)?.conversation);
        tx.seen_node(viewer, main, *id)
    });
    Ok(PathDifference { nodes: nodes.collect::<Result<_, _>>()?, count: ids.len() })
}
