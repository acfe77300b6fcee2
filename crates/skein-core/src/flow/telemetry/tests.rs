//! Runs as spans: one that talks to a model with tools, and one that fails in a run below.

use serde_json::json;

use super::*;
use crate::catalog::entry::Entry as _;
use crate::catalog::service::Builtin;
use crate::catalog::tool::Tool;

const RUN: ExecutionId = ExecutionId::from_bytes([7; 16]);
const CHILD: ExecutionId = ExecutionId::from_bytes([8; 16]);
const PROCESS: RecordId = RecordId::from_bytes([9; 16]);

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(fields) = value else { unreachable!() };
    fields
}

fn tool(name: &str, operation: &Value, params: &Value) -> Tool {
    let tool = json!({ "name": name, "serviceId": PROCESS, "connectionParams": params, "operation": operation,
        "inputSchema": {}, "outputSchema": {}, "enabled": true, "definitionVersion": 1 });
    Tool::from_data(&object(tool)).unwrap()
}

fn model() -> ToolTrace {
    let params = json!({ "endpoint": "https://api.openai.com/v1?key=sk-secret", "dialect": "openai", "model": "gpt-4.1",
        "temperature": 0.5, "maxTokens": 300 });
    ToolTrace::of(&tool("Writer", &json!({ "type": "llm_call", "promptTemplate": "Hi" }), &params), None)
}

fn echo() -> ToolTrace {
    let operation = json!({ "type": "mcp_tool", "tool": "echo", "arguments": {} });
    ToolTrace::of(&tool("Echo", &operation, &json!({})), Some(Builtin::Abilities))
}

fn call(number: u8, tool: ToolTrace, caller: &str, result: Value) -> CallTrace {
    CallTrace {
        id: ItemId::from_bytes([number; 16]),
        step: 0,
        at: Millis(1_000 + i64::from(number)),
        said: object(json!({ "caller": caller, "inputs": { "value": "pancakes" }, "secretId": "entity_1" })),
        tool,
        result: Some((Millis(1_010 + i64::from(number)), object(result))),
    }
}

fn answered(finish: &str, id: &str) -> Value {
    json!({ "status": "success", "output": { "text": "pancakes", "finish": finish, "model": "gpt-4.1-2025" },
        "responseId": id, "usage": { "inputTokens": 7, "outputTokens": 5, "isEstimate": false },
        "cost": { "payerId": crate::id::UserId::from_bytes([1; 16]), "currency": "USD", "amount": "0.0045" } })
}

fn step(id: &str, phase: Phase) -> StepTrace {
    let (began_at, ended_at) = (Some(Millis(1_000)), Some(Millis(1_100)));
    StepTrace { id: id.to_owned(), phase, attempts: 1, fault: None, began_at, ended_at }
}

/// A model asks for a tool, is told what it gave, and answers.
fn chat() -> ExecutionTrace {
    ExecutionTrace {
        id: RUN,
        process: PROCESS,
        process_name: "Cook".to_owned(),
        process_version: 3,
        conversation: Some(ConversationId::from_bytes([4; 16])),
        status: ExecutionStatus::Completed,
        fault: None,
        tokens: 24,
        began_at: Millis(1_000),
        ended_at: Some(Millis(1_200)),
        started_by: None,
        steps: vec![step("answer", Phase::Done), StepTrace { began_at: None, ..step("never", Phase::Skipped) }],
        calls: vec![
            call(1, model(), "process", answered("tool_calls", "c1")),
            call(2, echo(), "model", json!({ "status": "success", "output": { "value": "pancakes" } })),
            call(3, model(), "process", answered("stop", "c2")),
        ],
        children: Vec::new(),
    }
}

/// A run below fails because its model refuses.
fn failing() -> ExecutionTrace {
    let fault = Fault::new("llm_rate_limited", "too many pancakes");
    let error = json!({ "status": "error", "error": { "code": "llm_rate_limited", "message": "too many pancakes" } });
    let child = ExecutionTrace {
        id: CHILD,
        status: ExecutionStatus::Failed,
        fault: Some(fault.clone()),
        started_by: Some(0),
        steps: vec![StepTrace { fault: Some(fault.clone()), ..step("ask", Phase::Failed) }],
        calls: vec![
            call(1, model(), "process", error),
            CallTrace { result: None, ..call(2, echo(), "process", json!({})) },
        ],
        ..chat()
    };
    let steps = vec![StepTrace { fault: Some(fault.clone()), ..step("below", Phase::Failed) }];
    ExecutionTrace {
        status: ExecutionStatus::Failed,
        fault: Some(fault),
        steps,
        calls: Vec::new(),
        children: vec![child],
        ..chat()
    }
}

fn attribute<'a>(span: &'a Span, name: &str) -> Option<&'a Attribute> {
    span.attributes.iter().find(|(found, _)| *found == name).map(|(_, value)| value)
}

fn text<'a>(span: &'a Span, name: &str) -> &'a str {
    match attribute(span, name) {
        Some(Attribute::Text(text)) => text,
        other => panic!("{name} of {}: {other:?}", span.name),
    }
}

#[test]
fn a_run_its_steps_and_its_calls_are_spans_one_below_the_other() {
    let spans = spans(&chat(), TracedContent::LeftOut);
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(names, ["invoke_agent Cook", "step answer", "chat gpt-4.1", "execute_tool Echo", "chat gpt-4.1"]);
    assert!(spans.iter().all(|span| span.trace_id == [7; 16] && span.status == SpanStatus::Unset));
    assert!(spans.iter().all(|span| text(span, "gen_ai.conversation.id").starts_with("entity_")));
    assert_eq!(spans[0].parent, None);
    assert_eq!(spans[1].parent, Some(spans[0].id));
    assert!(spans[2..].iter().all(|span| span.parent == Some(spans[1].id)));
    assert_eq!((spans[0].began_at, spans[0].ended_at), (Millis(1_000), Millis(1_200)));
    assert_eq!((spans[3].began_at, spans[3].ended_at), (Millis(1_002), Millis(1_012)));
    let ids: std::collections::BTreeSet<SpanId> = spans.iter().map(|span| span.id).collect();
    assert_eq!(ids.len(), spans.len());
}

#[test]
fn a_model_is_told_in_the_words_of_the_conventions() {
    let spans = spans(&chat(), TracedContent::LeftOut);
    let [agent, _, asked, tool, _] = &spans[..] else { panic!("{spans:?}") };
    assert_eq!((text(agent, "gen_ai.operation.name"), text(agent, "gen_ai.agent.name")), ("invoke_agent", "Cook"));
    assert_eq!((text(agent, "gen_ai.provider.name"), text(agent, "gen_ai.agent.version")), ("skein", "3"));
    assert_eq!((asked.kind, agent.kind, tool.kind), (SpanKind::Client, SpanKind::Internal, SpanKind::Internal));
    for (name, expected) in [
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "gpt-4.1"),
        ("gen_ai.response.model", "gpt-4.1-2025"),
        ("gen_ai.response.id", "c1"),
        ("server.address", "api.openai.com"),
        ("skein.cost.currency", "USD"),
    ] {
        assert_eq!(text(asked, name), expected, "{name}");
    }
    for (name, expected) in [
        ("gen_ai.request.temperature", Attribute::Real(0.5)),
        ("gen_ai.request.max_tokens", Attribute::Whole(300)),
        ("gen_ai.response.finish_reasons", Attribute::Texts(vec!["tool_calls".to_owned()])),
        ("gen_ai.usage.input_tokens", Attribute::Whole(7)),
        ("gen_ai.usage.output_tokens", Attribute::Whole(5)),
        ("server.port", Attribute::Whole(443)),
        ("skein.cost.amount", Attribute::Real(0.0045)),
    ] {
        assert_eq!(attribute(asked, name), Some(&expected), "{name}");
    }
    assert_eq!((text(tool, "gen_ai.operation.name"), text(tool, "gen_ai.tool.name")), ("execute_tool", "Echo"));
    assert_eq!((text(tool, "gen_ai.tool.type"), text(tool, "skein.call.asked_by")), ("extension", "model"));
    assert_eq!(attribute(tool, "skein.cost.amount"), None, "what is not known is not told");
}

#[test]
fn a_failure_is_told_where_it_happened_and_above_it() {
    let spans = spans(&failing(), TracedContent::LeftOut);
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    let expected =
        ["invoke_agent Cook", "step below", "invoke_agent Cook", "step ask", "chat gpt-4.1", "execute_tool Echo"];
    assert_eq!(names, expected);
    assert_eq!(spans[2].parent, Some(spans[1].id), "a run is below the step that started it");
    assert!(spans.iter().all(|span| span.trace_id == [7; 16]), "one trace");
    for span in &spans[..5] {
        assert_eq!(span.status, SpanStatus::Error(None), "{}", span.name);
        assert_eq!(text(span, "error.type"), "llm_rate_limited");
    }
    assert_eq!((&spans[5].status, spans[5].ended_at), (&SpanStatus::Unset, Millis(1_200)), "nobody saw its end");
    let mut cancelled = chat();
    cancelled.status = ExecutionStatus::Cancelled;
    assert_eq!(super::spans(&cancelled, TracedContent::LeftOut)[0].status, SpanStatus::Unset);
}

#[test]
fn what_was_said_is_told_only_where_that_is_asked_for_and_secrets_never() {
    for run in [chat(), failing()] {
        let told = format!("{:?}", spans(&run, TracedContent::LeftOut));
        assert!(!told.contains("pancakes") && !told.contains("sk-secret"), "{told}");
    }
    let told = spans(&chat(), TracedContent::Told);
    assert_eq!(text(&told[3], "gen_ai.tool.call.arguments"), r#"{"value":"pancakes"}"#);
    assert_eq!(text(&told[3], "gen_ai.tool.call.result"), r#"{"value":"pancakes"}"#);
    assert!(text(&told[2], "gen_ai.output.messages").contains(r#""content":"pancakes""#));
    assert!(!format!("{told:?}").contains("sk-secret"));
    let failed = spans(&failing(), TracedContent::Told);
    assert_eq!(failed[0].status, SpanStatus::Error(Some("too many pancakes".to_owned())));
}

#[test]
fn telling_a_run_again_tells_the_same_spans() {
    assert_eq!(spans(&failing(), TracedContent::LeftOut), spans(&failing(), TracedContent::LeftOut));
    let ids = |content| spans(&chat(), content).iter().map(|span| span.id).collect::<Vec<_>>();
    assert_eq!(ids(TracedContent::LeftOut), ids(TracedContent::Told));
    // Collectors store them: another way of making them would report every execution again.
    assert_eq!(ids(TracedContent::LeftOut)[0], span_id("run", &[7; 16], 0));
    assert_ne!(span_id("step", &[7; 16], 0), span_id("step", &[7; 16], 1));
}
