//! Decides what the built-in model answers. Start at [`reply`].

use super::intent::{Intent, intent, points_back, wants_all};
use super::passage::{Author, Passage};
use super::person_facts::{acknowledge, recollect, repeat, tasks, who_am_i};
use super::phrases;
use super::quote::{Quote, introduction, quotes, written};
use super::relevance::{Question, Ranked, Ranking};
use super::request_parts::Conversation;
use super::summarize::summarize;
use super::summary::{key_words, likeness};

/// How much of a question quotes must speak of to be taken for an answer, and to be worth showing at all.
pub(super) const ANSWERED: f64 = 0.5;
const WORTH_SHOWING: f64 = 0.25;
/// What a passage must score beside the best to be shown with it.
const BESIDE_THE_BEST: f64 = 0.5;
const BESIDE_THE_BEST_OF_ALL: f64 = 0.25;
const QUOTES_MAX: usize = 3;
pub(super) const QUOTES_OF_ALL_MAX: usize = 8;
/// Passages more alike than this say the same.
const THE_SAME: f64 = 0.85;
pub(super) const KEY_WORDS: usize = 3;

/// An answer before it is labelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    /// What kind of answer it is, for programs.
    pub(super) kind: &'static str,
    pub(super) text: String,
    pub(super) quotes: Vec<Quote>,
}

impl Reply {
    pub(super) fn set(kind: &'static str, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), quotes: Vec::new() }
    }
}

pub(super) fn reply(conversation: &Conversation) -> Reply {
    let request = conversation.request.as_str();
    if request.is_empty() {
        return acknowledge(conversation);
    }
    if !request.contains(char::is_alphanumeric) {
        return Reply::set("assent", phrases::ASSENT);
    }
    match intent(request) {
        Intent::Greeting if has_matter(conversation) => Reply::set("greeting", greeting_again(conversation)),
        Intent::Greeting => Reply::set("greeting", phrases::GREETING),
        Intent::Thanks => Reply::set("thanks", phrases::THANKS),
        Intent::Farewell => Reply::set("farewell", phrases::FAREWELL),
        Intent::Assent => Reply::set("assent", phrases::ASSENT),
        Intent::Identity => Reply::set("identity", phrases::IDENTITY),
        Intent::Abilities => Reply::set("help", phrases::ABILITIES),
        Intent::ConnectModel => Reply::set("help", phrases::CONNECT),
        Intent::Privacy => Reply::set("help", phrases::PRIVACY),
        Intent::AboutSkein => Reply::set("help", phrases::SKEIN),
        Intent::Summary => summarize(conversation),
        Intent::Recollection => recollect(conversation),
        Intent::Tasks => tasks(conversation),
        Intent::WhoAmI => who_am_i(conversation),
        Intent::FirstMessage => repeat(conversation.said_before.first(), "first"),
        Intent::LastMessage => repeat(conversation.said_before.last(), "last"),
        Intent::More => more(conversation),
        Intent::Making => make(conversation),
        Intent::Question | Intent::Statement => answer(conversation),
    }
}

fn has_matter(conversation: &Conversation) -> bool {
    conversation.given.passages.iter().any(|passage| is_quotable(conversation, passage))
}

/// Questions and instructions answer nothing.
pub(super) fn is_quotable(conversation: &Conversation, passage: &Passage) -> bool {
    let author = conversation.given.source_of(passage).author;
    let instructs = || {
        super::words::plain_words(&passage.text)
            .iter()
            .any(|word| matches!(word.as_str(), "you" | "your" | "assistant"))
    };
    match author {
        Author::Person => !passage.is_question,
        Author::Instructions => !instructs(),
        Author::Model | Author::Attached | Author::Tool => true,
    }
}

pub(super) fn numbers(conversation: &Conversation, wanted: impl Fn(&Passage) -> bool) -> Vec<usize> {
    let passages = conversation.given.passages.iter().enumerate();
    passages.filter(|(_, passage)| wanted(passage)).map(|(number, _)| number).collect()
}

fn greeting_again(conversation: &Conversation) -> String {
    let words = key_words(&conversation.given, KEY_WORDS, |passage| is_quotable(conversation, passage));
    format!(
        "{} I have {}. Ask me about {}, or for a summary.",
        phrases::GREETING_AGAIN,
        inventory(conversation),
        listing(&words, "or")
    )
}

// Answers to questions

/// What was found for a question.
pub(super) enum ReplyMaterial {
    Answer(Vec<usize>),
    Nearest(Vec<usize>),
    Nothing,
}

pub(super) fn find(ranking: &Ranking, conversation: &Conversation, wants_all: bool) -> ReplyMaterial {
    let (most, share) =
        if wants_all { (QUOTES_OF_ALL_MAX, BESIDE_THE_BEST_OF_ALL) } else { (QUOTES_MAX, BESIDE_THE_BEST) };
    let best = ranking.ranked.first().map_or(0.0, |ranked| ranked.score);
    let mut chosen: Vec<&Ranked> = Vec::new();
    let passages = &conversation.given.passages;
    for ranked in ranking.ranked.iter().take_while(|ranked| ranked.score >= best * share) {
        let is_new = |other: &&Ranked| likeness(&passages[ranked.passage], &passages[other.passage]) < THE_SAME;
        // Where the best holds what was asked for, one that does not only distracts.
        let is_as_good = chosen.first().is_none_or(|first| ranked.is_fitting || !first.is_fitting);
        if chosen.len() < most && is_as_good && chosen.iter().all(is_new) {
            chosen.push(ranked);
        }
    }
    let numbers = chosen.iter().map(|ranked| ranked.passage).collect();
    match ranking.coverage(&chosen) {
        coverage if coverage >= ANSWERED => ReplyMaterial::Answer(numbers),
        coverage if coverage >= WORTH_SHOWING => ReplyMaterial::Nearest(numbers),
        _ => ReplyMaterial::Nothing,
    }
}

fn answer(conversation: &Conversation) -> Reply {
    let request = conversation.request.as_str();
    let question = with_what_came_before(Question::new(request), conversation);
    answer_question(conversation, &question, wants_all(request), |passage| is_quotable(conversation, passage))
}

/// A question that only points back takes its matter from the one before.
fn with_what_came_before(question: Question, conversation: &Conversation) -> Question {
    let Some(before) = conversation.requests_before.last() else { return question };
    if question.matter() <= 1 && points_back(&conversation.request) {
        question.after(&Question::new(before))
    } else if question.matter() == 0 {
        Question::new(before)
    } else {
        question
    }
}

pub(super) fn answer_question(
    conversation: &Conversation,
    question: &Question,
    wants_all: bool,
    may_quote: impl Fn(&Passage) -> bool,
) -> Reply {
    if !conversation.given.passages.iter().any(&may_quote) {
        return Reply::set("nothing_given", phrases::NOTHING_GIVEN);
    }
    let ranking = Ranking::of(question, &conversation.given, may_quote);
    let section = ranking.section(question, &conversation.given);
    if section.len() > 1 {
        return quoted(conversation, &section[..section.len().min(QUOTES_OF_ALL_MAX)], None);
    }
    match find(&ranking, conversation, wants_all) {
        ReplyMaterial::Answer(passages) => quoted(conversation, &passages, None),
        ReplyMaterial::Nearest(passages) => {
            let lead = format!(
                "I find no clear answer to that in what I was given{}. The nearest it says:",
                missing(&ranking)
            );
            Reply { kind: "nearest", ..quoted(conversation, &passages, Some(lead)) }
        }
        ReplyMaterial::Nothing => {
            let text = format!(
                "I do not find that in what I was given ({}){}. {}",
                inventory(conversation),
                missing(&ranking),
                phrases::ONLY_THIS
            );
            Reply::set("not_found", text)
        }
    }
}

pub(super) fn quoted(conversation: &Conversation, passages: &[usize], lead: Option<String>) -> Reply {
    let mut quotes = quotes(&conversation.given, passages);
    let is_told_twice = quotes.len() > 1 && quotes.iter().all(|quote| quote.source.author == Author::Person);
    if lead.is_none() && is_told_twice {
        // What people say last is more often what holds.
        let place = |quote: &Quote| conversation.given.sources.iter().position(|source| *source == quote.source);
        quotes.sort_by_key(|quote| std::cmp::Reverse(place(quote)));
        let text = format!("You told me, latest first:\n\n{}", written(&quotes));
        return Reply { kind: "quotes", text, quotes };
    }
    let lead = lead.unwrap_or_else(|| introduction(&quotes));
    Reply { kind: "quotes", text: format!("{lead}\n\n{}", written(&quotes)), quotes }
}

fn missing(ranking: &Ranking) -> String {
    if ranking.missing.is_empty() {
        String::new()
    } else {
        format!("; nothing there mentions {}", listing(&ranking.missing, "or"))
    }
}

fn more(conversation: &Conversation) -> Reply {
    let Some(before) = conversation.requests_before.iter().rev().find(|before| intent(before) != Intent::More) else {
        return Reply::set("nothing_given", phrases::ASSENT);
    };
    let shown = |passage: &Passage| {
        conversation.own_answers.iter().any(|answer| answer.replace("\n> ", "\n").contains(&passage.text))
    };
    let ranking = Ranking::of(&Question::new(before), &conversation.given, |passage| {
        is_quotable(conversation, passage) && !shown(passage)
    });
    match find(&ranking, conversation, false) {
        ReplyMaterial::Answer(passages) | ReplyMaterial::Nearest(passages) => {
            quoted(conversation, &passages, Some("There is also:".to_owned()))
        }
        ReplyMaterial::Nothing => Reply::set("not_found", phrases::NO_MORE),
    }
}

fn make(conversation: &Conversation) -> Reply {
    let ranking = Ranking::of(&Question::new(&conversation.request), &conversation.given, |passage| {
        is_quotable(conversation, passage)
    });
    match find(&ranking, conversation, false) {
        ReplyMaterial::Answer(passages) | ReplyMaterial::Nearest(passages) => {
            let lead = format!("{} This is what I have on it:", phrases::CANNOT_MAKE);
            let reply = quoted(conversation, &passages, Some(lead));
            Reply { kind: "cannot", text: format!("{}\n\n{}", reply.text, phrases::HOW_TO_MAKE), ..reply }
        }
        ReplyMaterial::Nothing => Reply::set("cannot", format!("{} {}", phrases::CANNOT_MAKE, phrases::HOW_TO_MAKE)),
    }
}

// Words

/// What the model was given, in short.
fn inventory(conversation: &Conversation) -> String {
    let sources = &conversation.given.sources;
    let messages = sources.iter().filter(|source| matches!(source.author, Author::Person | Author::Model)).count();
    let mut parts: Vec<String> = Vec::new();
    if messages > 0 {
        parts.push(counted(messages, "message"));
    }
    let attached: Vec<&str> =
        sources.iter().filter(|source| source.author == Author::Attached).map(|source| source.label.as_str()).collect();
    match attached.as_slice() {
        [] => {}
        [one] => parts.push(format!("“{one}”")),
        several => parts.push(counted(several.len(), "attached text")),
    }
    let results = sources.iter().filter(|source| source.author == Author::Tool).count();
    if results > 0 {
        parts.push(counted(results, "result"));
    }
    if parts.is_empty() { "only instructions".to_owned() } else { parts.join(" and ") }
}

pub(super) fn counted(count: usize, thing: &str) -> String {
    if count == 1 { format!("1 {thing}") } else { format!("{count} {thing}s") }
}

pub(super) fn listing(words: &[String], joint: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("“{word}”")).collect();
    match quoted.as_slice() {
        [] => "it".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} {joint} {last}", first.join(", ")),
    }
}
