//! One call of a tool, for good: the call, written before it is made, and its result, written after (decision Z12).
//!
//! A call without a result is one that was begun and whose end nobody saw. Both are items of the caller, joined
//! by a `result_of` relation. An output that is larger than a document is an item of its own that the result names.

use serde_json::{Map, Value, json};

use crate::canonical::{self, Escape};
use crate::flow::authorization::CallAuthorization;
use crate::flow::cost::Cost;
use crate::garden::item::{BadItem, ItemDraft, ItemType};
use crate::id::{ItemId, RecordId, UserId};
use crate::ravens::input_hash;

/// Longest reason of a call, in characters.
pub const CONTEXT_CHARS_MAX: usize = 1_000;
/// How much of a provider's own name for an answer is kept, in characters.
const RESPONSE_ID_CHARS_MAX: usize = 200;

/// Who asked for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallRequester {
    Person,
    Model,
    Process,
    External,
}

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub tool: RecordId,
    /// The version of the tool's record, so that what ran can be read again.
    pub tool_version: i64,
    /// What kind of operation it is: `rest_call`, `llm_call` …
    pub operation: String,
    pub inputs: Map<String, Value>,
    pub asker: CallRequester,
    /// Why, in words.
    pub context: String,
    /// The conversation, else the execution, else what stands for them.
    pub session: String,
    /// Its place in the session, from 1.
    pub sequence: i64,
    pub predecessor: Option<ItemId>,
    pub tags: Vec<String>,
    pub authorization: CallAuthorization,
}

impl ToolCall {
    /// The tool of a call that was recorded, and whose things it used.
    pub fn stood_on(document: &Map<String, Value>) -> Option<(RecordId, CallAuthorization)> {
        let read = |value: &Value| value.as_str().map(str::to_owned);
        let user = |value: &Value| read(value)?.parse::<UserId>().ok();
        let owners = document.get("owners")?;
        let secret = document.get("secretId").and_then(read).and_then(|id| id.parse().ok());
        let authorization = CallAuthorization {
            executor: user(document.get("executorId")?)?,
            tool_owner: user(owners.get("tool")?)?,
            service_owner: user(owners.get("service")?)?,
            secret: secret.zip(owners.get("secret").and_then(user)),
            payer: user(document.get("payerId")?)?,
        };
        Some((read(document.get("toolId")?)?.parse().ok()?, authorization))
    }

    /// Refuses inputs that are larger than a document.
    pub fn to_draft(&self) -> Result<ItemDraft, BadItem> {
        let CallAuthorization { executor, tool_owner, service_owner, secret, payer } = self.authorization;
        let inputs = Value::Object(self.inputs.clone());
        let document = json!({
            "toolId": self.tool,
            "toolVersion": self.tool_version,
            "operation": self.operation,
            "inputHash": input_hash(&inputs),
            "inputs": inputs,
            "caller": self.asker,
            "context": self.context.chars().take(CONTEXT_CHARS_MAX).collect::<String>(),
            "sessionId": self.session,
            "sequence": self.sequence,
            "predecessor": self.predecessor,
            "tags": self.tags,
            "executorId": executor,
            "owners": { "tool": tool_owner, "service": service_owner, "secret": secret.map(|(_, owner)| owner) },
            "secretId": secret.map(|(id, _)| id),
            "payerId": payer,
        });
        checked(ItemType::TOOL_CALL, document)
    }
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    Success,
    Error,
    Cancelled,
    /// It was begun, and nobody saw its end.
    Unknown,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    pub call: ItemId,
    pub status: CallStatus,
    pub output: Value,
    /// The item that holds the output in place of this one, when it is larger than a document.
    pub output_in: Option<ItemId>,
    /// What went wrong, for people and programs.
    pub error: Option<Value>,
    pub latency_ms: i64,
    /// Tokens, where there were any.
    pub usage: Option<Value>,
    /// Where it is known.
    pub cost: Option<Cost>,
    /// Whether a secret was taken out of what came back.
    pub scrubbed: bool,
    /// The item that holds what a model answered, as it was received.
    pub raw_response: Option<ItemId>,
    /// What a model's provider calls its answer.
    pub response_id: Option<String>,
}

impl ToolResult {
    /// Refuses outputs that are larger than a document.
    pub fn to_draft(&self) -> Result<ItemDraft, BadItem> {
        let mut document = json!({
            "callId": self.call,
            "status": self.status,
            "output": self.output,
            "error": self.error,
            "latencyMs": self.latency_ms,
            "usage": self.usage,
            "cost": self.cost,
            "scrubbed": self.scrubbed,
        });
        if let Some(item) = self.output_in {
            document["outputId"] = json!(item);
        }
        if let Some(id) = &self.response_id {
            document["responseId"] = json!(id.chars().take(RESPONSE_ID_CHARS_MAX).collect::<String>());
        }
        if let Some(item) = self.raw_response {
            document["rawResponseId"] = json!(item);
        }
        checked(ItemType::TOOL_RESULT, document)
    }
}

/// An output that is too large for a result: its canonical JSON as raw bytes.
pub fn large_output(output: &Value) -> Result<ItemDraft, BadItem> {
    crate::document::check(output)?;
    ItemDraft::recorded_raw(ItemType::TOOL_OUTPUT, canonical::to_string(output, Escape::Unicode).into_bytes())
}

fn checked(item_type: ItemType, document: Value) -> Result<ItemDraft, BadItem> {
    crate::document::check(&document)?;
    let Value::Object(document) = document else { unreachable!("an object stays an object") };
    ItemDraft::recorded_within_limits(item_type, &document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::garden::event::{EventName, event_of};
    use crate::id::UserId;
    use crate::time::Millis;

    const ANNA: UserId = UserId::from_bytes([1; 16]);
    const BERT: UserId = UserId::from_bytes([2; 16]);

    fn call(inputs: Map<String, Value>) -> ToolCall {
        let (tool, secret) = (RecordId::from_bytes([3; 16]), RecordId::from_bytes([4; 16]));
        ToolCall {
            tool,
            tool_version: 2,
            operation: "rest_call".to_owned(),
            inputs,
            asker: CallRequester::Person,
            context: "a test".to_owned(),
            session: "op_1".to_owned(),
            sequence: 1,
            predecessor: None,
            tags: Vec::new(),
            authorization: CallAuthorization {
                executor: BERT,
                tool_owner: ANNA,
                service_owner: ANNA,
                secret: Some((secret, ANNA)),
                payer: ANNA,
            },
        }
    }

    fn told(draft: ItemDraft) -> (Map<String, Value>, Option<EventName>) {
        let item = draft.realize(ItemId::from_bytes([9; 16]), BERT, Millis(5));
        (item.document().unwrap(), event_of(&item).map(|event| event.name))
    }

    #[test]
    fn a_call_says_who_asked_whose_things_were_used_and_who_pays() {
        let inputs = Map::from_iter([("query".to_owned(), json!("quarterly report"))]);
        let (document, event) = told(call(inputs).to_draft().unwrap());
        assert_eq!(document["inputHash"], "0c1d95ddc3184642");
        assert_eq!(document["executorId"], json!(BERT));
        assert_eq!((&document["payerId"], &document["owners"]["tool"]), (&json!(ANNA), &json!(ANNA)));
        assert_eq!(event, Some(EventName::ToolCallRequested));
    }

    #[test]
    fn a_result_is_told_by_how_it_ended() {
        let call = ItemId::from_bytes([7; 16]);
        let result = |status| ToolResult {
            call,
            status,
            output: Value::Null,
            output_in: None,
            error: None,
            latency_ms: 3,
            usage: None,
            cost: None,
            scrubbed: false,
            raw_response: None,
            response_id: None,
        };
        let event = |status| told(result(status).to_draft().unwrap()).1;
        assert_eq!(event(CallStatus::Success), Some(EventName::ToolCalled));
        assert_eq!(event(CallStatus::Unknown), Some(EventName::ToolCallFailed));
    }

    #[test]
    fn a_large_output_is_raw_bytes_of_its_own_up_to_their_limit() {
        let text = |bytes: usize| json!({ "b": 1, "a": "x".repeat(bytes) });
        let item = large_output(&text(2 << 20)).unwrap().realize(ItemId::from_bytes([9; 16]), BERT, Millis(5));
        let payload = item.payload.as_ref().unwrap();
        assert!(payload.bytes().starts_with(b"{\"a\":\"xx") && payload.bytes().ends_with(b"x\",\"b\":1}"));
        assert_eq!((item.document(), event_of(&item)), (None, None));
        assert!(matches!(large_output(&text(16 << 20)), Err(BadItem::RawTooLarge { .. })));
        assert!(matches!(large_output(&json!({ "a": "\0" })), Err(BadItem::Document(_))));
    }

    #[test]
    fn what_is_larger_than_a_document_is_refused() {
        let inputs = Map::from_iter([("text".to_owned(), json!("x".repeat(2 << 20)))]);
        assert!(matches!(call(inputs).to_draft(), Err(BadItem::Document(_))));
    }
}
