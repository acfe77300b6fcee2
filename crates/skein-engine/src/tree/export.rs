//! A conversation as something to read: Markdown or HTML of a path or of the whole tree, written piece by piece.
//!
//! Of a tree only its shape is kept in memory while it is written; what is said is read as it is needed.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use skein_core::catalog::entry::Entry as _;
use skein_core::tree::actor::{Actor, ActorId, AuthorType};
use skein_core::tree::content::first_words;
use skein_core::tree::node_status::{CacheStatus, GenerationStatus};
use skein_core::tree::render::{Format, NodeView, TreeView};
use skein_core::{ConversationId, ItemId, Millis, NodeId, PathId, RecordId, TurnId, Viewer};
use skein_store::tree::skeleton::SkeletonNode;
use skein_store::{StoreError, Tx};

use crate::account::Caller;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::tree::{ShownNode, show_conversation, show_node, text_of};

/// Nodes that are read and written at once.
const NODES_PER_PIECE: usize = 200;
/// Most nodes of a path that are written, counted from its end.
const PATH_NODES_MAX: usize = 1_000_000;
/// Longest name of a file, in characters.
const FILE_NAME_CHARS_MAX: usize = 80;
const SYSTEM: Viewer = Viewer::System("export");

/// A document on its way out.
pub struct Export {
    engine: Engine,
    viewer: Viewer,
    path: PathId,
    format: Format,
    /// A name for the file, without its ending.
    pub name: String,
    /// What is still to be written.
    steps: VecDeque<Step>,
    /// How many alternatives a turn has, where there are several.
    alternatives: Arc<HashMap<TurnId, u32>>,
    names: HashMap<ActorId, String>,
}

/// The next thing to write.
enum Step {
    Text(String),
    Branch(Option<NodeId>),
    Node(NodeId),
}

impl Engine {
    /// Begins to write a whole tree, all its branches, or the path that leads to one of its nodes.
    pub async fn export_tree(
        &self,
        caller: &Caller,
        conversation: ConversationId,
        node: Option<NodeId>,
        format: Format,
    ) -> Result<Export, EngineError> {
        let viewer = caller.viewer();
        let plan = move |tx: &mut Tx<'_>| {
            let record = tx.record(&viewer, conversation.into())?;
            let title = show_conversation(tx, &viewer, record)?.title;
            let (steps, alternatives) = match node {
                Some(node) => (path_steps(tx, &viewer, conversation, node)?, HashMap::new()),
                None => tree_steps(tx, &viewer, conversation, format)?,
            };
            Ok((title, steps, alternatives))
        };
        let (title, between, alternatives) = self.parts().store.read(plan).await?;
        let mut steps = VecDeque::from([Step::Text(format.opening(&title))]);
        steps.extend(between);
        if node.is_some() {
            steps.push_back(Step::Text(format.branch_closing().to_owned()));
        }
        steps.push_back(Step::Text(format.closing().to_owned()));
        Ok(Export {
            engine: self.clone(),
            viewer: caller.viewer(),
            path: PathId::main_of(conversation),
            format,
            name: file_name(&title),
            steps,
            alternatives: Arc::new(alternatives),
            names: HashMap::new(),
        })
    }
}

impl Export {
    /// The next piece of text; nothing at the end.
    pub async fn next(&mut self) -> Result<Option<String>, EngineError> {
        if self.steps.is_empty() {
            return Ok(None);
        }
        let taken = self.steps.len().min(NODES_PER_PIECE);
        let steps: Vec<Step> = self.steps.drain(..taken).collect();
        let (viewer, path, format) = (self.viewer.clone(), self.path, self.format);
        let (alternatives, mut names) = (self.alternatives.clone(), std::mem::take(&mut self.names));
        let write = move |tx: &mut Tx<'_>| {
            let mut out = String::new();
            for step in &steps {
                match step {
                    Step::Text(text) => out.push_str(text),
                    Step::Branch(from) => {
                        let from = from.map(|from| tx.node(&viewer, from)).transpose()?;
                        out.push_str(&format.branch_opening(from.as_ref().map(|row| row.local_id.as_str())));
                    }
                    Step::Node(id) => {
                        let shown = show_node(tx, &viewer, path, *id)?;
                        let author = (shown.seen.row.author, shown.seen.row.author_type);
                        let name = author_name(tx, &viewer, &mut names, author);
                        out.push_str(&format.node(&view(&shown, &alternatives, name)));
                    }
                }
            }
            Ok((out, names))
        };
        let (out, names) = self.engine.parts().store.read(write).await?;
        self.names = names;
        Ok(Some(out))
    }
}

fn path_steps(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    node: NodeId,
) -> Result<Vec<Step>, StoreError> {
    if tx.node(viewer, node)?.conversation != conversation {
        return Err(StoreError::NotFound(node.to_string()));
    }
    let ids = tx.path_ids(viewer, node, PATH_NODES_MAX)?;
    Ok(std::iter::once(Step::Branch(None)).chain(ids.into_iter().map(Step::Node)).collect())
}

type Plan = (Vec<Step>, HashMap<TurnId, u32>);

fn tree_steps(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    conversation: ConversationId,
    format: Format,
) -> Result<Plan, StoreError> {
    let bones = tx.skeleton(viewer, PathId::main_of(conversation), conversation)?;
    let mut alternatives: HashMap<TurnId, u32> = HashMap::new();
    for turn in bones.iter().filter_map(|bone| bone.turn) {
        *alternatives.entry(turn).or_default() += 1;
    }
    alternatives.retain(|_, count| *count > 1);
    let mut nodes = Vec::with_capacity(bones.len());
    for bone in &bones {
        let about = if bone.turn.is_none() { tx.annotated(viewer, bone.id)? } else { bone.parent };
        nodes.push(outline(bone, about));
    }
    let tree = TreeView { title: String::new(), nodes };
    let node_id = |id: ItemId| NodeId::from_bytes(*id.as_bytes());
    let mut steps = Vec::new();
    for branch in tree.branches() {
        steps.push(Step::Branch(branch.from.map(|from| node_id(from.id))));
        steps.extend(branch.nodes.iter().map(|node| Step::Node(node_id(node.id))));
        steps.push(Step::Text(format.branch_closing().to_owned()));
    }
    Ok((steps, alternatives))
}

/// A node as far as its place in the tree goes.
fn outline(bone: &SkeletonNode, parent: Option<NodeId>) -> NodeView {
    NodeView {
        id: bone.id.into(),
        local_id: String::new(),
        parent: parent.map(ItemId::from),
        ordinal: 1,
        alternatives: 1,
        author_type: bone.author_type,
        author_name: String::new(),
        created_at: Millis(0),
        text: None,
        selected: bone.is_selected,
        generation: GenerationStatus::Complete,
        cache: CacheStatus::Valid,
        is_annotation: bone.turn.is_none(),
        pruned: false,
        excluded: false,
        bookmarked: false,
    }
}

fn view(shown: &ShownNode, alternatives: &HashMap<TurnId, u32>, author_name: String) -> NodeView {
    let (seen, row) = (&shown.seen, &shown.seen.row);
    let place = row.place;
    // What says nothing because nothing came of it is marked as such; what was destroyed is told by the writer.
    let text = if seen.is_redacted { None } else { Some(text_of(seen).unwrap_or_default()) };
    NodeView {
        id: row.id.into(),
        local_id: row.local_id.clone(),
        parent: row.parent.map(ItemId::from),
        ordinal: place.map_or(1, |place| u32::try_from(place.ordinal).unwrap_or(u32::MAX)),
        alternatives: place.and_then(|place| alternatives.get(&place.turn).copied()).unwrap_or(1),
        author_type: row.author_type,
        author_name,
        created_at: row.created_at,
        text,
        selected: seen.is_selected,
        generation: row.status,
        cache: shown.cache,
        is_annotation: place.is_none(),
        pruned: row.pruned,
        excluded: row.excluded,
        bookmarked: row.bookmarked,
    }
}

fn author_name(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    names: &mut HashMap<ActorId, String>,
    (author, author_type): (ActorId, AuthorType),
) -> String {
    if let Some(name) = names.get(&author) {
        return name.clone();
    }
    let record = match author_type {
        // Nobody learns the name behind a user's id by writing as them.
        AuthorType::Human if author == ActorId::from(viewer.subject()) => tx.user(&SYSTEM, viewer.subject()).ok(),
        AuthorType::Model | AuthorType::System => {
            let record = tx.record(viewer, RecordId::from_bytes(*author.as_bytes())).ok();
            record.filter(|record| record.content.record_type == Actor::record_type())
        }
        AuthorType::Human | AuthorType::Imported => None,
    };
    let name = record.as_ref().and_then(|record| record.content.name()).unwrap_or(author_type.label()).to_owned();
    names.insert(author, name.clone());
    name
}

/// A name every file system takes.
fn file_name(title: &str) -> String {
    let brief = first_words(title, FILE_NAME_CHARS_MAX).unwrap_or_default();
    let mut name = String::new();
    for character in brief.chars() {
        match character.to_ascii_lowercase() {
            plain if plain.is_ascii_alphanumeric() => name.push(plain),
            _ if name.ends_with('-') || name.is_empty() => {}
            _ => name.push('-'),
        }
    }
    let name = name.trim_end_matches('-');
    if name.is_empty() { "conversation".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_by_what_is_plain_in_a_title() {
        assert_eq!(file_name("Herons of the lake: 2nd year"), "herons-of-the-lake-2nd-year");
        assert_eq!(file_name("../../etc/passwd\r\nX: y"), "etc-passwd-x-y");
        assert_eq!(file_name("鷺"), "conversation");
    }
}
