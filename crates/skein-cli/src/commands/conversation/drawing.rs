//! The whole tree of a conversation, drawn in the terminal.
//!
//! Its skeleton comes with one answer and says nothing; what the nodes say is read path by path, one request for each
//! branch that is drawn.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::lookup::Lookup;
use crate::desk::{Amount, Desk, Form};
use crate::door::Ask;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::text;
use crate::plan::{Finder as _, Named};

/// As many nodes of a path as the API gives at once.
const PATH_NODES_MAX: usize = 1_000;

pub(super) fn draw(conversation: &Named, most: Amount, desk: &mut Desk<'_>) -> Result<Exit, Failure> {
    let path = format!("/conversations/{}", Lookup::new(desk).conversation(conversation)?);
    let mut shown = desk.ask(&Ask::get(path.clone()))?;
    if desk.form == Form::Quiet {
        writeln!(desk.out, "{}", text(&shown["id"]))?;
        return Ok(Exit::Ok);
    }
    let tree = desk.ask(&Ask::get(format!("{path}/tree")))?;
    if desk.form == Form::Json {
        shown["tree"] = tree;
        writeln!(desk.out, "{shown:#}")?;
        return Ok(Exit::Ok);
    }
    let skeleton = Skeleton::of(&tree);
    let wanted = skeleton.latest(most);
    let said = read(&path, &skeleton, &wanted, desk)?;
    let _ = (said, json!({}));
    Ok(Exit::Ok)
}

/// The course of a conversation: its nodes by number, in the order they were made.
struct Skeleton {
    ids: Vec<String>,
    parents: Vec<Option<usize>>,
}

impl Skeleton {
    /// Remarks have no turn: they stand beside the course, and are left out.
    fn of(tree: &Value) -> Self {
        let nodes = &tree["nodes"];
        let column = |name: &str| nodes[name].as_array().map(Vec::as_slice).unwrap_or_default();
        let (all, turns, parents) = (column("id"), column("turn"), column("parent"));
        let mut number_of = HashMap::new();
        let mut course = Self { ids: Vec::new(), parents: Vec::new() };
        for (place, id) in all.iter().enumerate() {
            if turns.get(place).and_then(Value::as_i64).is_none_or(|turn| turn < 0) {
                continue;
            }
            number_of.insert(place, course.ids.len());
            let parent = parents.get(place).and_then(Value::as_u64).and_then(|parent| usize::try_from(parent).ok());
            course.parents.push(parent.and_then(|parent| number_of.get(&parent).copied()));
            course.ids.push(text(id));
        }
        course
    }

    /// The nodes to draw: all, or the latest.
    fn latest(&self, most: Amount) -> std::ops::Range<usize> {
        let all = self.ids.len();
        let first = match most {
            Amount::All => 0,
            Amount::AtMost(most) => all.saturating_sub(usize::try_from(most).unwrap_or(usize::MAX)),
        };
        first..all
    }
}

/// What the wanted nodes are, by their ids.
fn read(
    path: &str,
    skeleton: &Skeleton,
    wanted: &std::ops::Range<usize>,
    desk: &mut Desk<'_>,
) -> Result<HashMap<String, Value>, Failure> {
    let mut known: HashMap<String, Value> = HashMap::new();
    // Children come after their parents, so from the end on each unknown node ends a path.
    for end in wanted.clone().rev() {
        let mut at = Some(end);
        let mut unknown = 0;
        while let Some(node) = at.filter(|node| wanted.contains(node) && !known.contains_key(&skeleton.ids[*node])) {
            unknown += 1;
            at = skeleton.parents[node];
        }
        if unknown == 0 {
            continue;
        }
        let ask = Ask::get(format!("{path}/path")).with("nodeId", Some(&skeleton.ids[end]));
        let page = desk.ask(&ask.with("limit", Some(unknown.min(PATH_NODES_MAX))))?;
        let nodes = page["data"].as_array().cloned().unwrap_or_default();
        known.extend(nodes.into_iter().map(|node| (text(&node["id"]), node)));
        // A path shows one version of each text; the others are asked for one by one.
        if !known.contains_key(&skeleton.ids[end]) {
            let node = desk.ask(&Ask::get(format!("/nodes/{}", skeleton.ids[end])))?;
            known.insert(skeleton.ids[end].clone(), node);
        }
    }
    Ok(known)
}
