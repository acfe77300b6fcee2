//! The default approval policy: the function that the engine calls.

use serde_json::{Value, json};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::tool::Tool;
use skein_core::flow::approval_policy::needs_approval;
use skein_core::flow::step::Approval;

use crate::samples::SEARCH;

fn tool(operation: Value, properties: Value) -> Tool {
    Operation::parse(&operation).unwrap();
    let tool = json!({ "name": "Fetch", "serviceId": SEARCH, "connectionParams": { "endpoint": "https://api.example/v1" },
        "operation": operation, "inputSchema": { "type": "object", "properties": properties }, "outputSchema": true,
        "enabled": true, "definitionVersion": 1 });
    serde_json::from_value(tool).unwrap()
}

fn rest(method: &str, properties: Value) -> Tool {
    tool(json!({ "type": "rest_call", "method": method, "path": "/find" }), properties)
}

fn asks(tool: &Tool, arguments: Value) -> bool {
    needs_approval(None, tool, false, &arguments)
}

#[test]
fn a_reading_call_of_a_fixed_host_needs_no_approval() {
    let get = rest("GET", json!({ "page": { "enum": ["https://a.example/", "https://b.example/"] } }));
    for arguments in [
        json!({}),
        json!({ "q": "herons: when? 1/2, a//b, see http and :) or C:" }),
        json!({ "page": "https://a.example/", "url": null, "host": "" }),
        json!({ "url": "https://api.example/v1/herons?n=1", "curl": "x", "shared": true, "n": 7 }),
    ] {
        assert!(!asks(&get, arguments.clone()), "{arguments}");
    }
    assert!(!asks(
        &tool(json!({ "type": "llm_call", "promptTemplate": "{{q}}" }), json!({})),
        json!({ "q": "http://x" })
    ));
}

#[test]
fn a_reading_call_with_an_address_needs_approval() {
    let get = rest("GET", json!({ "at": { "type": "string", "format": "hostname" } }));
    for arguments in [
        json!({ "q": "https://evil.example/?stolen" }),
        json!({ "q": "look at HTTPS://evil.example" }),
        json!({ "q": " //evil.example" }),
        json!({ "q": "\\\\evil.example" }),
        json!({ "q": "http:evil.example" }),
        json!({ "q": "ht\ntp:/evil.example" }),
        json!({ "q": "http%3A%2F%2Fevil.example" }),
        json!({ "q": "gopher://evil.example" }),
        json!({ "url": "evil.example" }),
        json!({ "targetUrl": "evil.example" }),
        json!({ "proxy_host": 2_130_706_433 }),
        json!({ "at": "evil.example" }),
        json!({ "deep": [{ "HOST": "evil.example" }] }),
        json!({ "deep": { "http://evil.example": 1 } }),
        json!({ "url": "https://api.example/v1?next=https://evil.example" }),
        json!({ "url": "https://api.example/v1.evil.example/" }),
        json!({ "url": "https://api.example.evil.example/v1" }),
    ] {
        assert!(asks(&get, arguments.clone()), "{arguments}");
    }
}

#[test]
fn a_call_that_may_change_something_needs_approval() {
    assert!(asks(&rest("POST", json!({})), json!({})));
    assert!(asks(&tool(json!({ "type": "graph_query", "query": "RETURN 1" }), json!({})), json!({})));
    let echo = tool(json!({ "type": "mcp_tool", "tool": "echo" }), json!({}));
    assert!(needs_approval(None, &echo, false, &json!({})), "a stranger's echo");
    assert!(!needs_approval(None, &echo, true, &json!({})));
    assert!(needs_approval(
        None,
        &tool(json!({ "type": "mcp_tool", "tool": "run_process" }), json!({})),
        true,
        &json!({})
    ));
}

#[test]
fn the_choice_of_an_offer_comes_before_the_default() {
    let (get, post) = (rest("GET", json!({})), rest("POST", json!({})));
    assert!(needs_approval(Some(Approval::Once), &get, false, &json!({})));
    assert!(needs_approval(Some(Approval::Always), &get, false, &json!({})));
    assert!(!needs_approval(Some(Approval::Never), &post, false, &json!({})));
}
