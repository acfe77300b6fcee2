//! The default approval policy: the function that the engine calls.

use serde_json::{Value, json};
use skein_core::catalog::operation::Operation;
use skein_core::catalog::tool::Tool;
use skein_core::flow::approval_policy::{CallOrigin, needs_approval};
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
    needs_approval(CallOrigin::Model(None), tool, false, &arguments)
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
    assert!(needs_approval(CallOrigin::Model(None), &echo, false, &json!({})), "a stranger's echo");
    assert!(!needs_approval(CallOrigin::Model(None), &echo, true, &json!({})));
    assert!(needs_approval(
        CallOrigin::Model(None),
        &tool(json!({ "type": "mcp_tool", "tool": "run_process" }), json!({})),
        true,
        &json!({})
    ));
}

#[test]
fn the_choice_of_an_offer_comes_before_the_default() {
    let (get, post) = (rest("GET", json!({})), rest("POST", json!({})));
    assert!(needs_approval(CallOrigin::Model(Some(Approval::Once)), &get, false, &json!({})));
    assert!(needs_approval(CallOrigin::Model(Some(Approval::Always)), &get, false, &json!({})));
    assert!(!needs_approval(CallOrigin::Model(Some(Approval::Never)), &post, false, &json!({})));
}

/// A tool that fetches what it is told to.
fn fetch(page: Value) -> Tool {
    rest("GET", json!({ "page": page, "other": {} }))
}

#[test]
fn a_text_without_a_scheme_that_names_an_address_needs_approval() {
    let get = fetch(json!({ "type": "string" }));
    for address in [
        "evil.example/?q=diary",
        "evil.example",
        "see evil.example for more",
        "(evil.example)",
        "_evil.example_",
        "evil.example.",
        "EVIL.EXAMPLE:8443/steal?x=diary",
        "evil.xn--p1ai",
        "пример.рф/x",
        "ｅｖｉｌ．ｅｘａｍｐｌｅ",
        "evil。example",
        "ev\u{ad}il.exa\u{200b}mple",
        "evil.\nexample/?q=my diary",
        "/evil.example",
        "q=evil.example",
        "evil.js:80",
        "evil.js/x",
        "http%3A//evil.example/?q=d",
        "http%253A%252F%252Fevil%252Eexample",
        "evil%2Eexample",
        "evil%25252Eexample",
        "203.0.113.5:80/x",
        "203.0.113.5",
        "0xcb.0.0x71.5",
        "203.7405573/x",
        "127.1:8080",
        "3405803781",
        "3405803781/x",
        "0xcb007105",
        "2001:db8::1",
        "[2001:db8::1]:80",
        "fe80::1%25eth0",
        "localhost",
        "localhost:8080/x",
        "intranet:8080",
        "thief@evil.example",
        "thief@localhost",
        "mailto:thief@evil",
    ] {
        for arguments in [json!({ "page": address }), json!({ "other": [{ "deep": address }] }), json!({ address: 1 })]
        {
            assert!(asks(&get, arguments.clone()), "{arguments}");
        }
    }
    let layers = (0..20).fold("%2E".to_owned(), |text, _| text.replace('%', "%25"));
    assert!(asks(&get, json!({ "page": layers })), "nobody reads so many layers");
    for name in ["site", "website", "server", "src", "feed", "ip", "redirect_to", "link", "imgSrc"] {
        assert!(asks(&get, json!({ name: "intranet" })), "{name}");
    }
}

#[test]
fn ordinary_words_need_no_approval() {
    let get = fetch(json!({ "type": "string" }));
    for text in [
        "weather in Paris",
        "weather in Paris.",
        "v1.2 release notes",
        "version 1.2.3, 10.0.19045.1 or 2.0",
        "1.2.3",
        "e.g. this, i.e. that, a.m. or p.m., U.S. and Ph.D.",
        "e.g.",
        "and so on...then more",
        "herons: when? 1/2, a//b, see http and :) or C:",
        "at 10:30 or 2026-11-19T10:30:00Z",
        "10:30",
        "10:30:45",
        "2026-11-19T10:30:00Z",
        "20261119",
        "3.14",
        "52.3702157,4.8951679",
        "52.3702157",
        "24/7 and TCP/IP",
        "24/7",
        "rated 4.5/5",
        "100% of 50%",
        "$12.50",
        "Node.js and index.html",
        "src/main.rs",
        "docs/guide/keys.md",
        "std::io and a::method",
        "00:1a:2b:3c:4d:5e",
        "ask @alice or 2 @ 5",
        "react@18.2",
        "+31 20 123 4567",
        "0612345678",
        "今天天气很好。明天呢",
        "Bücher über Reiher",
        "John 3:16",
        "Sure.\n\nHere is more",
        "",
    ] {
        assert!(!asks(&get, json!({ "page": text, "other": { "q": [text] } })), "{text:?}");
    }
    assert!(!asks(&get, json!({ "amount": 3_405_803_781_u64, "to": "Berlin", "page": 2 })));
}

#[test]
fn a_schema_is_read_through_its_parts() {
    let listed = json!({ "enum": ["https://a.example/"] });
    let address = json!({ "type": "string", "format": "uri-reference" });
    let nothing = json!({ "type": "null" });
    for (schema, value, expected) in [
        (json!({ "anyOf": [address, nothing] }), json!("intranet"), true),
        (json!({ "oneOf": [nothing, { "allOf": [address] }] }), json!("intranet"), true),
        (json!({ "$ref": "#/$defs/address" }), json!("intranet"), true),
        (json!({ "items": { "$ref": "#/$defs/address" } }), json!(["intranet"]), true),
        (json!({ "prefixItems": [{}, address], "items": false }), json!(["a", "intranet"]), true),
        (json!({ "additionalProperties": address }), json!({ "x": "intranet" }), true),
        (json!({ "patternProperties": { "^x": address } }), json!({ "x": "intranet" }), true),
        (json!({ "$ref": "#/$defs/loop" }), json!("intranet"), false),
        (json!({ "$ref": "#/$defs/loop" }), json!("evil.example"), true),
        (json!({ "anyOf": [listed, nothing] }), json!("https://a.example/"), false),
        (json!({ "allOf": [listed, { "type": "string" }] }), json!("https://a.example/"), false),
        (json!({ "$ref": "#/$defs/listed" }), json!("https://a.example/"), false),
        (json!({ "anyOf": [listed, { "type": "string" }] }), json!("https://a.example/"), true),
        (json!({ "anyOf": [{ "properties": { "x": listed } }, {}] }), json!({ "x": "https://a.example/" }), true),
        (json!({ "properties": { "x": listed } }), json!({ "x": "https://a.example/" }), false),
        (json!({ "$ref": "#/$defs/text", "enum": ["evil.example"] }), json!("evil.example"), true),
    ] {
        let mut tool = fetch(schema.clone());
        tool.input_schema["$defs"] = json!({ "address": address, "listed": listed, "text": { "type": "string" },
            "loop": { "anyOf": [{ "$ref": "#/$defs/loop" }, { "$ref": "#/$defs/loop" }] } });
        assert_eq!(asks(&tool, json!({ "page": value })), expected, "{schema}");
    }
}

#[test]
fn a_step_needs_approval_for_a_foreign_address_alone() {
    let asks = |tool: &Tool, is_own, arguments: Value| needs_approval(CallOrigin::Step, tool, is_own, &arguments);
    let (text, address) = (json!({ "page": "Eleven herons." }), json!({ "page": "evil.example/?q=diary" }));
    let get = fetch(json!({ "type": "string" }));
    let post = rest("POST", json!({}));
    let mcp = tool(json!({ "type": "mcp_tool", "tool": "fetch" }), json!({}));
    let graph = tool(json!({ "type": "graph_query", "query": "LOAD CSV FROM $page AS row RETURN row" }), json!({}));
    for reaching in [&get, &post, &mcp, &graph] {
        assert!(!asks(reaching, false, text.clone()), "a person chose what the step does");
        assert!(asks(reaching, false, address.clone()));
    }
    assert!(!asks(&mcp, true, address.clone()), "Skein's own tools reach no host");
    let model = tool(json!({ "type": "llm_call", "promptTemplate": "{{page}}" }), json!({}));
    assert!(!asks(&model, false, address));
}
