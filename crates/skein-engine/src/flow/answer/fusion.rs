//! One answer made of several: a process is asked for it after what they answer, and what it says stands beside them.
//!
//! What it is asked is said in a conversation of its own, as what tools do is, so that no thread shows it. That is what causes
//! the run, and is `derived_from` the answers; once the run has ended well, what it said is, too.

use serde_json::{Map, Value, json};
use skein_core::flow::execution::item_payload::OutputTarget;
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::content::Content;
use skein_core::tree::conversation::FoldSummary;
use skein_core::tree::fusion;
use skein_core::tree::turn::{Speaker, TurnType};
use skein_core::{ExecutionId, ItemId, NodeId, PathId, ReferenceField, Viewer};
use skein_store::StoreError;
use skein_store::timeline::relations::RelationSide;
use skein_store::tree::append::{NodeBody, NodePlacement, NodePosition};

use crate::flow::execution::transaction::ExecutionTransaction;
use crate::tool_call::record::breach;
use crate::tree::text_at;

/// What one answer may be made of.
const FUSED: ReferenceField = ReferenceField::new("BR-TURN-013", "fuses", "answer");

impl ExecutionTransaction<'_, '_> {
    /// Says what is wanted of these answers: where, and what the process is given in place of what they answer.
    pub(crate) fn ask_to_fuse(
        &mut self,
        viewer: &Viewer,
        answered: Option<NodeId>,
        of: &[NodeId],
    ) -> Result<(NodeId, Map<String, Value>), StoreError> {
        let text = |node: &NodeId| {
            text_at(self.tx, viewer, *node).map_err(|error: StoreError| error.of_reference(FUSED, *node))
        };
        let answers = of.iter().map(text).collect::<Result<Vec<_>, _>>()?;
        let question = fusion::question(&answers)?;
        let nothing = || breach("BR-TURN-003", "there is nothing that these answer", "merge them by hand");
        let answered = answered.ok_or_else(nothing)?;
        let fork = self.hidden_fork(viewer, answered)?.ok_or_else(nothing)?;
        let path = PathId::main_of(fork);
        let placing = NodePlacement {
            conversation: fork,
            position: NodePosition::After { parent: None, speaker: Speaker::User, turn_type: TurnType::Message },
            author: ActorId::from(viewer.owner()),
            author_type: AuthorType::Human,
            sources: Vec::new(),
            executed_by: None,
            leads: Some(path),
        };
        let content = Content::parse(&json!({ "type": "text", "text": question }))?.to_document();
        let (node, _) = self.tx.append_node(viewer, &placing, &NodeBody { content, created_at: None, raw: None })?;
        let text = format!("One answer is made of {}.", of.len());
        let (author_id, author_type) = (ActorId::SYSTEM, AuthorType::System);
        let (at, cites) = (self.tx.now(), Vec::new());
        let summary = FoldSummary { at, author_id, author_type, text, text_item: None, cites, end: None };
        self.fold_hidden(viewer, fork, summary)?;
        for answer in of {
            let ends = [node.id, *answer].map(|node| Endpoint::Item(node.into()));
            let derivation =
                RelationDraft::new(RelationKind::DerivedFrom, ends[0], ends[1], RelationAttributes::default())?;
            self.tx.relate(viewer, &derivation)?;
        }
        let given = Map::from_iter([("nodeId".to_owned(), json!(node.id)), ("message".to_owned(), json!(question))]);
        Ok((node.id, given))
    }

    /// What an answer is made from, where several are made into it: whatever led to the run names them.
    pub(crate) fn fused_from(&mut self, run: ExecutionId, target: OutputTarget) -> Result<Vec<ItemId>, StoreError> {
        let row = &self.load(run)?.row;
        let (owner, cause) = (row.owner, row.cause);
        if target.parent_id.map(ItemId::from) == Some(cause) {
            return Ok(Vec::new());
        }
        let of = Endpoint::Item(cause);
        let kind = Some(RelationKind::DerivedFrom);
        let cited =
            self.tx.relations(&Viewer::User(owner), of, RelationSide::Outgoing, kind, None, fusion::FUSED_MAX)?;
        let item = |end| if let Endpoint::Item(item) = end { Some(item) } else { None };
        Ok(cited.rows.into_iter().filter_map(|relation| item(relation.target)).collect())
    }
}
