//! Turns the bytes of a response into events and an answer, as they come.
//!
//! Pure: bytes are pushed in, in pieces of any size, and the outcome does not depend on where they were cut. Everything
//! received is kept for the raw response, of a broken stream too. Start at [`AnswerReader::push`].

use std::borrow::Cow;

use serde_json::Value;

use super::answer_assembly::AnswerAssembly;
use super::chat::{ChatAnswer, ChatEvent, ChatFailure, ChatRequest, Dialect, RawResponse};
use super::dialect::{Piece, read_body, read_event};
use super::fault::{LlmFault, StreamBreak};
use super::refusal;
use super::sse::{Event, Events};
use crate::credential::{MARK, ScrubStream, Scrubber};

/// How much of a response is read and kept, in bytes.
pub const RESPONSE_BYTES_MAX: usize = 16 * 1024 * 1024;

#[derive(Debug)]
pub struct AnswerReader {
    dialect: Dialect,
    model: String,
    asked_tokens: u64,
    status: u16,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
    scrub: ScrubStream,
    /// Whether a header held a secret.
    is_head_scrubbed: bool,
    shape: Shape,
    draft: AnswerAssembly,
}

/// How the body comes.
#[derive(Debug)]
enum Shape {
    /// Not told by its type: its first byte will.
    Unknown,
    /// As one document, read at its end.
    Whole,
    /// As events.
    Stream(Events),
}

impl AnswerReader {
    /// Begins with the head of the response; names of headers are in lower case. What the scrubber knows is replaced
    /// before anything else is done with what comes.
    pub fn new(
        dialect: Dialect,
        request: &ChatRequest,
        status: u16,
        mut headers: Vec<(String, String)>,
        scrubber: &Scrubber,
    ) -> Self {
        let shape = shape_of(status, &headers);
        let mut is_head_scrubbed = false;
        for (_, value) in &mut headers {
            if let Cow::Owned(scrubbed) = scrubber.text(value) {
                (*value, is_head_scrubbed) = (scrubbed, true);
            }
        }
        Self {
            dialect,
            model: request.model.clone(),
            asked_tokens: request.estimated_tokens(),
            status,
            headers,
            body: Vec::new(),
            scrub: scrubber.stream(),
            is_head_scrubbed,
            shape,
            draft: AnswerAssembly::new(scrubber),
        }
    }

    /// How much of the body is kept so far.
    pub(super) fn kept_bytes(&self) -> usize {
        self.body.len()
    }

    /// Takes more of the body and adds the events it completes; those before a fault count. After a fault only
    /// [`AnswerReader::fail`] makes sense.
    pub fn push(&mut self, piece: &[u8], given: &mut Vec<ChatEvent>) -> Result<(), LlmFault> {
        let piece = self.scrub.push(piece);
        self.take_clean(&piece, given)
    }

    fn take_clean(&mut self, piece: &[u8], given: &mut Vec<ChatEvent>) -> Result<(), LlmFault> {
        let room = RESPONSE_BYTES_MAX - self.body.len();
        let is_too_much = piece.len() > room;
        self.body.extend_from_slice(&piece[..piece.len().min(room)]);
        if is_too_much {
            return Err(LlmFault::TooLarge { limit: RESPONSE_BYTES_MAX });
        }
        if matches!(self.shape, Shape::Unknown) {
            return self.decide_shape(given);
        }
        self.read(piece, given)
    }

    /// Ends the body. What is given last is the answer.
    pub fn finish(mut self) -> Result<(Vec<ChatEvent>, ChatAnswer), ChatFailure> {
        let mut given = Vec::new();
        let rest = self.scrub.finish();
        let outcome = self.take_clean(&rest, &mut given).and_then(|()| self.finish_reading(&mut given));
        given.extend(self.draft.finish());
        match outcome {
            Ok(()) => Ok((given, self.into_answer(true))),
            Err(fault) => Err(self.fail(fault)),
        }
    }

    /// Gives up: the failure carries what had come by then.
    pub fn fail(mut self, fault: LlmFault) -> ChatFailure {
        let rest = self.scrub.finish();
        let room = RESPONSE_BYTES_MAX - self.body.len();
        self.body.extend_from_slice(&rest[..rest.len().min(room)]);
        let _ = self.draft.finish();
        ChatFailure { fault, so_far: Some(Box::new(self.into_answer(false))) }
    }

    /// Gives up because the connection did.
    pub fn lost(self, why: String) -> ChatFailure {
        self.fail(LlmFault::BrokenStream(StreamBreak::Lost(why)))
    }

    fn decide_shape(&mut self, given: &mut Vec<ChatEvent>) -> Result<(), LlmFault> {
        let Some(first) = self.body.iter().find(|byte| !byte.is_ascii_whitespace()) else { return Ok(()) };
        self.shape = match first {
            b'{' | b'[' | b'<' => Shape::Whole,
            _ => Shape::Stream(Events::default()),
        };
        let so_far = std::mem::take(&mut self.body);
        let outcome = self.read(&so_far, given);
        self.body = so_far;
        outcome
    }

    fn read(&mut self, piece: &[u8], given: &mut Vec<ChatEvent>) -> Result<(), LlmFault> {
        let Shape::Stream(events) = &mut self.shape else { return Ok(()) };
        let found = events.push(piece);
        found.iter().try_for_each(|event| self.read_event(event, given))
    }

    fn read_event(&mut self, event: &Event, given: &mut Vec<ChatEvent>) -> Result<(), LlmFault> {
        let pieces = read_event(self.dialect, event)?;
        self.take(pieces, given)
    }

    fn take(&mut self, pieces: Vec<Piece>, given: &mut Vec<ChatEvent>) -> Result<(), LlmFault> {
        for piece in pieces {
            if let Piece::Error(error) = piece {
                return Err(self.reported(&error));
            }
            given.extend(self.draft.take(piece));
        }
        Ok(())
    }

    /// An error told inside the response: a refusal, or a break when part of the answer was given out already.
    fn reported(&self, error: &Value) -> LlmFault {
        let fault = refusal::from_event(error, &self.raw(), &self.model);
        if self.draft.has_begun() { LlmFault::BrokenStream(StreamBreak::Reported(Box::new(fault))) } else { fault }
    }

    fn finish_reading(&mut self, given: &mut Vec<ChatEvent>) -> Result<(), LlmFault> {
        if !(200..300).contains(&self.status) {
            return Err(refusal::from_response(&self.raw(), &self.model));
        }
        match std::mem::replace(&mut self.shape, Shape::Whole) {
            Shape::Stream(events) => self.finish_stream(events, given)?,
            Shape::Whole => self.finish_document(given)?,
            Shape::Unknown => return Err(LlmFault::not_understood("the response is empty")),
        }
        self.require_content()
    }

    fn finish_stream(&mut self, events: Events, given: &mut Vec<ChatEvent>) -> Result<(), LlmFault> {
        let last = events.finish().map_or(Ok(()), |event| self.read_event(&event, given));
        match last {
            // A stream that was cut ends in half an event.
            Err(LlmFault::NotUnderstood(_)) => Err(LlmFault::BrokenStream(StreamBreak::EndedEarly)),
            Ok(()) if !self.draft.has_ended() => Err(LlmFault::BrokenStream(StreamBreak::EndedEarly)),
            other => other,
        }
    }

    fn finish_document(&mut self, given: &mut Vec<ChatEvent>) -> Result<(), LlmFault> {
        let value = serde_json::from_slice::<Value>(&self.body).map_err(|error| {
            let start = self.body.iter().find(|byte| !byte.is_ascii_whitespace());
            let problem = if start == Some(&b'<') { "a web page came instead".to_owned() } else { error.to_string() };
            LlmFault::not_understood(format!("it is no JSON ({problem})"))
        })?;
        self.take(read_body(self.dialect, &value), given)
    }

    fn require_content(&self) -> Result<(), LlmFault> {
        if self.draft.has_begun() || (self.draft.holds_anything() && self.draft.has_ended()) {
            return Ok(());
        }
        Err(LlmFault::not_understood("it holds no answer in the form of this API"))
    }

    fn raw(&self) -> RawResponse {
        let (status, headers) = (self.status, self.headers.clone());
        RawResponse { status, headers, body: self.clean_body(self.body.clone()).into(), scrubbed: self.is_scrubbed() }
    }

    /// A secret that a stream tells in pieces stands in no one place of the body: then none of the body is kept.
    fn clean_body(&self, body: Vec<u8>) -> Vec<u8> {
        if self.draft.is_scrubbed() { MARK.as_bytes().to_vec() } else { body }
    }

    fn is_scrubbed(&self) -> bool {
        self.is_head_scrubbed || self.scrub.has_found() || self.draft.is_scrubbed()
    }

    fn into_answer(mut self, is_whole: bool) -> ChatAnswer {
        let (headers, body) = (std::mem::take(&mut self.headers), std::mem::take(&mut self.body));
        let body = self.clean_body(body).into();
        let raw = RawResponse { status: self.status, headers, body, scrubbed: self.is_scrubbed() };
        self.draft.into_answer(&self.model, self.asked_tokens, raw, is_whole)
    }
}

fn shape_of(status: u16, headers: &[(String, String)]) -> Shape {
    let content_type = headers.iter().find(|(name, _)| name == "content-type").map_or("", |(_, value)| value);
    match content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
        _ if !(200..300).contains(&status) => Shape::Whole,
        "text/event-stream" => Shape::Stream(Events::default()),
        "application/json" | "text/html" => Shape::Whole,
        _ => Shape::Unknown,
    }
}

#[cfg(test)]
mod tests;
