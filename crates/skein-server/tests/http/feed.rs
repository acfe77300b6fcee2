//! Events as a client meets them: server-sent, read off the body piece by piece.

use std::time::Duration;

use axum::body::{Body, BodyDataStream};
use axum::http::StatusCode;
use axum::http::request::Builder;
use futures::StreamExt as _;
use serde_json::Value;

use crate::contract::check_event;
use crate::server_fixture::ServerFixture;

/// How long the next event may take before the test fails.
const DEADLINE: Duration = Duration::from_secs(30);

/// One event as it was written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FeedEvent {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// A stream that is being watched.
pub(crate) struct Feed {
    stream: BodyDataStream,
    unread: String,
    /// Whether these are the events of the timeline, and not what a model says.
    tells_events: bool,
}

impl Feed {
    /// Watches `path`, with `Last-Event-ID` where one is given.
    pub(crate) async fn open(world: &ServerFixture, path: &str, last: Option<&str>) -> Self {
        let request = world.request("GET", path);
        Self::of(world, last.into_iter().fold(request, |request, last| request.header("last-event-id", last))).await
    }

    pub(crate) async fn of(world: &ServerFixture, request: Builder) -> Self {
        let request = request.body(Body::empty()).unwrap();
        let tells_events = request.uri().path() == "/api/v1/events";
        let response = world.begin(request).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self { stream: response.into_body().into_data_stream(), unread: String::new(), tells_events }
    }

    /// Everything from the beginning of the timeline.
    pub(crate) async fn whole(world: &ServerFixture) -> Self {
        Self::open(world, "/api/v1/events", Some("0.0")).await
    }

    pub(crate) async fn next(&mut self) -> FeedEvent {
        loop {
            if let Some((block, rest)) = self.unread.split_once("\n\n") {
                let (heard, rest) = (read(block), rest.to_owned());
                self.unread = rest;
                match heard {
                    Some(heard) => {
                        if self.tells_events {
                            check_event(&heard.name, &heard.data);
                        }
                        return heard;
                    }
                    // A comment keeps the connection alive.
                    None => continue,
                }
            }
            let piece = tokio::time::timeout(DEADLINE, self.stream.next()).await.expect("an event comes in time");
            self.unread.push_str(std::str::from_utf8(&piece.expect("the stream goes on").unwrap()).unwrap());
        }
    }

    pub(crate) async fn take(&mut self, count: usize) -> Vec<FeedEvent> {
        let mut heard = Vec::new();
        while heard.len() < count {
            heard.push(self.next().await);
        }
        heard
    }

    /// Everything up to the first event that fits, which is the last one given back.
    pub(crate) async fn until(&mut self, fits: impl Fn(&FeedEvent) -> bool) -> Vec<FeedEvent> {
        let mut heard = vec![self.next().await];
        while !heard.last().is_some_and(&fits) {
            heard.push(self.next().await);
        }
        heard
    }
}

impl Feed {
    /// Waits for the end of the stream; gives back what was told before.
    pub(crate) async fn rest(mut self) -> String {
        while let Some(piece) = tokio::time::timeout(DEADLINE, self.stream.next()).await.expect("it ends in time") {
            self.unread.push_str(std::str::from_utf8(&piece.unwrap()).unwrap());
        }
        self.unread
    }
}

fn read(block: &str) -> Option<FeedEvent> {
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name)).map(|text| text.trim().to_owned());
    let (id, name, data) = (field("id:"), field("event:")?, field("data:")?);
    Some(FeedEvent { id, name, data: serde_json::from_str(&data).unwrap() })
}

/// The names, in their order.
pub(crate) fn names(heard: &[FeedEvent]) -> Vec<&str> {
    heard.iter().map(|heard| heard.name.as_str()).collect()
}
