//! Answers that shorten: of what came with the request, of a text it names, of what was said about something.

use super::intent::wanted_count;
use super::passage::{Author, Passage};
use super::phrases;
use super::quote::{listed, single_quotes};
use super::relevance::{Question, Ranked, Ranking};
use super::reply::{ANSWERED, Reply, counted, is_quotable, numbers};
use super::request_parts::Conversation;
use super::summary::{choose, length_for};

/// Words in requests for summaries that do not say of what.
const SUMMARY_WORDS: [&str; 40] = [
    "summary",
    "summarize",
    "summarise",
    "tldr",
    "tl",
    "dr",
    "recap",
    "gist",
    "overview",
    "takeaway",
    "outline",
    "sum",
    "key",
    "main",
    "point",
    "points",
    "idea",
    "short",
    "brief",
    "briefly",
    "sentence",
    "sentences",
    "bullet",
    "line",
    "conversation",
    "chat",
    "discussion",
    "far",
    "today",
    "article",
    "note",
    "notes",
    "paper",
    "page",
    "report",
    "two",
    "three",
    "four",
    "five",
    "whole",
];

pub(super) fn summarize(conversation: &Conversation) -> Reply {
    let given = &conversation.given;
    let topic = Question::new(&conversation.request).without(&SUMMARY_WORDS);
    let scope = summary_scope(conversation, &topic);
    let in_scope = |passage: &Passage| scope[passage.source] && is_quotable(conversation, passage);
    let relevant = relevant_to(&topic, conversation, in_scope);
    let mut candidates = numbers(conversation, in_scope);
    if let Some(relevant) = relevant {
        candidates.retain(|number| relevant.contains(number));
    }
    if candidates.is_empty() {
        return Reply::set("nothing_given", phrases::NOTHING_TO_SUMMARIZE);
    }
    let all = candidates.len();
    let count = wanted_count(&conversation.request).unwrap_or_else(|| length_for(all));
    let chosen = choose(given, &candidates, count);
    let quotes = single_quotes(given, &chosen);
    let lead = if chosen.len() == all {
        "It is short already:".to_owned()
    } else {
        format!("In its own words ({} of {}):", chosen.len(), counted(all, "passage"))
    };
    Reply { kind: "summary", text: format!("{lead}\n\n{}", listed(&quotes)), quotes }
}

/// Which sources a summary is of: what came with the request, else the text it names, else everything.
fn summary_scope(conversation: &Conversation, topic: &Question) -> Vec<bool> {
    let sources = &conversation.given.sources;
    if !conversation.told_now.is_empty() {
        return (0..sources.len()).map(|source| conversation.told_now.contains(&source)).collect();
    }
    let named: Vec<bool> =
        sources.iter().map(|source| source.author == Author::Attached && topic.names(&source.label)).collect();
    if named.contains(&true) {
        return named;
    }
    let words = super::words::plain_words(&conversation.request);
    let asks_for_text = words.iter().any(|word| {
        matches!(word.as_str(), "text" | "document" | "article" | "file" | "attached" | "attachment" | "paper")
    });
    let attached: Vec<bool> = sources.iter().map(|source| source.author == Author::Attached).collect();
    if asks_for_text && attached.contains(&true) { attached } else { vec![true; sources.len()] }
}

/// The passages that speak of the topic, when it has one that they speak of.
fn relevant_to(
    topic: &Question,
    conversation: &Conversation,
    in_scope: impl Fn(&Passage) -> bool,
) -> Option<Vec<usize>> {
    let ranking = Ranking::of(topic, &conversation.given, in_scope);
    let all: Vec<&Ranked> = ranking.ranked.iter().collect();
    let is_about_it = topic.matter() > 0 && ranking.coverage(&all) >= ANSWERED;
    is_about_it.then(|| all.iter().map(|ranked| ranked.passage).collect())
}
