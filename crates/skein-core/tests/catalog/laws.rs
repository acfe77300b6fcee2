//! Tests for every input: rendering fills in an operation and never changes its structure.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use skein_core::catalog::discovery::{DiscoveryTarget, discover};
use skein_core::catalog::json_template::JsonTemplate;
use skein_core::catalog::operation::Operation;
use skein_core::catalog::operation::cypher;
use skein_core::catalog::operation::rest::RenderedBody;
use skein_core::catalog::placeholder::{Inputs, PlaceholderText};
use skein_core::catalog::selector::Selector;

use crate::samples::{SERVICE, inputs, rest_call};

const VARIABLES: [&str; 3] = ["a", "b", "c"];

/// Any text, with what breaks out of things made likely.
fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        Just("\r\nHost: evil".to_owned()),
        Just("\"}, {\"x\": \"".to_owned()),
        Just("../..".to_owned()),
        Just("%2e%2e%2f".to_owned()),
        Just("?a=b&c=d#e".to_owned()),
        Just("{{a}}".to_owned()),
        Just("\\{{".to_owned()),
        Just("\\".to_owned()),
    ];
    prop::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat())
}

fn hostile_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        hostile().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(hostile(), inner, 0..4).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

fn all_inputs() -> impl Strategy<Value = Inputs> {
    (hostile_value(), hostile_value(), hostile_value())
        .prop_map(|(a, b, c)| VARIABLES.iter().map(|name| (*name).to_owned()).zip([a, b, c]).collect())
}

/// A text put together from literals without braces and the three variables, and which of them it mentions.
fn text() -> impl Strategy<Value = (String, BTreeSet<String>)> {
    let piece = prop_oneof![
        "[^{}\\\\\\x00]{0,6}",
        Just("\\{{".to_owned()),
        Just("{{a}}".to_owned()),
        Just("{{ b }}".to_owned())
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| {
        let mentioned = ["a", "b"]
            .into_iter()
            .filter(|name| pieces.iter().any(|piece| piece.contains(name) && piece.starts_with("{{")));
        (pieces.concat(), mentioned.map(str::to_owned).collect())
    })
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&after[..2]).unwrap(), 16).unwrap());
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// How many values of each kind a document has, by where they stand.
fn structure(value: &Value, path: &str, into: &mut Vec<String>) {
    match value {
        Value::Array(values) => {
            into.push(format!("{path}[]"));
            values.iter().enumerate().for_each(|(at, value)| structure(value, &format!("{path}/{at}"), into));
        }
        Value::Object(members) => {
            into.push(format!("{path}{{}}"));
            members.iter().for_each(|(name, value)| structure(value, &format!("{path}/{name}"), into));
        }
        _ => into.push(path.to_owned()),
    }
}

proptest! {
    #[test]
    fn no_header_leaves_its_line(given in all_inputs()) {
        let call = rest_call(json!({ "headers": { "x-a": "pre {{a}} post", "x-b": "{{b}}" } })).unwrap();
        if let Ok(rendered) = call.render(&given) {
            for (name, value) in &rendered.headers {
                prop_assert!(value.bytes().all(|b| (b' '..=b'~').contains(&b)), "{name}: {value:?}");
            }
        }
    }

    #[test]
    fn a_path_keeps_its_segments(given in all_inputs()) {
        let call = rest_call(json!({ "path": "/one/{{a}}/x{{b}}y/{{c}}.json" })).unwrap();
        if let Ok(rendered) = call.render(&given) {
            let segments: Vec<&str> = rendered.path.split('/').collect();
            prop_assert_eq!(segments.len(), 5);
            prop_assert!(segments[1..].iter().all(|segment| !["", ".", ".."].contains(segment)));
            prop_assert!(!rendered.target().contains(['?', '#', '\\', ' ']) && rendered.target().is_ascii());
            let Some(Value::String(a)) = given.get("a") else { return Ok(()) };
            prop_assert_eq!(&decode(segments[2]), a);
        }
    }

    #[test]
    fn query_pairs_decode_to_the_inputs(name in hostile(), a in hostile(), b in hostile()) {
        let call = rest_call(json!({ "query": { (name.clone()): "{{a}}", "list": ["{{b}}", "x{{a}}"] } }));
        let call = call.unwrap();
        let rendered = call.render(&inputs(json!({ "a": a, "b": b }))).unwrap();
        let target = rendered.target();
        let query = target.strip_prefix("/?").unwrap();
        let decoded: Vec<(String, String)> = query
            .split('&')
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(name, value)| (decode(name), decode(value)))
            .collect();
        prop_assert_eq!(&decoded, &rendered.query);
        let (alone, mixed) = ((name, a.clone()), ("list".to_owned(), format!("x{a}")));
        prop_assert!(decoded.contains(&mixed) && (alone.0 == "list" || decoded.contains(&alone)));
    }

    #[test]
    fn a_json_body_keeps_its_structure(a in hostile(), b in hostile()) {
        let outline = json!({ "a": "{{a}}", "list": ["{{b}}", { "mixed": "<{{a}}|{{b}}>" }], "n": 1, "{{a}}": null });
        let call = rest_call(json!({ "body": outline })).unwrap();
        let rendered = call.render(&inputs(json!({ "a": a, "b": b }))).unwrap();
        let body = rendered.body.unwrap();
        let parsed: Value = serde_json::from_slice(&body.to_bytes()).unwrap();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        structure(&outline, "", &mut before);
        structure(&parsed, "", &mut after);
        prop_assert_eq!(before, after);
        prop_assert_eq!(parsed["list"][1]["mixed"].as_str().unwrap(), format!("<{a}|{b}>"));
        prop_assert_eq!(RenderedBody::Json(parsed), body);
    }

    #[test]
    fn a_lone_placeholder_is_its_input(given in all_inputs()) {
        let outline = JsonTemplate::parse(json!({ "x": ["{{a}}"], "y": "{{b}}" })).unwrap();
        let expected = json!({ "x": [given["a"]], "y": given["b"] });
        prop_assert_eq!(outline.render(&given).unwrap(), Some(expected));
    }

    #[test]
    fn variables_are_exactly_what_rendering_needs((source, mentioned) in text(), a in hostile(), b in hostile()) {
        let call = json!({ "type": "llm_call", "promptTemplate": source });
        let operation = Operation::parse(&call).unwrap();
        prop_assert_eq!(&operation.variables(), &mentioned);
        let Operation::LlmCall(call) = operation else { unreachable!("it was sent as one") };
        let all = inputs(json!({ "a": a, "b": b, "unrelated": 1 }));
        let needed: Map<String, Value> = all.clone().into_iter().filter(|(name, _)| mentioned.contains(name)).collect();
        prop_assert_eq!(call.render(&all).unwrap(), call.render(&needed).unwrap());
        for name in &mentioned {
            let mut lacking = needed.clone();
            lacking.remove(name);
            prop_assert!(call.render(&lacking).is_err());
        }
    }

    #[test]
    fn a_text_without_places_says_itself(text in "[^{\\x00]{0,40}") {
        let parsed = PlaceholderText::parse(&text).unwrap();
        prop_assert_eq!(parsed.render_plain(&Inputs::new()).unwrap(), text);
    }

    #[test]
    fn a_parsed_text_is_written_as_it_was_read((source, _) in text()) {
        let parsed = PlaceholderText::parse(&source).unwrap();
        prop_assert_eq!(PlaceholderText::parse(&String::from(parsed.clone())).unwrap(), parsed);
    }

    #[test]
    fn whatever_is_sent_is_parsed_or_refused(text in hostile(), value in hostile_value()) {
        _ = PlaceholderText::parse(&text);
        _ = Selector::parse(&text).map(|selector| selector.select(&value));
        _ = cypher::parameters(&text);
        _ = Operation::parse(&value);
        _ = Operation::parse(&json!({ "type": "rest_call", "method": "POST", "path": text, "body": value }));
    }

    #[test]
    fn whatever_a_document_says_its_tools_can_be_read(path in hostile(), name in hostile(), value in hostile_value()) {
        let parameter = json!({ "in": "query", "name": name, "schema": value });
        let operation = json!({ "parameters": [parameter, value], "requestBody": value, "responses": { "200": value } });
        let document = json!({ "openapi": "3.1.0", "paths": { (format!("/{path}")): { "post": operation } } });
        let ground = DiscoveryTarget { service_id: SERVICE, connection_params: Map::new(), secret: None };
        for tool in discover(&document, &ground).unwrap().tools {
            let variables = Operation::parse(&tool.operation.unwrap()).unwrap().variables();
            let declared = &tool.input_schema.unwrap()["properties"];
            prop_assert!(variables.iter().all(|name| declared.get(name).is_some()));
        }
    }

    #[test]
    fn cypher_parameters_are_found_between_texts_and_comments(name in "[a-z]{1,8}", text in "[a-z$ ]{0,8}") {
        let query = format!("MATCH (n:`{text}`) // {text}\nWHERE n.x = '{text}' /* {text} */ AND n.y = ${name} RETURN \"{text}\"");
        prop_assert_eq!(cypher::parameters(&query), BTreeSet::from([name]));
    }
}
