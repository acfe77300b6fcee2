//! Operations by example: what they need, what they become, and what is refused before anything is sent.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use skein_core::RuleViolation;
use skein_core::catalog::json_template::RENDERED_BYTES_MAX;
use skein_core::catalog::operation::rest::{Accept, RenderedBody, RenderedRest};
use skein_core::catalog::operation::{Operation, OperationType, cypher};
use skein_core::catalog::selector::{OutputMapping, Selector};

use crate::samples::{inputs, rest_call, sent, with};

fn operation(value: Value) -> Operation {
    Operation::parse(&value).unwrap()
}

fn variables(value: Value) -> Vec<String> {
    operation(value).variables().into_iter().collect()
}

fn render(call: Value, given: Value) -> Result<RenderedRest, RuleViolation> {
    rest_call(call)?.render(&inputs(given))
}

fn target(call: Value, given: Value) -> String {
    render(call, given).unwrap().target()
}

fn refused(call: Value, given: Value) -> &'static str {
    render(call, given).unwrap_err().rule()
}

fn body(outline: Value, given: Value) -> Option<RenderedBody> {
    render(json!({ "body": outline }), given).unwrap().body
}

#[test]
fn br_tool_002_variables_are_found_wherever_they_stand_holds() {
    let call = json!({ "type": "rest_call", "method": "POST", "path": "/{{a}}/{{ b.c }}", "query": { "q": ["{{c}}"] },
        "headers": { "x-d": "d {{d}}" }, "body": { "deep": [{ "e": "{{e.0}} and {{f}}" }], "{{key}}": 1 } });
    assert_eq!(variables(call), ["a", "b", "c", "d", "e", "f"]);
    let prompt = json!({ "type": "llm_call", "systemPrompt": "You are {{role}}.", "promptTemplate": "{{a}}\n{{b}}" });
    assert_eq!(variables(prompt), ["a", "b", "role"]);
    let mcp = json!({ "type": "mcp_tool", "tool": "read", "arguments": { "path": "{{folder}}/{{file}}" } });
    assert_eq!(variables(mcp), ["file", "folder"]);
    assert_eq!(
        variables(json!({ "type": "graph_query", "query": "MATCH (n) WHERE n.name = $name RETURN n" })),
        ["name"]
    );
}

#[test]
fn br_tool_002_broken_placeholders_refuses() {
    for path in ["/{{a", "/{{}}", "/{{a b}}", "/{{a..b}}", "/{{1}}", "/{{{a}}}", "/{{é}}"] {
        assert_eq!(rest_call(json!({ "path": path })).unwrap_err().rule(), "BR-TOOL-002", "{path}");
    }
    let prompt = json!({ "type": "llm_call", "promptTemplate": "{{ }}" });
    assert_eq!(Operation::parse(&prompt).unwrap_err().rule(), "BR-TOOL-002");
    let unknown = json!({ "type": "rest_call", "method": "GET", "path": "/", "retries": 3 });
    assert!(Operation::parse(&unknown).unwrap_err().problem().contains("retries"));
}

#[test]
fn cypher_parameters_stand_in_code_alone() {
    let check = |query: &str, expected: &[&str]| {
        let expected: BTreeSet<String> = expected.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(cypher::parameters(query), expected, "{query}");
    };
    check("MATCH (n {id: $id}) WHERE n.a IN $list RETURN n LIMIT $0", &["id", "list", "0"]);
    check("RETURN '$no', \"$no\", 'it\\'s $no', '\\\\', $yes", &["yes"]);
    check("// $no\nRETURN $a /* $no */ + $b // $no", &["a", "b"]);
    check("MATCH (`$no``$no`) RETURN $`odd ``name`, $größe", &["odd `name", "größe"]);
    check("RETURN $ + '$", &[]);
    check("RETURN $a.b, $c[0], a$d", &["a", "c", "d"]);
}

#[test]
fn graph_parameters_are_the_inputs_of_their_names() {
    let Operation::GraphQuery(query) = operation(json!({ "type": "graph_query", "query": "RETURN $a, $b" })) else {
        panic!("not a query")
    };
    let parameters = query.parameters(&inputs(json!({ "a": [1], "c": 2 })));
    assert_eq!(Value::Object(parameters), json!({ "a": [1], "b": null }));
}

#[test]
fn paths_and_queries_are_encoded() {
    let call =
        json!({ "path": "/a%20b/{{x}}", "query": { "q": "{{x}} & co", "n": 3, "list": "{{list}}", "no": "{{no}}" } });
    let given = json!({ "x": "ü/?#", "list": [1, "b"] });
    assert_eq!(target(call, given), "/a%20b/%C3%BC%2F%3F%23?list=1&list=b&n=3&q=%C3%BC%2F%3F%23%20%26%20co");
}

#[test]
fn a_path_cannot_be_walked_out_of() {
    for x in [json!(".."), json!("."), json!(""), json!(null), json!(["a"]), json!({ "a": 1 })] {
        assert_eq!(refused(json!({ "path": "/a/{{x}}/b" }), json!({ "x": x })), "BR-TOOL-002", "{x}");
    }
    assert_eq!(refused(json!({ "path": "/a/.{{x}}" }), json!({ "x": "." })), "BR-TOOL-002");
    assert_eq!(target(json!({ "path": "/a/{{x}}" }), json!({ "x": "../%2e%2e\\" })), "/a/..%2F%252e%252e%5C");
    for path in
        ["a", "//evil.example/a", "/a/../b", "/a/%2E%2e", "/a?b", "/a#b", "/a\\b", "/a b", "/é", "/a%2", "/%{{x}}"]
    {
        assert_eq!(rest_call(json!({ "path": path })).unwrap_err().rule(), "BR-TOOL-002", "{path}");
    }
}

#[test]
fn headers_keep_their_line() {
    let call = json!({ "headers": { "x-a": "v={{a}}", "x-b": "{{b}}" } });
    let headers = render(call.clone(), json!({ "a": 1 })).unwrap().headers;
    assert_eq!(headers, [("x-a".into(), "v=1".into()), ("accept".into(), "application/json".into())]);
    for a in ["x\r\nHost: evil", "x\ny", "x\0", "\u{7f}", "é"] {
        assert_eq!(refused(call.clone(), json!({ "a": a })), "BR-TOOL-002", "{a:?}");
    }
    for name in ["Host", "content-length", "Transfer-Encoding", "a b", "a:b", ""] {
        assert_eq!(rest_call(json!({ "headers": { name: "x" } })).unwrap_err().rule(), "BR-TOOL-002", "{name}");
    }
    assert_eq!(rest_call(json!({ "headers": { "X-A": "1", "x-a": "2" } })).unwrap_err().rule(), "BR-TOOL-002");
    assert_eq!(rest_call(json!({ "headers": { "x": "a\r\nb" } })).unwrap_err().rule(), "BR-TOOL-002");
}

#[test]
fn br_secret_001_a_credential_in_a_header_refuses() {
    let call = json!({ "headers": { "Authorization": "Bearer abc" } });
    assert_eq!(rest_call(call).unwrap_err().rule(), "BR-SECRET-001");
}

#[test]
fn bodies_are_json_text_or_a_form() {
    let outline =
        json!({ "name": "{{name}}", "note": "for {{name}}", "tags": ["{{tags}}", "x", "{{gone}}"], "old": "{{gone}}" });
    let given = json!({ "name": "\"}, {\"", "tags": [1] });
    let expected = json!({ "name": "\"}, {\"", "note": "for \"}, {\"", "tags": [[1], "x"] });
    assert_eq!(body(outline, given), Some(RenderedBody::Json(expected)));
    assert_eq!(body(json!("{{all}}"), json!({ "all": [1] })), Some(RenderedBody::Json(json!([1]))));
    assert_eq!(body(json!("{{all}}"), json!({})), None);
    assert_eq!(body(json!("Dear {{a}}"), json!({ "a": 1 })), Some(RenderedBody::Text("Dear 1".into())));
    let form = json!({ "bodyFormat": "form", "body": { "a": "{{a}}", "b": [1, 2] } });
    let form = render(form, json!({ "a": "x&y=z" })).unwrap();
    assert_eq!(form.body.unwrap().to_bytes(), b"a=x%26y%3Dz&b=1&b=2");
    assert!(form.headers.contains(&("content-type".into(), "application/x-www-form-urlencoded".into())));
    assert_eq!(refused(json!({ "bodyFormat": "form", "body": "{{a}}" }), json!({ "a": 1 })), "BR-TOOL-002");
    assert_eq!(rest_call(json!({ "method": "GET", "body": 1 })).unwrap_err().rule(), "BR-TOOL-002");
}

#[test]
fn a_named_content_type_stays() {
    let call = json!({ "headers": { "Content-Type": "application/merge-patch+json" }, "body": {} });
    let headers = render(call, json!({})).unwrap().headers;
    assert_eq!(headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("content-type")).count(), 1);
}

#[test]
fn inputs_named_many_times_stay_within_bounds() {
    let big = json!({ "a": "x".repeat(RENDERED_BYTES_MAX / 4) });
    let places = vec!["{{a}}"; 5];
    assert_eq!(refused(json!({ "body": places }), big.clone()), "BR-TOOL-002");
    assert_eq!(refused(json!({ "body": places.join(" ") }), big.clone()), "BR-TOOL-002");
    assert_eq!(refused(json!({ "query": { "q": "{{a}}" } }), big), "BR-TOOL-002");
}

#[test]
fn prompts_are_plain_text() {
    let call =
        json!({ "type": "llm_call", "systemPrompt": "Be {{how}}.", "promptTemplate": "{{a}} \\{{a}} {{b.1}} {}}" });
    let Operation::LlmCall(call) = operation(call) else { panic!("not a prompt") };
    let rendered = call.render(&inputs(json!({ "how": "brief", "a": "{{b}}", "b": [0, { "c": 1 }] }))).unwrap();
    assert_eq!(rendered.system.as_deref(), Some("Be brief."));
    assert_eq!(rendered.prompt, "{{b}} {{a}} {\"c\":1} {}}");
    let missing = call.render(&inputs(json!({ "how": null, "a": 1 }))).unwrap_err();
    assert!(missing.problem().contains("{{how}}"), "{missing}");
}

#[test]
fn offered_tools_are_described_by_schemas() {
    let call = |tool: Value| json!({ "type": "llm_call", "promptTemplate": "x", "tools": [tool] });
    assert!(Operation::parse(&call(json!({ "name": "look_up", "parameters": { "type": "object" } }))).is_ok());
    for tool in [json!({ "name": "look up", "parameters": {} }), json!({ "name": "a", "parameters": { "type": 1 } })] {
        assert_eq!(Operation::parse(&call(tool)).unwrap_err().rule(), "BR-TOOL-002");
    }
}

#[test]
fn mcp_arguments_keep_their_types() {
    let call =
        json!({ "type": "mcp_tool", "tool": "add", "arguments": { "a": "{{n}}", "b": "{{n}}!", "c": "{{no}}" } });
    let Operation::McpTool(call) = operation(call) else { panic!("not a call") };
    assert_eq!(Value::Object(call.render(&inputs(json!({ "n": 3 }))).unwrap()), json!({ "a": 3, "b": "3!" }));
    let bad = json!({ "type": "mcp_tool", "tool": "add", "arguments": ["{{n}}"] });
    assert_eq!(Operation::parse(&bad).unwrap_err().rule(), "BR-TOOL-002");
}

#[test]
fn operations_are_kept_as_they_were_sent() {
    let call = json!({ "type": "rest_call", "method": "PUT", "path": "/a/{{b}}", "accept": "text", "headers": { "x": "\\{{y}}" },
        "body": { "c": ["{{b.c}}", 1, null, true] }, "result": { "id": "$.id", "names": "$.items[*].name" } });
    let parsed = operation(call.clone());
    assert_eq!(serde_json::to_value(&parsed).unwrap(), call);
    assert_eq!(parsed.kind(), OperationType::RestCall);
    let spaced = with(call, json!({ "path": "/a/{{ b }}" }));
    assert_eq!(operation(spaced), parsed);
}

#[test]
fn selectors_lead_into_values() {
    let value =
        json!({ "a": { "b": [1, 2, { "c d": 3 }] }, "items": [{ "n": "x" }, { "m": 1 }, { "n": "y" }], "z": null });
    let select = |path: &str| Selector::parse(path).unwrap().select(&value);
    assert_eq!(select("$"), Some(value.clone()));
    assert_eq!(select("$.a.b[0]"), Some(json!(1)));
    assert_eq!(select("$.a.b[-1]['c d']"), Some(json!(3)));
    assert_eq!(select("$[\"items\"][*].n"), Some(json!(["x", "y"])));
    assert_eq!(select("$.none[*]"), Some(json!([])));
    assert_eq!(select("$.z"), Some(json!(null)));
    for path in ["$.none", "$.a.b[9]", "$.a.b[-9]", "$.a[0]", "$.items.n"] {
        assert_eq!(select(path), None, "{path}");
    }
    for path in ["", "a", "$a", "$.", "$..a", "$[", "$[a]", "$['a]", "$.a]", "$.*", "$[?(@.a)]"] {
        assert!(Selector::parse(path).is_err(), "{path}");
    }
}

#[test]
fn answers_become_outputs() {
    let answer = json!({ "id": 7, "items": [{ "name": "x" }] });
    let mapping: OutputMapping = sent(json!({ "id": "$.id", "names": "$.items[*].name", "gone": "$.gone" }));
    assert_eq!(mapping.apply(&answer), json!({ "id": 7, "names": ["x"] }));
    assert_eq!(sent::<OutputMapping>(json!("$.items[0]")).apply(&answer), json!({ "name": "x" }));
    let whole = rest_call(json!({})).unwrap();
    assert_eq!((whole.accept, whole.output(answer.clone())), (Accept::Json, answer));
}
