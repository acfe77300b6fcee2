//! Sorts a request into what is asked now, what was asked before, and what may be quoted.

use std::collections::BTreeMap;

use skein_core::fence::tool_output;
use skein_core::memory::recalled_text::{RecalledText, split as split_off_remembered};

use super::intent::is_asking;
use super::passage::{Author, GivenMaterial, Source, cut};
use super::phrases::LABEL;
use crate::llm::{ChatRequest, Message, Part};

/// In a longer message only the first and last sentences are taken for requests; the rest is a text.
const SHORT_MESSAGE_PASSAGES: usize = 6;
const EDGE_PASSAGES: usize = 2;
const INSTRUCTIONS: &str = "the instructions";

/// A conversation as the built-in model sees it.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    /// What the last message asks; empty when it only tells.
    pub(super) request: String,
    /// What the last message tells, pastes or attaches: numbers of its sources.
    pub(super) told_now: std::ops::Range<usize>,
    /// Earlier requests of the person, oldest first.
    pub(super) requests_before: Vec<String>,
    /// Earlier messages of the person with their numbers.
    pub(super) said_before: Vec<(usize, String)>,
    /// What this model answered since the last request that named its matter.
    pub(super) own_answers: Vec<String>,
    pub(super) given: GivenMaterial,
}

/// Reads the whole conversation.
pub(super) fn gather(request: &ChatRequest) -> Conversation {
    let last = request.messages.iter().rposition(|message| matches!(message, Message::User(_)));
    let mut gatherer = Gatherer { conversation: Conversation::default(), number: 0, tools: BTreeMap::new() };
    for (position, message) in request.messages.iter().enumerate() {
        gatherer.take(message, Some(position) == last);
    }
    gatherer.conversation
}

struct Gatherer<'a> {
    conversation: Conversation,
    /// Messages of people and models so far.
    number: usize,
    /// Names of tools by the ids of their calls.
    tools: BTreeMap<&'a str, &'a str>,
}

impl<'a> Gatherer<'a> {
    fn take(&mut self, message: &'a Message, is_last: bool) {
        match message {
            Message::System(parts) => self.take_parts(parts, Author::Instructions, INSTRUCTIONS),
            Message::User(parts) => {
                self.number += 1;
                let parts = self.without_remembered(parts);
                let from = self.conversation.given.sources.len();
                self.take_person(&parts, is_last);
                if is_last {
                    self.conversation.told_now = from..self.conversation.given.sources.len();
                }
            }
            Message::Assistant { parts, tool_calls } => {
                self.number += 1;
                self.tools.extend(tool_calls.iter().map(|call| (call.id.as_str(), call.name.as_str())));
                let text = message.text();
                if text.trim_end().ends_with(LABEL) {
                    self.conversation.own_answers.push(text);
                } else {
                    self.take_parts(parts, Author::Model, &format!("the model, message {}", self.number));
                }
            }
            Message::Tool { call_id, content, .. } => {
                let name = self.tools.get(call_id.as_str()).copied().unwrap_or("a tool");
                let output = tool_output(content);
                self.add(Author::Tool, format!("what {name} gave"), None, output.as_deref().unwrap_or(content));
            }
        }
    }

    /// Takes the remembered texts out of a message as sources of their own and returns the rest of it.
    fn without_remembered(&mut self, parts: &[Part]) -> Vec<Part> {
        let mut rest = Vec::with_capacity(parts.len());
        for part in parts {
            let Part::Text(text) = part else {
                rest.push(part.clone());
                continue;
            };
            let (said, remembered) = split_off_remembered(text);
            if remembered.is_empty() {
                rest.push(part.clone());
                continue;
            }
            for remembered in &remembered {
                self.take_remembered(remembered);
            }
            rest.push(Part::Text(said.trim().to_owned()));
        }
        rest
    }

    fn take_remembered(&mut self, remembered: &RecalledText) {
        let is_answer = remembered.source("speaker") == Some("agent");
        let (author, who) = if is_answer { (Author::Model, "an answer") } else { (Author::Person, "you") };
        let day = remembered.source("createdAt").and_then(|at| at.split('T').next()).unwrap_or("earlier");
        let place = remembered.source("conversationId").zip(remembered.source("nodeId"));
        let link = place.map(|(conversation, node)| format!("/c/{conversation}/n/{node}"));
        self.add(author, format!("{who}, {day}"), link, &remembered.text);
    }

    fn take_person(&mut self, parts: &[Part], is_last: bool) {
        let label = if is_last { "you, just now".to_owned() } else { format!("you, message {}", self.number) };
        let mut asked = Vec::new();
        for part in parts {
            match part {
                Part::Attached(_) | Part::Image(_) => {
                    self.take_parts(std::slice::from_ref(part), Author::Person, &label);
                }
                Part::Text(text) => {
                    let (request, told) = split(text);
                    asked.extend(request);
                    self.add(Author::Person, label.clone(), None, &told);
                    if !is_last {
                        self.conversation.said_before.push((self.number, text.trim().to_owned()));
                    }
                }
            }
        }
        let asked = asked.join(" ");
        if is_last {
            self.conversation.request = asked;
        } else if !asked.is_empty() {
            if !super::intent::points_back(&asked) && super::intent::intent(&asked) != super::intent::Intent::More {
                self.conversation.own_answers.clear();
            }
            self.conversation.requests_before.push(asked);
        }
    }

    fn take_parts(&mut self, parts: &[Part], author: Author, label: &str) {
        for part in parts {
            match part {
                Part::Text(text) => self.add(author, label.to_owned(), None, text),
                Part::Attached(attached) => {
                    self.add(Author::Attached, attached.title.clone(), attached.source.clone(), &attached.text);
                }
                Part::Image(image) => self.add(author, label.to_owned(), None, &image.description),
            }
        }
    }

    fn add(&mut self, author: Author, label: String, link: Option<String>, text: &str) {
        if !text.trim().is_empty() {
            self.conversation.given.add(Source { author, label, link }, text);
        }
    }
}

/// The sentences of a message that ask, and its text without them.
fn split(text: &str) -> (Vec<String>, String) {
    let passages = cut(text);
    if passages.is_empty() {
        return (vec![text.trim().to_owned()], String::new());
    }
    let is_short = passages.len() <= SHORT_MESSAGE_PASSAGES;
    let is_at_edge = |at: usize| at < EDGE_PASSAGES || at + EDGE_PASSAGES >= passages.len();
    let mut told = text.to_owned();
    let mut asked = Vec::new();
    for (at, passage) in passages.iter().enumerate() {
        let asks = is_asking(&passage.text) || (passages.len() == 1 && is_set_phrase(&passage.text));
        if (is_short || is_at_edge(at)) && asks {
            // Text that was wrapped is not found again; then the sentence is both asked and told, which does no harm.
            told = told.replacen(&passage.text, "", 1);
            asked.push(passage.text.clone());
        } else if passages.len() > 1 && at == 0 && is_lead(&passage.text) {
            let (lead, _) = passage.text.split_once(':').unwrap_or((&passage.text, ""));
            told = told.replacen(&format!("{lead}:"), "", 1);
            asked.push(lead.to_owned());
        }
    }
    (asked, told)
}

/// A request followed by a colon and what it is about, such as “Summarize this: …”.
fn is_lead(sentence: &str) -> bool {
    sentence.split_once(':').is_some_and(|(lead, _)| is_asking(lead) && lead.len() < 80)
}

/// Whether a message that neither asks nor tells wants a set answer.
fn is_set_phrase(text: &str) -> bool {
    use super::intent::{Intent, intent};
    !matches!(intent(text), Intent::Statement | Intent::Question)
}
