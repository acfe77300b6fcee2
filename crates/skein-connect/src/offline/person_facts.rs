//! Answers questions about the person: their statements, their name, their tasks, and acknowledgements.

use super::passage::{Author, Passage, Source};
use super::phrases;
use super::quote::{Quote, listed, single_quotes, written};
use super::relevance::{Question, Ranking};
use super::reply::{
    KEY_WORDS, QUOTES_OF_ALL_MAX, Reply, ReplyMaterial, answer_question, counted, find, is_quotable, listing, numbers,
    quoted,
};
use super::request_parts::Conversation;
use super::summary::{choose, key_words};

/// What is told in more sentences is a text that was pasted.
const PASTED_PASSAGES: usize = 6;
const SHORT_STATEMENT_WORDS: usize = 3;
/// Quotes of a text that was just pasted.
const STANDING_OUT: usize = 3;

pub(super) fn recollect(conversation: &Conversation) -> Reply {
    let question = Question::new(&conversation.request).without(&["remember", "say", "tell"]);
    let of_person = |passage: &Passage| {
        conversation.given.source_of(passage).author == Author::Person && is_quotable(conversation, passage)
    };
    if question.matter() > 0 {
        let has_said_anything = conversation.given.passages.iter().any(of_person);
        let asks_of_person = super::words::plain_words(&conversation.request).iter().any(|word| word == "i");
        return answer_question(conversation, &question, true, |passage| {
            if has_said_anything && asks_of_person { of_person(passage) } else { is_quotable(conversation, passage) }
        });
    }
    let told = numbers(conversation, of_person);
    if told.is_empty() {
        return Reply::set("nothing_given", phrases::NOTHING_TOLD);
    }
    let chosen = choose(&conversation.given, &told, QUOTES_OF_ALL_MAX);
    let quotes = single_quotes(&conversation.given, &chosen);
    Reply { kind: "quotes", text: format!("You told me:\n\n{}", listed(&quotes)), quotes }
}

pub(super) fn who_am_i(conversation: &Conversation) -> Reply {
    let names = |passage: &Passage| {
        let said = format!(" {} ", super::words::plain_words(&passage.text).join(" "));
        [" my name ", " i am ", " im ", " call me ", " i work ", " ich bin ", " me llamo "]
            .iter()
            .any(|phrase| said.contains(phrase))
    };
    let passages = conversation.given.passages.iter().enumerate();
    let found = passages.filter(|(_, passage)| {
        conversation.given.source_of(passage).author == Author::Person && !passage.is_question && names(passage)
    });
    let found: Vec<usize> = found.map(|(number, _)| number).take(QUOTES_OF_ALL_MAX).collect();
    if found.is_empty() { Reply::set("not_found", phrases::NOTHING_TOLD) } else { quoted(conversation, &found, None) }
}

/// What is to be done: lines announced as such, and sentences that say so themselves.
pub(super) fn tasks(conversation: &Conversation) -> Reply {
    let said = |passage: &Passage| format!(" {} ", super::words::plain_words(&passage.text).join(" "));
    let says = |passage: &Passage, phrases: &[&str]| phrases.iter().any(|phrase| said(passage).contains(phrase));
    let announces = |passage: &Passage| {
        let heading = passage.heading.as_deref().unwrap_or_default().to_lowercase();
        let is_headed = ["to do", "todo", "to-do", "task", "action"].iter().any(|word| heading.contains(word));
        is_headed || (passage.text.ends_with(':') && says(passage, &[" to do ", " todo ", " tasks ", " action items "]))
    };
    let demands = |passage: &Passage| {
        says(passage, &[" need to ", " must ", " have to ", " should ", " remember to ", " dont forget ", " todo "])
    };
    let found =
        numbers(conversation, |passage| is_quotable(conversation, passage) && (announces(passage) || demands(passage)));
    if found.is_empty() {
        return Reply::set("not_found", phrases::NO_TASKS);
    }
    quoted(conversation, &found[..found.len().min(QUOTES_OF_ALL_MAX)], None)
}

pub(super) fn repeat(message: Option<&(usize, String)>, which: &str) -> Reply {
    let Some((number, text)) = message else {
        return Reply::set("not_found", "This is your first message.");
    };
    let source = Source { author: Author::Person, label: format!("you, message {number}"), link: None };
    let quotes = vec![Quote { text: text.clone(), source, heading: None }];
    Reply { kind: "quotes", text: format!("Your {which} message was:\n\n{}", written(&quotes)), quotes }
}

/// The person told something and asked nothing.
pub(super) fn acknowledge(conversation: &Conversation) -> Reply {
    let given = &conversation.given;
    let is_new = |passage: &Passage| conversation.told_now.contains(&passage.source);
    let told = given.passages.iter().filter(|passage| is_new(passage)).count();
    let attached = conversation.told_now.clone().any(|source| given.sources[source].author == Author::Attached);
    let words = key_words(given, KEY_WORDS, is_new);
    if told == 0 {
        return Reply::set("help", phrases::ABILITIES);
    }
    if told >= PASTED_PASSAGES || (attached && told > 1) {
        return read(conversation, told, &words);
    }
    let now: Vec<&str> =
        given.passages.iter().filter(|passage| is_new(passage)).map(|passage| passage.text.as_str()).collect();
    let ranking = Ranking::of(&Question::new(&now.join(" ")), given, |passage| {
        !is_new(passage) && is_quotable(conversation, passage)
    });
    let found = find(&ranking, conversation, false);
    let is_short = super::words::plain_words(&now.join(" ")).len() < SHORT_STATEMENT_WORDS;
    let kept = match words.as_slice() {
        [] => "I have kept that.".to_owned(),
        words => format!("I have kept that. Ask me about {} whenever you like.", listing(words, "or")),
    };
    match found {
        // A word or two that were said before are looked for, not told.
        ReplyMaterial::Answer(passages) if is_short => quoted(conversation, &passages, None),
        _ if is_short => Reply::set("kept", phrases::SHORT_STATEMENT),
        ReplyMaterial::Answer(passages) => {
            let reply = quoted(conversation, &passages[..1], Some(format!("{kept} It goes with this:")));
            Reply { kind: "kept", ..reply }
        }
        _ => Reply::set("kept", kept),
    }
}

/// A longer text was pasted or attached.
fn read(conversation: &Conversation, told: usize, words: &[String]) -> Reply {
    let is_new = |passage: &Passage| conversation.told_now.contains(&passage.source);
    let chosen = choose(&conversation.given, &numbers(conversation, is_new), STANDING_OUT);
    let quotes = single_quotes(&conversation.given, &chosen);
    let text = format!(
        "I have read it: {}. What stands out, in its own words:\n\n{}\n\nAsk me about {}, or for a summary.",
        counted(told, "passage"),
        listed(&quotes),
        listing(words, "or")
    );
    Reply { kind: "read", text, quotes }
}
