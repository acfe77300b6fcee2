//! Trees written and drawn.

use super::*;

fn node(number: u8, parent: Option<u8>, text: &str) -> NodeView {
    NodeView {
        id: ItemId::from_bytes([number; 16]),
        local_id: format!("NODE{number:02}"),
        parent: parent.map(|parent| ItemId::from_bytes([parent; 16])),
        ordinal: 1,
        alternatives: 1,
        author_type: AuthorType::Human,
        author_name: "Ada".to_owned(),
        created_at: Millis(0),
        text: Some(text.to_owned()),
        selected: true,
        generation: GenerationStatus::Complete,
        cache: CacheStatus::Valid,
        is_annotation: false,
        pruned: false,
        excluded: false,
        bookmarked: false,
    }
}

/// A question, three answers of which the second is selected and goes on, and a remark about the question.
fn tree() -> TreeView {
    let answer = |number, ordinal, text| NodeView {
        ordinal,
        alternatives: 3,
        selected: ordinal == 2,
        author_type: AuthorType::Model,
        author_name: "Hugin".to_owned(),
        ..node(number, Some(1), text)
    };
    let nodes = vec![
        node(1, None, "How do looms\nwork?"),
        answer(2, 1, "Slowly."),
        answer(3, 2, "With threads."),
        NodeView { generation: GenerationStatus::Failed, text: Some(String::new()), ..answer(4, 3, "") },
        NodeView { is_annotation: true, ..node(5, Some(1), "good question") },
        NodeView { cache: CacheStatus::Stale, ..node(6, Some(2), "Why?") },
        node(7, Some(3), "Thanks."),
    ];
    TreeView { title: "Looms".to_owned(), nodes }
}

#[test]
fn the_selected_way_down_stays_in_its_column() {
    let expected = "\
● NODE01 H How do looms work?
├─○ NODE02 M [1 of 3] Slowly.
│ ● NODE06 H (stale) Why?
├─○ NODE04 M [3 of 3] (failed)
├─● NODE05 H (annotation) good question
● NODE03 M [2 of 3] With threads.
● NODE07 H Thanks.";
    assert_eq!(draw(&tree(), 80).join("\n"), expected);
}

#[test]
fn a_long_conversation_does_not_wander_to_the_right() {
    let nodes = (1..=255).map(|number| node(number, (number > 1).then(|| number - 1), &"word ".repeat(100)));
    let view = TreeView { title: String::new(), nodes: nodes.collect() };
    let lines = draw(&view, 60);
    assert!(lines.len() == 255 && lines.iter().all(|line| line.starts_with('●') && line.chars().count() <= 60));
}

#[test]
fn a_terminal_gets_nothing_that_acts() {
    let view = TreeView { title: String::new(), nodes: vec![node(1, None, "a\u{1b}[31mb\u{202e}c\u{7}")] };
    assert_eq!(draw(&view, 80), ["● NODE01 H a[31mbc"]);
}

#[test]
fn branches_are_listed_with_the_selected_one_first() {
    let tree = tree();
    let branches: Vec<(Option<&str>, Vec<&str>)> = tree
        .branches()
        .into_iter()
        .map(|branch| {
            let from = branch.from.map(|node| node.local_id.as_str());
            (from, branch.nodes.iter().map(|node| node.local_id.as_str()).collect())
        })
        .collect();
    let expected = vec![
        (None, vec!["NODE01", "NODE03", "NODE07"]),
        (Some("NODE01"), vec!["NODE02", "NODE06"]),
        (Some("NODE01"), vec!["NODE04"]),
        (Some("NODE01"), vec!["NODE05"]),
    ];
    assert_eq!(branches, expected);
}

#[test]
fn a_path_leads_from_the_root_to_its_node() {
    let tree = tree();
    let path = tree.path_to(ItemId::from_bytes([6; 16]));
    let ids: Vec<&str> = path[0].nodes.iter().map(|node| node.local_id.as_str()).collect();
    assert_eq!(ids, ["NODE01", "NODE02", "NODE06"]);
    assert!(tree.path_to(ItemId::from_bytes([99; 16])).is_empty());
}

#[test]
fn markdown_keeps_text_and_marks_alternatives() {
    let mut tree = tree();
    tree.nodes[6].text = Some("# Not a *title*\n\n<b>as it is</b>".to_owned());
    tree.nodes[6].author_name = "A*d*a".to_owned();
    let markdown = to_markdown("On [looms]", &tree.branches());
    for expected in [
        "# On \\[looms\\]\n",
        "### A\\*d\\*a · 1970-01-01T00:00:00.000Z · `NODE07`\n\n# Not a *title*\n\n<b>as it is</b>\n",
        "`NODE03` · 2 of 3, selected\n\nWith threads.\n",
        "## Branch after `NODE01`\n\n### Hugin · 1970-01-01T00:00:00.000Z · `NODE02` · 1 of 3\n",
        "`NODE06` · stale\n",
    ] {
        assert!(markdown.contains(expected), "{expected:?} is not in\n{markdown}");
    }
}

#[test]
fn html_holds_no_markup_of_others() {
    let evil = "</div><script>alert('x')</script><img src=x onerror=\"y\">&";
    let mut tree = TreeView { title: evil.to_owned(), nodes: vec![node(1, None, evil)] };
    tree.nodes[0].author_name = evil.to_owned();
    tree.nodes[0].local_id = "\" onclick=\"x".to_owned();
    let html = to_html(&tree.title, &tree.branches());
    assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("\" onclick"));
    assert!(
        html.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&lt;img src=x onerror=&quot;y&quot;&gt;&amp;")
    );
}

#[test]
fn redacted_nodes_say_so() {
    let view = TreeView { title: "x".to_owned(), nodes: vec![NodeView { text: None, ..node(1, None, "") }] };
    assert!(to_html("x", &view.branches()).contains("[redacted]"));
    assert!(draw(&view, 80)[0].ends_with("[redacted]"));
}

#[test]
fn deep_trees_are_walked_without_deep_calls() {
    let id = |number: u32| ItemId::from_slice(&[&[0; 12], &number.to_be_bytes()[..]].concat()).unwrap();
    let nodes = (0..50_000).map(|number: u32| {
        let parent = number.checked_sub(1).map(id);
        NodeView { id: id(number), parent, selected: number.is_multiple_of(3), ..node(1, None, "x") }
    });
    let view = TreeView { title: String::new(), nodes: nodes.collect() };
    assert_eq!((draw(&view, 80).len(), view.branches().len()), (50_000, 1));
    assert_eq!(view.path_to(id(49_999))[0].nodes.len(), 50_000);
}
