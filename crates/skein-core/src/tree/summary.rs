//! When summaries of nodes and trees are due, what a model is asked for them, and what is taken of its answer.
//!
//! A node's summary is made after the node and stands beside it, outside its hash (decisions G7, G10). Who answers is
//! for the caller; whatever it says becomes one sentence here.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::tree::context::TokenCounter;
use crate::tree::node_status::GenerationStatus;
use crate::tree::visible_text::is_blank;

/// Longest summary of a node.
pub const NODE_WORDS_MAX: usize = 30;
pub const NODE_TOKENS_MAX: usize = 50;
/// Sentences and length of a tree's summary.
pub const TREE_SENTENCES: usize = 2;
pub const TREE_WORDS_MAX: usize = 80;
pub const TREE_TOKENS_MAX: usize = 150;
/// A node with fewer tokens is summarised with its grandparent in view.
pub const SHORT_NODE_TOKENS: usize = 50;
/// After how many new nodes a tree's summary is renewed, unless set otherwise.
pub const TREE_SUMMARY_NODES: u64 = 10;
/// Longest text quoted in a prompt, in characters.
const QUOTED_CHARS_MAX: usize = 8_000;
/// Words after whose full stop a sentence goes on, even before a capital letter.
const ABBREVIATIONS: [&str; 24] = [
    "mr", "mrs", "ms", "mx", "dr", "prof", "st", "rev", "capt", "lt", "sgt", "col", "gen", "gov", "sen", "hr", "fr",
    "nr", "vs", "e.g", "i.e", "z.b", "bzw", "ca",
];

/// Whether a node is to be given a summary: it is finished, says something and has none yet (rules AG-SUM-001, 003).
pub fn is_node_due(generation: GenerationStatus, text: &str, summary: Option<&str>) -> bool {
    generation == GenerationStatus::Complete && !is_blank(text) && summary.is_none()
}

/// What gives the occasion for a tree's summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryTrigger {
    /// Nodes were added.
    Grown,
    Closed,
    Requested,
}

/// Whether a tree's summary is to be renewed (rule AG-SUM-004). `new_nodes` came since the last one, `every` is set.
pub fn is_tree_due(occasion: SummaryTrigger, new_nodes: u64, every: u64) -> bool {
    match occasion {
        SummaryTrigger::Grown => new_nodes >= every.max(1),
        SummaryTrigger::Closed => new_nodes > 0,
        SummaryTrigger::Requested => true,
    }
}

/// A node that came before the one being summarised.
#[derive(Debug, Clone, Copy)]
pub struct EarlierNode<'a> {
    pub summary: Option<&'a str>,
    pub text: &'a str,
}

impl EarlierNode<'_> {
    fn quoted(&self) -> String {
        quote(self.summary.unwrap_or(self.text))
    }
}

/// What a node's summary is made from (rule AG-SUM-002).
#[derive(Debug, Clone, Copy)]
pub struct NodeSubject<'a> {
    pub tree_title: &'a str,
    pub parent: Option<EarlierNode<'a>>,
    pub grandparent: Option<EarlierNode<'a>>,
    pub text: &'a str,
}

/// What came before a node, as a model is told.
pub fn node_context(subject: &NodeSubject<'_>, counter: &dyn TokenCounter) -> String {
    let is_short = counter.count(subject.text) < SHORT_NODE_TOKENS;
    let before = subject.grandparent.filter(|_| is_short);
    let before = before.map(|node| format!("Before that: {}\n", node.quoted())).unwrap_or_default();
    let previous = subject.parent.map_or_else(|| "(this is the first message)".to_owned(), |node| node.quoted());
    format!("Tree: {}\n{before}Previous: {previous}", quote(subject.tree_title))
}

/// What a model is asked for a node.
pub fn node_prompt(subject: &NodeSubject<'_>, counter: &dyn TokenCounter) -> String {
    format!(
        "Given this conversation context:\n---\n{}\n---\n\n\
         Summarize the following message in ONE sentence (max 30 words).\n\
         Capture the key point, action, or decision. Be specific, not generic.\n\n\
         Message: {}",
        node_context(subject, counter),
        quote(subject.text),
    )
}

/// What a tree's summary is made from (rule AG-SUM-004).
#[derive(Debug, Clone, Copy)]
pub struct TreeSubject<'a> {
    pub description: Option<&'a str>,
    /// Of the main path and of branch points, in their order.
    pub node_summaries: &'a [&'a str],
    pub branch_points: usize,
}

/// What a model is asked for a tree.
pub fn tree_prompt(subject: &TreeSubject<'_>) -> String {
    let described = subject.description.map_or_else(
        || "This is a branching conversation tree.".to_owned(),
        |text| format!("This is a branching conversation tree. The user describes it as:\n\"{}\"", quote(text)),
    );
    let summaries: Vec<String> =
        subject.node_summaries.iter().map(|summary| format!("- {}", one_line(summary))).collect();
    format!(
        "{described}\n\nKey node summaries from the main path:\n{}\n\nBranch points explored: {}\n\n\
         Summarize this tree's purpose and main themes in 2 sentences.",
        quote(&summaries.join("\n")),
        subject.branch_points,
    )
}

/// The first sentence of an answer, within the limits of a node's summary; `None` when there is none.
pub fn trim_to_sentence(answer: &str, counter: &dyn TokenCounter) -> Option<String> {
    trim(answer, 1, NODE_WORDS_MAX, NODE_TOKENS_MAX, counter)
}

/// The first two sentences of an answer, within the limits of a tree's summary.
pub fn trim_to_tree_summary(answer: &str, counter: &dyn TokenCounter) -> Option<String> {
    trim(answer, TREE_SENTENCES, TREE_WORDS_MAX, TREE_TOKENS_MAX, counter)
}

fn trim(
    answer: &str,
    sentences: usize,
    words_max: usize,
    tokens_max: usize,
    counter: &dyn TokenCounter,
) -> Option<String> {
    let line = one_line(answer);
    let kept: String = sentences_of(&line).into_iter().take(sentences).collect();
    let mut words: Vec<&str> = kept.split_whitespace().filter(|word| !is_blank(word)).collect();
    let is_whole = words.len() <= words_max && counter.count(&words.join(" ")) <= tokens_max;
    if words.is_empty() || is_whole {
        return (!words.is_empty()).then(|| words.join(" "));
    }
    words.truncate(words_max);
    let mut cut = words.join(" ") + "…";
    while counter.count(&cut) > tokens_max && words.len() > 1 {
        words.pop();
        cut = words.join(" ") + "…";
    }
    while counter.count(&cut) > tokens_max && cut.chars().count() > 2 {
        // One endless word: half of it, until it fits.
        let half = cut.chars().count() / 2;
        cut = cut.chars().take(half).chain(['…']).collect();
    }
    Some(cut)
}

/// The sentences of a line; none ends after a title, an abbreviation or an initial.
fn sentences_of(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in line.split_sentence_bounds() {
        match found.last_mut().filter(|open| is_blank(open) || ends_in_abbreviation(open)) {
            Some(open) => open.push_str(part),
            None => found.push(part.to_owned()),
        }
    }
    found.retain(|sentence| !is_blank(sentence));
    found
}

fn ends_in_abbreviation(text: &str) -> bool {
    let Some(before) = text.trim_end().strip_suffix('.') else { return false };
    let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '.').next().unwrap_or_default();
    let mut characters = word.chars();
    let is_initial =
        characters.next().is_some_and(|first| first.is_uppercase() && first != 'I') && characters.next().is_none();
    is_initial || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

fn one_line(text: &str) -> String {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

fn quote(text: &str) -> String {
    let text = text.trim();
    let beginning: String = text.chars().take(QUOTED_CHARS_MAX).collect();
    if beginning.len() < text.len() { beginning + "…" } else { beginning }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::context::FourCharacters;

    fn sentence(answer: &str) -> Option<String> {
        trim_to_sentence(answer, &FourCharacters)
    }

    #[test]
    fn ag_sum_001_one_sentence_holds() {
        assert_eq!(sentence(" Ada asks\nhow looms work. She is curious.").as_deref(), Some("Ada asks how looms work."));
        assert_eq!(sentence("No full stop").as_deref(), Some("No full stop"));
        assert_eq!(sentence(" \n"), None);
        for blank in ["\u{200b}", "\u{2060} \u{feff}", "\u{ad}"] {
            assert_eq!(sentence(blank), None, "{blank:?}");
            assert!(!is_node_due(GenerationStatus::Complete, blank, None));
        }
        assert!(is_node_due(GenerationStatus::Complete, "Hello", None));
    }

    #[test]
    fn ag_sum_001_abbreviations_end_no_sentence_holds() {
        for whole in ["Mr. Smith went home.", "Ask Dr. A. Jones (Prof. Kay knows).", "It is red vs. Blue."] {
            assert_eq!(sentence(&format!("{whole} Then he slept.")).as_deref(), Some(whole));
        }
        assert_eq!(sentence("So do I. He said no. Then he left.").as_deref(), Some("So do I."));
        assert_eq!(sentence("Mr.").as_deref(), Some("Mr."));
    }

    #[test]
    fn ag_sum_001_more_than_thirty_words_or_fifty_tokens_refuses() {
        let many = sentence(&"so ".repeat(100)).unwrap();
        assert_eq!(many.split(' ').count(), NODE_WORDS_MAX);
        for answer in ["extraordinarily ".repeat(30), "x".repeat(1_000), "日本".repeat(500)] {
            let summary = sentence(&answer).unwrap();
            assert!(FourCharacters.count(&summary) <= NODE_TOKENS_MAX && summary.ends_with('…'), "{summary}");
        }
        assert!(!is_node_due(GenerationStatus::Pending, "Hello", None));
        assert!(!is_node_due(GenerationStatus::Complete, "Hello", Some("A greeting.")));
    }

    fn subject(text: &str) -> NodeSubject<'_> {
        let parent = Some(EarlierNode { summary: Some("Ada asks."), text: "How do looms work?" });
        NodeSubject {
            tree_title: "Looms",
            parent,
            grandparent: Some(EarlierNode { summary: None, text: "Hello." }),
            text,
        }
    }

    #[test]
    fn ag_sum_002_title_parent_and_for_short_nodes_grandparent_holds() {
        let expected = "Given this conversation context:\n---\nTree: Looms\nBefore that: Hello.\nPrevious: Ada asks.\n---\n\n\
            Summarize the following message in ONE sentence (max 30 words).\n\
            Capture the key point, action, or decision. Be specific, not generic.\n\nMessage: With threads.";
        assert_eq!(node_prompt(&subject("With threads."), &FourCharacters), expected);
        let root = NodeSubject { parent: None, grandparent: None, ..subject("Hi") };
        assert!(node_prompt(&root, &FourCharacters).contains("Previous: (this is the first message)\n"));
    }

    #[test]
    fn ag_sum_002_the_grandparent_of_a_long_node_refuses() {
        let long = "threads ".repeat(100);
        assert!(!node_prompt(&subject(&long), &FourCharacters).contains("Hello."));
        assert!(node_prompt(&subject(&"x".repeat(100_000)), &FourCharacters).chars().count() < 9_000);
    }

    #[test]
    fn ag_sum_004_every_ten_nodes_on_closing_and_on_request_holds() {
        assert!(is_tree_due(SummaryTrigger::Grown, 10, TREE_SUMMARY_NODES));
        assert!(is_tree_due(SummaryTrigger::Closed, 1, TREE_SUMMARY_NODES));
        assert!(is_tree_due(SummaryTrigger::Requested, 0, TREE_SUMMARY_NODES));
        let subject = TreeSubject {
            description: Some("On weaving"),
            node_summaries: &["Ada asks.", "An\nanswer."],
            branch_points: 2,
        };
        let expected = "This is a branching conversation tree. The user describes it as:\n\"On weaving\"\n\n\
            Key node summaries from the main path:\n- Ada asks.\n- An answer.\n\nBranch points explored: 2\n\n\
            Summarize this tree's purpose and main themes in 2 sentences.";
        assert_eq!(tree_prompt(&subject), expected);
        let two = trim_to_tree_summary("One. Two. Three.", &FourCharacters);
        assert_eq!(two.as_deref(), Some("One. Two."));
    }

    #[test]
    fn ag_sum_004_sooner_or_without_anything_new_refuses() {
        assert!(!is_tree_due(SummaryTrigger::Grown, 9, TREE_SUMMARY_NODES));
        assert!(!is_tree_due(SummaryTrigger::Closed, 0, TREE_SUMMARY_NODES));
    }
}
