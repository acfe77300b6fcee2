//! Spans as OTLP/HTTP spells them in JSON: ids in hexadecimal, whole numbers of 64 bits as texts.
//!
//! Written out here instead of taken from the OpenTelemetry crates: those want to own the clock, the ids and the queue, which
//! a trace that is told from a store has already.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use skein_core::Millis;
use skein_core::flow::telemetry::conventions::SCHEMA_URL;
use skein_core::flow::telemetry::{Attribute, Span, SpanKind, SpanStatus};

const NANOS_PER_MILLI: i128 = 1_000_000;
const KIND_INTERNAL: u8 = 1;
const KIND_CLIENT: u8 = 3;
const STATUS_ERROR: u8 = 2;

/// Who tells.
#[derive(Debug, Clone)]
pub(super) struct Resource {
    pub(super) version: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Request<'a> {
    resource_spans: [ResourceSpans<'a>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResourceSpans<'a> {
    resource: Value,
    scope_spans: [ScopeSpans<'a>; 1],
    schema_url: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ScopeSpans<'a> {
    scope: Value,
    spans: Vec<SpanTold<'a>>,
    schema_url: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpanTold<'a> {
    trace_id: String,
    span_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_span_id: Option<String>,
    name: &'a str,
    kind: u8,
    start_time_unix_nano: String,
    end_time_unix_nano: String,
    attributes: Vec<Value>,
    status: Value,
}

/// The body of a request that tells these spans.
pub(super) fn request(resource: &Resource, spans: &[Span]) -> Vec<u8> {
    let version = &resource.version;
    let of_resource = [("service.name", "skein"), ("service.version", version)];
    let attributes: Vec<Value> =
        of_resource.iter().map(|(key, text)| json!({ "key": key, "value": { "stringValue": text } })).collect();
    let scope_spans = ScopeSpans {
        scope: json!({ "name": "skein", "version": version }),
        spans: spans.iter().map(told).collect(),
        schema_url: SCHEMA_URL,
    };
    let resource = json!({ "attributes": attributes });
    let resource_spans = [ResourceSpans { resource, scope_spans: [scope_spans], schema_url: SCHEMA_URL }];
    serde_json::to_vec(&Request { resource_spans }).expect("spans are plain JSON")
}

fn told(span: &Span) -> SpanTold<'_> {
    SpanTold {
        trace_id: hex(&span.trace_id),
        span_id: hex(&span.id),
        parent_span_id: span.parent.as_ref().map(|id| hex(id)),
        name: &span.name,
        kind: match span.kind {
            SpanKind::Internal => KIND_INTERNAL,
            SpanKind::Client => KIND_CLIENT,
        },
        start_time_unix_nano: nanos(span.began_at),
        end_time_unix_nano: nanos(span.ended_at),
        attributes: span.attributes.iter().map(|(key, value)| json!({ "key": key, "value": any(value) })).collect(),
        status: match &span.status {
            SpanStatus::Unset => json!({}),
            SpanStatus::Error(None) => json!({ "code": STATUS_ERROR }),
            SpanStatus::Error(Some(words)) => json!({ "code": STATUS_ERROR, "message": words }),
        },
    }
}

fn any(value: &Attribute) -> Value {
    match value {
        Attribute::Text(text) => json!({ "stringValue": text }),
        Attribute::Whole(number) => json!({ "intValue": number.to_string() }),
        Attribute::Real(number) => json!({ "doubleValue": number }),
        Attribute::Truth(truth) => json!({ "boolValue": truth }),
        Attribute::Texts(texts) => {
            let values: Vec<Value> = texts.iter().map(|text| json!({ "stringValue": text })).collect();
            json!({ "arrayValue": { "values": values } })
        }
    }
}

/// There is no time before 1970 in OTLP.
fn nanos(moment: Millis) -> String {
    (i128::from(moment.0.max(0)) * NANOS_PER_MILLI).to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
