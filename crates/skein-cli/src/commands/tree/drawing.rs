//! The whole tree of a conversation, drawn in the terminal.
//!
//! Its skeleton comes with one answer and says nothing; what the nodes say is read path by path, one request for each
//! branch that is drawn. Remarks are drawn beside what they are about.

mod skeleton;

use std::collections::HashMap;
use std::io;
use std::ops::Range;

use serde_json::Value;
use skein_core::Millis;
use skein_core::tree::actor::AuthorType;
use skein_core::tree::node_status::{CacheStatus, GenerationStatus};
use skein_core::tree::render::{self, NodeView, TreeView};

use self::skeleton::Skeleton;
use super::lookup::{Lookup, id};
use crate::api_client::ApiCall;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Paint, printable, text};
use crate::plan::{EntryName, Resolver as _};
use crate::session::{ListLimit, OutputFormat, Session};
use crate::views::tree as views;

/// As many nodes of a path as the API gives at once.
const PATH_NODES_MAX: usize = 1_000;
/// Where the lines go to no terminal.
const WIDTH_CHARS: usize = 120;

pub(super) fn draw(conversation: &EntryName, most: ListLimit, desk: &mut Session<'_>) -> Result<Exit, Failure> {
    let path = format!("/conversations/{}", Lookup::new(desk).conversation(conversation)?);
    let mut shown = desk.ask(&ApiCall::get(path.clone()))?;
    let paint = match desk.form {
        OutputFormat::Quiet => {
            writeln!(desk.out, "{}", text(&shown["id"]))?;
            return Ok(Exit::Ok);
        }
        OutputFormat::Json => {
            shown["tree"] = desk.ask(&ApiCall::get(format!("{path}/tree")))?;
            writeln!(desk.out, "{shown:#}")?;
            return Ok(Exit::Ok);
        }
        OutputFormat::People(paint) => paint,
    };
    let skeleton = Skeleton::of(&desk.ask(&ApiCall::get(format!("{path}/tree")))?);
    let wanted = skeleton.latest(most);
    let known = read(&path, &skeleton, &wanted, desk)?;
    let nodes = wanted.clone().filter_map(|node| view(&skeleton, node, &known).transpose());
    let mut nodes: Vec<NodeView> = nodes.collect::<Result<_, _>>()?;
    nodes.extend(remarks(&skeleton, most, &known, desk)?);
    let tree = TreeView { title: text(&shown["title"]), nodes };
    writeln!(desk.out, "{}", paint.heading(&printable(&caption(&shown))))?;
    for line in render::draw(&tree, width()) {
        writeln!(desk.out, "{}", painted(&line, paint))?;
    }
    writeln!(desk.out, "{}", printable(&standing(&shown, &known)))?;
    if wanted.start > 0 {
        eprintln!("There are {} earlier nodes; --limit or --all shows them.", wanted.start);
    }
    Ok(Exit::Ok)
}

fn width() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout());
    size.map(|size| usize::from(size.ws_col)).ok().filter(|columns| *columns > 0).unwrap_or(WIDTH_CHARS)
}

/// What is beside the path is set back.
fn painted(line: &str, paint: Paint) -> String {
    let is_beside = line.chars().find(|letter| matches!(letter, '●' | '○')) == Some('○');
    if is_beside { paint.faint(line) } else { line.to_owned() }
}

/// What the wanted nodes are, by their ids.
fn read(
    path: &str,
    skeleton: &Skeleton,
    wanted: &Range<usize>,
    desk: &mut Session<'_>,
) -> Result<HashMap<String, Value>, Failure> {
    let mut known: HashMap<String, Value> = HashMap::new();
    // Children come after their parents, so from the end on each unknown node ends a path.
    for end in wanted.clone().rev() {
        let is_unknown = |node: &usize| wanted.contains(node) && !known.contains_key(&skeleton.ids[*node]);
        let above = |node: &usize| skeleton.parents[*node].filter(is_unknown);
        let unknown = std::iter::successors(Some(end).filter(is_unknown), above).count();
        if unknown == 0 {
            continue;
        }
        let ask = ApiCall::get(format!("{path}/path")).with("nodeId", Some(&skeleton.ids[end]));
        let mut page = desk.ask(&ask.with("limit", Some(unknown.min(PATH_NODES_MAX))))?;
        let nodes = page["data"].as_array_mut().map(std::mem::take).unwrap_or_default();
        known.extend(nodes.into_iter().map(|node| (text(&node["id"]), node)));
        // A path shows one version of each text; the others are asked for one by one.
        if !known.contains_key(&skeleton.ids[end]) {
            let node = desk.ask(&ApiCall::get(format!("/nodes/{}", skeleton.ids[end])))?;
            known.insert(skeleton.ids[end].clone(), node);
        }
    }
    Ok(known)
}

/// The remarks about nodes that are drawn, each beside the first of those it is about.
fn remarks(
    skeleton: &Skeleton,
    most: ListLimit,
    known: &HashMap<String, Value>,
    desk: &mut Session<'_>,
) -> Result<Vec<NodeView>, Failure> {
    let mut drawn = Vec::new();
    for remark in skeleton.latest_remarks(most) {
        let edges = desk.ask(&ApiCall::get(format!("/nodes/{remark}/edges")))?;
        let mut leading = edges["data"].as_array().into_iter().flatten();
        let leading = leading.find(|edge| edge["targetId"] == remark.as_str());
        let about = leading.and_then(|edge| edge["sources"].as_array()).into_iter().flatten();
        let Some(about) = about.map(|source| text(&source["nodeId"])).find(|node| known.contains_key(node)) else {
            continue;
        };
        let shown = desk.ask(&ApiCall::get(format!("/nodes/{remark}")))?;
        let parent = Some(id(&Value::from(about))?);
        drawn.push(NodeView { parent, is_annotation: true, ..node_view(&shown, 1)? });
    }
    Ok(drawn)
}

fn view(skeleton: &Skeleton, node: usize, known: &HashMap<String, Value>) -> Result<Option<NodeView>, Failure> {
    known.get(&skeleton.ids[node]).map(|shown| node_view(shown, skeleton.alternatives(node))).transpose()
}

fn node_view(shown: &Value, alternatives: u32) -> Result<NodeView, Failure> {
    let word = |name: &str| shown[name].as_str().unwrap_or_default();
    let parent = &shown["parentAlternativeId"];
    Ok(NodeView {
        id: id(&shown["id"])?,
        local_id: text(&shown["localId"]),
        parent: if parent.is_null() { None } else { Some(id(parent)?) },
        ordinal: shown["ordinal"].as_u64().and_then(|ordinal| u32::try_from(ordinal).ok()).unwrap_or(1),
        alternatives,
        author_type: AuthorType::parse(word("authorType")).unwrap_or(AuthorType::Imported),
        author_name: text(&shown["authorId"]),
        created_at: word("createdAt").parse().unwrap_or(Millis(0)),
        text: Some(views::said(shown)),
        selected: shown["onPath"] == true,
        generation: GenerationStatus::parse(word("status")).unwrap_or(GenerationStatus::Complete),
        cache: CacheStatus::parse(word("cacheStatus")).unwrap_or(CacheStatus::Valid),
        is_annotation: false,
        pruned: shown["pruned"] == true,
        excluded: shown["excluded"] == true,
        bookmarked: shown["bookmarked"] == true,
    })
}

/// How it is called, and what it is.
fn caption(shown: &Value) -> String {
    let mut words = vec![text(&shown["kind"]), text(&shown["mode"])];
    if shown["status"] == "archived" {
        words.push("archived".to_owned());
    }
    if shown["folded"] == true {
        words.push("folded".to_owned());
    }
    format!("{}  ({})", text(&shown["title"]), words.join(", "))
}

/// Where its owner stands, where it grew from, and what came of it.
fn standing(shown: &Value, known: &HashMap<String, Value>) -> String {
    let name = |id: &Value| known.get(&text(id)).map_or_else(|| text(id), |node| text(&node["localId"]));
    let mut lines = Vec::new();
    if shown["parentConversationId"].is_string() {
        let (node, from) = (text(&shown["forkOriginAlternativeId"]), text(&shown["parentConversationId"]));
        lines.push(format!("It grew from {node} in {from}."));
    }
    if let Some(summary) = shown["summary"]["text"].as_str() {
        lines.push(format!("It was folded: {summary}"));
    }
    let cursor = &shown["cursorNodeId"];
    let here =
        if cursor.is_null() { "Nothing was said yet.".to_owned() } else { format!("You stand at {}.", name(cursor)) };
    lines.push(here);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_a_terminal_gets_lines_set_back() {
        assert_eq!(painted("├─○ 01HQ3K H ● no", Paint::Plain), "├─○ 01HQ3K H ● no");
        assert_eq!(painted("├─○ 01HQ3K H ● no", Paint::Bold), "\u{1b}[2m├─○ 01HQ3K H ● no\u{1b}[0m");
        assert_eq!(painted("● 01HQ3K H ○", Paint::Bold), "● 01HQ3K H ○");
    }

    #[test]
    fn where_one_stands_is_told_by_its_short_name() {
        let known = HashMap::from([("item_1".to_owned(), json!({ "localId": "01HQ3K" }))]);
        let shown = json!({ "cursorNodeId": "item_1", "summary": { "text": "Eleven." } });
        assert_eq!(standing(&shown, &known), "It was folded: Eleven.\nYou stand at 01HQ3K.");
        assert_eq!(standing(&json!({}), &known), "Nothing was said yet.");
    }
}
