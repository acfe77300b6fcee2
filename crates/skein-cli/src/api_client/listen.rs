//! Reads the event stream of a server piece by piece.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use futures::StreamExt as _;
use serde_json::Value;

use crate::api_client::{ApiCall, ApiClient, ApiFailure, Transfer};
use crate::failure::Failure;

/// Longer lines are none that a Skein server sends.
const LINE_BYTES_MAX: usize = 64 << 20;

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// What was heard within a moment.
#[derive(Debug, PartialEq)]
pub(crate) enum StreamEvent {
    Event(Event),
    /// Nothing yet.
    Silence,
    /// Nothing more on this connection.
    End,
}

/// A stream that is being listened to.
pub(crate) struct EventStream {
    chunks: BodyDataStream,
    lines: Lines,
}

impl ApiClient {
    pub(crate) fn listen(&self, ask: &ApiCall) -> Result<EventStream, Failure> {
        let response = self.runtime.block_on(self.persist(ask, Transfer::From))?;
        Ok(EventStream { chunks: Body::into_data_stream(response.into_body()), lines: Lines::default() })
    }

    /// The next event, if one comes within a moment. A connection that breaks ends like one that is closed.
    pub(crate) fn hear(&self, listening: &mut EventStream, moment: Duration) -> Result<StreamEvent, Failure> {
        let hear = async {
            loop {
                if let Some(event) = listening.lines.next_event() {
                    return Ok(StreamEvent::Event(event));
                }
                match listening.chunks.next().await {
                    Some(Ok(chunk)) => listening.lines.push(&chunk),
                    Some(Err(_)) | None => return Ok(StreamEvent::End),
                }
                if listening.lines.unread.len() > LINE_BYTES_MAX {
                    return Err(self.broken(ApiFailure::CutOff("it says too much at once".to_owned())));
                }
            }
        };
        let heard = self.runtime.block_on(async { tokio::time::timeout(moment, hear).await });
        heard.unwrap_or(Ok(StreamEvent::Silence))
    }
}

/// What has arrived and is not yet an event.
#[derive(Default)]
struct Lines {
    unread: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        self.unread.extend_from_slice(bytes);
    }

    /// Events end with an empty line; comments, which keep a connection alive, are passed over.
    fn next_event(&mut self) -> Option<Event> {
        loop {
            let end = self.unread.windows(2).position(|pair| pair == b"\n\n")?;
            let block: Vec<u8> = self.unread.drain(..end + 2).collect();
            if let Some(event) = parse(&String::from_utf8_lossy(&block)) {
                return Some(event);
            }
        }
    }
}

fn parse(block: &str) -> Option<Event> {
    let (mut id, mut name, mut data) = (None, String::new(), String::new());
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => id = Some(value.to_owned()),
            "event" => value.clone_into(&mut name),
            "data" => data.push_str(value),
            _ => {}
        }
    }
    let data = serde_json::from_str(&data).ok()?;
    Some(Event { id, name, data })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn events_are_heard_however_they_are_cut() {
        let stream =
            b": alive\n\nid: 1\nevent: text\ndata: {\"text\":\"two\\nlines\"}\n\nevent: end\ndata: {}\n\nid: 3";
        for size in 1..stream.len() {
            let (mut lines, mut heard) = (Lines::default(), Vec::new());
            for chunk in stream.chunks(size) {
                lines.push(chunk);
                heard.extend(std::iter::from_fn(|| lines.next_event()));
            }
            let first =
                Event { id: Some("1".to_owned()), name: "text".to_owned(), data: json!({ "text": "two\nlines" }) };
            assert_eq!(heard, [first, Event { id: None, name: "end".to_owned(), data: json!({}) }], "{size}");
        }
    }
}
