//! Events over HTTP: server-sent, each with the place to go on from.

use std::convert::Infallible;

use axum::Extension;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event as SseEvent, KeepAlive, Sse};
use futures::{Stream, StreamExt as _};
use serde::{Deserialize, Serialize};
use skein_core::garden::cursor::{BadCursor, Cursor};
use skein_core::{ItemId, Millis, OperationId};
use skein_engine::Engine;
use skein_engine::garden::events::WatchEvent;
use skein_store::StoreError;
use skein_store::timeline::follow::StoredEvent;
use tokio_stream::wrappers::ReceiverStream;
use utoipa::{IntoParams, ToSchema};

use crate::http::auth::authentication::SignedIn;
use crate::http::error::ApiError;
use crate::http::extract::query::Parameters;
use crate::http::listen::Peer;

const LAST_EVENT_ID: &str = "last-event-id";

/// What the `data` of an event says. Its `id` is the cursor to go on from.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventView {
    /// One of the names listed in this document.
    #[schema(example = "item.appended")]
    event: &'static str,
    #[schema(value_type = String, example = "0.42")]
    cursor: Cursor,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    at: Millis,
    /// The fact the event was read off.
    #[schema(value_type = String)]
    item_id: ItemId,
    /// The id of what it is about: an item, a record, a relation, a key, an operation.
    #[schema(example = "item_01K9ZQ4T3V6M8N2P5R7W1X3Y5Z")]
    subject: String,
    /// An item's or a record's type.
    subject_type: Option<String>,
}

/// The `data` of `operation.progress`, which has no `id` and is not told again.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgressView {
    #[schema(value_type = String)]
    operation_id: OperationId,
    /// Percent done.
    #[schema(example = 40)]
    progress: i64,
}

/// The `data` of `resync`: too much happened since, read the state anew and go on from here.
#[derive(Serialize, ToSchema)]
pub(crate) struct ResyncView {
    #[schema(value_type = String, example = "0.42")]
    cursor: Cursor,
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct EventParameters {
    /// Where to go on from, for clients that cannot send `Last-Event-ID`; without either, from now on.
    after: Option<String>,
}

/// What happens to your things, as it happens.
#[utoipa::path(get, path = "/events", tag = "events",
    params(EventParameters, ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last event seen")),
    responses((status = 200, content_type = "text/event-stream", body = EventView)))]
pub(crate) async fn watch_events(
    State(engine): State<Engine>,
    SignedIn(caller): SignedIn,
    Parameters(parameters): Parameters<EventParameters>,
    visitor: Option<Extension<Peer>>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<SseEvent, Infallible>>>, ApiError> {
    let last = headers.get(LAST_EVENT_ID).and_then(|id| id.to_str().ok()).map(str::to_owned);
    let after = last.or(parameters.after).map(|text| text.parse()).transpose();
    let after = after.map_err(|bad: BadCursor| StoreError::Cursor(bad))?;
    let tellings = engine.watch(&caller, after).await?;
    let events = ReceiverStream::new(tellings).map(|telling| Ok(sse_event(telling)));
    // A stream has no end of its own: a server that stops must not wait for it.
    let events = events.take_until(async move {
        match visitor.and_then(|Extension(visitor)| visitor.stopping()) {
            Some(mut stopping) => stopping.begun().await,
            None => std::future::pending().await,
        }
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

fn sse_event(telling: WatchEvent) -> SseEvent {
    let event = match &telling {
        WatchEvent::Event(told) => SseEvent::default().id(told.cursor.to_string()).event(told.event.name.as_str()),
        WatchEvent::Resync(cursor) => SseEvent::default().id(cursor.to_string()).event("resync"),
        WatchEvent::Progress { .. } => SseEvent::default().event("operation.progress"),
    };
    let written = match telling {
        WatchEvent::Event(told) => event.json_data(view(told)),
        WatchEvent::Resync(cursor) => event.json_data(ResyncView { cursor }),
        WatchEvent::Progress { operation, percent } => {
            event.json_data(ProgressView { operation_id: operation, progress: percent })
        }
    };
    written.expect("these views are plain JSON without line breaks")
}

fn view(told: StoredEvent) -> EventView {
    let StoredEvent { cursor, at, item, event } = told;
    EventView {
        event: event.name.as_str(),
        cursor,
        at,
        item_id: item,
        subject: event.subject,
        subject_type: event.subject_type,
    }
}
