//! JSON Schema as users send it: four drafts, bounded, closed to the outside.

use serde_json::{Value, json};
use skein_core::catalog::schema::bounds::{PATTERNS_MAX, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX};
use skein_core::catalog::schema::{BREACHES_MAX, BadSchema, Schema};

fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(true), |inner, _| json!({ "not": inner }))
}

#[test]
fn drafts_are_told_apart_by_their_name() {
    let with_draft = |draft: &str| json!({ "$schema": draft, "items": [{ "type": "string" }], "prefixItems": [{ "type": "integer" }] });
    let takes = |draft: &str, value: Value| Schema::compile(&with_draft(draft)).unwrap().check(&value).is_ok();
    assert!(takes("http://json-schema.org/draft-07/schema#", json!(["a"])));
    assert!(takes("https://json-schema.org/draft/2019-09/schema", json!(["a"])));
    let tuple = json!({ "prefixItems": [{ "type": "integer" }] });
    assert!(Schema::compile(&tuple).unwrap().check(&json!(["a"])).is_err(), "2020-12 unless said otherwise");
}

#[test]
fn breaches_say_where_and_why() {
    let schema = json!({ "required": ["b"], "properties": { "a": { "type": "array", "items": { "maximum": 3 } } } });
    let breaches = Schema::compile(&schema).unwrap().check(&json!({ "a": [1, 9] })).unwrap_err();
    let paths: Vec<&str> = breaches.iter().map(|breach| breach.path.as_str()).collect();
    assert!(paths.contains(&"/a/1") && paths.contains(&""), "{breaches:?}");
    let many: Vec<i32> = (10..100).collect();
    assert_eq!(Schema::compile(&schema).unwrap().check(&json!({ "a": many })).unwrap_err().len(), BREACHES_MAX);
}

#[test]
fn formats_are_checked() {
    let uri = Schema::compile(&json!({ "format": "uri" })).unwrap();
    assert!(uri.check(&json!("https://a.example")).is_ok() && uri.check(&json!("no uri")).is_err());
}

#[test]
fn what_cannot_be_used_is_refused_by_name() {
    let check = |schema: Value, expected: &str| {
        let error = Schema::compile(&schema).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    };
    check(json!({ "type": "objekt" }), "/type");
    check(json!(7), "");
    check(json!({ "$schema": "http://json-schema.org/draft-04/schema#" }), "draft-07");
    check(json!({ "$schema": 7 }), "draft-07");
    check(json!({ "$ref": "https://example.com/schema.json" }), "refers to");
    check(json!({ "$ref": "file:///etc/passwd" }), "refers to");
    check(json!({ "$defs": { "a": { "$id": "https://example.com/a" } } }), "refers to");
    check(json!({ "pattern": "(" }), "");
    check(json!({ "pattern": "(?=look)ahead" }), "");
    check(json!({ "description": "x".repeat(SCHEMA_BYTES_MAX) }), "limit");
    assert_eq!(Schema::compile(&nested(SCHEMA_DEPTH_MAX + 1)).unwrap_err(), BadSchema::TooDeep);
    assert!(Schema::compile(&nested(SCHEMA_DEPTH_MAX)).is_ok());
}

#[test]
fn a_schema_that_contains_itself_ends() {
    let list = json!({ "properties": { "next": { "$ref": "#" } }, "required": ["value"] });
    let list = Schema::compile(&list).unwrap();
    assert!(list.check(&json!({ "value": 1, "next": { "value": 2 } })).is_ok());
    assert!(list.check(&json!({ "value": 1, "next": {} })).is_err());
    for circle in [json!({ "$ref": "#" }), json!({ "allOf": [{ "$ref": "#" }] }), json!({ "not": { "$ref": "#" } })] {
        if let Ok(schema) = Schema::compile(&circle) {
            _ = schema.check(&json!({ "a": [1, 2] }));
        }
    }
}

#[test]
fn patterns_run_in_linear_time() {
    let schema = Schema::compile(&json!({ "pattern": "^(a+)+$" })).unwrap();
    assert!(Schema::compile(&json!({ "pattern": r"^[\w.-]{1,128}$" })).is_ok());
    assert!(schema.check(&json!(format!("{}!", "a".repeat(50_000)))).is_err());
}

#[test]
fn schemas_that_multiply_are_refused() {
    let schema = |levels: usize| {
        let next = |n: usize| json!({ "$ref": format!("#/$defs/%4C{}", n + 1) });
        let level = |n: usize| (format!("L{n}"), json!({ "anyOf": [next(n), { "not": next(n) }] }));
        let defs: Value = (0..levels).map(level).collect();
        json!({ "$defs": defs, "properties": { "a": { "$ref": "#/$defs/L0" } } })
    };
    assert!(Schema::compile(&schema(40)).is_err_and(|bad| bad == BadSchema::TooMuchWork));
    let chain: Value =
        (0..1_000).map(|n| (format!("L{n}"), json!({ "$ref": format!("#/$defs/L{}", n + 1) }))).collect();
    assert_eq!(Schema::compile(&json!({ "$defs": chain })).unwrap_err(), BadSchema::TooMuchWork);
    let anchored = json!({ "$defs": {
        "a": { "$anchor": "a", "allOf": vec![json!({ "$ref": "#b" }); 200] },
        "b": { "$anchor": "b", "allOf": vec![json!({ "$ref": "#c" }); 200] },
        "c": { "$anchor": "c" } } });
    assert_eq!(Schema::compile(&anchored).unwrap_err(), BadSchema::TooMuchWork);
    let patterns: Value = (0..=PATTERNS_MAX).map(|n| (format!("p{n}"), json!({ "pattern": "a" }))).collect();
    assert_eq!(
        Schema::compile(&json!({ "properties": patterns })).unwrap_err(),
        BadSchema::TooManyPatterns { found: PATTERNS_MAX + 1 }
    );
}

/// A value nested so deep, each level under `next`.
fn linked(depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| json!({ "next": inner }))
}

#[test]
fn a_schema_that_doubles_with_each_level_of_a_value_is_refused_the_deep_ones() {
    let twice = json!([{ "properties": { "next": { "$ref": "#" } } }, { "properties": { "next": { "$ref": "#" } } }]);
    let patterns = json!({ "properties": { "next": { "$ref": "#" } }, "patternProperties": { "^n": { "$ref": "#" } } });
    let anchored = json!({ "$anchor": "top", "if": { "additionalProperties": { "$ref": "#top" } },
        "else": { "additionalProperties": { "$ref": "#top" } } });
    for bomb in
        [json!({ "allOf": twice }), json!({ "oneOf": twice }), json!({ "not": { "anyOf": twice } }), patterns, anchored]
    {
        let schema = Schema::compile(&bomb).unwrap();
        let breaches = schema.check(&linked(60)).unwrap_err();
        assert!(breaches[0].problem.contains("too deeply nested"), "{bomb}: {breaches:?}");
        _ = schema.check(&linked(8));
    }
}

#[test]
fn schemas_that_contain_themselves_take_what_is_large_but_asked_once() {
    let tree = json!({ "$defs": { "node": { "type": "object", "required": ["name"], "properties": {
        "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#/$defs/node" } } } } },
        "$ref": "#/$defs/node" });
    let tree = Schema::compile(&tree).unwrap();
    let wide: Vec<Value> = (0..20_000).map(|n| json!({ "name": n.to_string(), "children": [] })).collect();
    assert!(tree.check(&json!({ "name": "root", "children": wide })).is_ok());
    let deep = (0..28).fold(json!({ "name": "leaf" }), |inner, _| json!({ "name": "n", "children": [inner] }));
    assert!(tree.check(&deep).is_ok());
    assert!(tree.check(&json!({ "name": "root", "children": [{}] })).is_err());
}

#[test]
fn a_large_schema_is_not_asked_about_each_part_of_a_large_value() {
    let names: Vec<u32> = (0..20_000).collect();
    let listed = Schema::compile(&json!({ "items": { "enum": names } })).unwrap();
    assert!(listed.check(&json!([0, 19_999])).is_ok() && listed.check(&json!([20_000])).is_err());
    let refused = listed.check(&json!(vec![19_999; 200_000])).unwrap_err();
    assert!(refused[0].problem.contains("too large"), "{refused:?}");
    let countries: Vec<u32> = (0..250).collect();
    let listed = Schema::compile(&json!({ "items": { "enum": countries } })).unwrap();
    assert!(listed.check(&json!(vec![249; 50_000])).is_ok());
    let applied = json!({ "$defs": { "a": {} }, "items": { "allOf": vec![json!({ "$ref": "#/$defs/a" }); 4_000] } });
    let refused = Schema::compile(&applied).unwrap().check(&json!(vec![1; 200_000])).unwrap_err();
    assert!(refused[0].problem.contains("too large"), "{refused:?}");
}

#[test]
fn a_schema_referred_to_in_many_spellings_is_looked_at_once() {
    // Each letter of a name may be written as it is or by its number, so one target has thousands of names.
    let spelled =
        |number: usize| -> String { (0..12).map(|bit| if number >> bit & 1 == 1 { "%61" } else { "a" }).collect() };
    let leaves: Vec<Value> = (0..2_000).map(|number| json!({ "$ref": format!("#/$defs/leaf{number}") })).collect();
    let refer = |number| (format!("p{number}"), json!({ "$ref": format!("#/$defs/{}", spelled(number)) }));
    let properties: serde_json::Map<String, Value> = (0..1_500).map(refer).collect();
    let schema = json!({ "$defs": { "aaaaaaaaaaaa": { "allOf": leaves } }, "properties": properties });
    assert!(Schema::compile(&schema).is_err(), "the leaves are nowhere");
}

#[test]
fn patterns_share_the_memory_of_their_schema() {
    let large = "a{1,8000}";
    assert!(Schema::compile(&json!({ "pattern": large })).is_ok());
    let many: serde_json::Map<String, Value> =
        (0..PATTERNS_MAX).map(|number| (format!("p{number}"), json!({ "pattern": large }))).collect();
    assert!(Schema::compile(&json!({ "properties": many })).is_err());
    let common: serde_json::Map<String, Value> =
        (0..PATTERNS_MAX).map(|number| (format!("p{number}"), json!({ "pattern": r"^[\w.-]{1,64}@\d+$" }))).collect();
    assert!(Schema::compile(&json!({ "properties": common })).is_ok());
}

#[test]
fn what_takes_milliseconds_is_told_from_what_may_take_longer() {
    let prompt = |schema: &Value, value: &Value| Schema::compile(schema).unwrap().is_prompt(value);
    let text = |bytes: usize| json!("0".repeat(bytes));
    let person = json!({ "$defs": { "name": { "type": "string", "minLength": 1 } }, "type": "object",
        "properties": { "name": { "$ref": "#/$defs/name" }, "mail": { "pattern": r"^[\w.-]{1,64}@[a-z.]+$" },
            "tags": { "type": "array", "items": { "enum": ["a", "b"] }, "uniqueItems": true } } });
    let value =
        json!({ "name": "Sofia", "mail": "sofia@example.org", "tags": ["a", "b"], "text": "x".repeat(500_000) });
    assert!(prompt(&person, &value), "what tools usually are given");
    assert!(prompt(&json!({ "type": "string" }), &text(1 << 20)), "a text that nothing goes through");
    assert!(prompt(&json!({ "items": { "type": "integer" } }), &json!(vec![1; 10_000])));

    let pattern = json!({ "pattern": "[01]*1[01]{8000}x" });
    assert!(prompt(&pattern, &text(8)) && !prompt(&pattern, &text(1 << 10)));
    let small = json!({ "pattern": "[01]*1[01]{100}x" });
    assert!(prompt(&small, &text(200)) && !prompt(&small, &text(1 << 14)));
    let everywhere = json!({ "$defs": { "p": small }, "allOf": vec![json!({ "$ref": "#/$defs/p" }); 1_000] });
    assert!(!prompt(&everywhere, &text(200)), "asked a thousand times");
    let names = json!({ "propertyNames": small, "patternProperties": { "[01]*1[01]{100}x": true } });
    assert!(!prompt(&names, &(0..500).map(|name| (format!("{name:020}"), json!(1))).collect()));
    assert!(!prompt(&json!({ "items": { "maximum": 1, "minimum": 0, "type": "integer" } }), &json!(vec![1; 100_000])));
    let copies = json!({ "allOf": vec![json!({ "uniqueItems": true }); 1_000] });
    assert!(!prompt(&copies, &json!((0..1_000).collect::<Vec<u32>>())));
    let formats = json!({ "allOf": vec![json!({ "format": "email" }); 1_000] });
    assert!(!prompt(&formats, &text(10_000)));
}

#[test]
fn a_schema_that_refers_to_itself_is_counted_as_often_as_it_is_asked() {
    let twice = json!([{ "properties": { "next": { "$ref": "#" } } }, { "properties": { "next": { "$ref": "#" } } }]);
    let schema = Schema::compile(&json!({ "allOf": twice })).unwrap();
    assert!(schema.is_prompt(&linked(8)) && !schema.is_prompt(&linked(20)));
    // Fourteen levels, each asked twice by the one above.
    let next = |level: usize| json!({ "$ref": format!("#/$defs/a{}", level + 1) });
    let level = |level: usize| (format!("a{level}"), json!({ "allOf": [next(level), next(level)] }));
    let mut defs: serde_json::Map<String, Value> = (3..13).map(level).collect();
    defs.insert("a13".to_owned(), json!({ "type": "integer" }));
    let doubling = Schema::compile(&json!({ "$defs": defs, "items": { "$ref": "#/$defs/a3" } })).unwrap();
    assert!(doubling.is_prompt(&json!([1, 2])) && !doubling.is_prompt(&json!(vec![1; 1_000])));
}

#[test]
fn schemas_that_take_long_to_compile_are_told_by_their_parts_and_patterns() {
    let person = json!({ "type": "object", "properties": { "name": { "type": "string", "pattern": "^[a-z]+$" } } });
    assert!(Schema::is_compiled_promptly(&person));
    assert!(!Schema::is_compiled_promptly(&json!({ "pattern": "a{1,8000}" })));
    assert!(!Schema::is_compiled_promptly(&json!({ "anyOf": vec![json!({ "type": "null" }); 1_000] })));
    let (small, large) =
        (Schema::compile(&person).unwrap(), Schema::compile(&json!({ "pattern": "a{1,8000}" })).unwrap());
    assert!(small.bytes() < 100 << 10 && large.bytes() > 500 << 10, "{} {}", small.bytes(), large.bytes());
    assert!(small.is_of(&person) && !large.is_of(&person));
}

#[test]
fn what_would_take_long_is_refused_where_nothing_may() {
    let schema = Schema::compile(&json!({ "pattern": "^[01]{1000}$" })).unwrap();
    assert!(schema.check_promptly(&json!("0".repeat(50))).unwrap_err()[0].problem.contains("does not match"));
    assert!(schema.check_promptly(&json!("0".repeat(20_000))).unwrap_err()[0].problem.contains("too large"));
    let address = Schema::compile(&json!({ "pattern": "^https?://[!-~]{1,8000}$" })).unwrap();
    assert_eq!(address.check_promptly(&json!("https://weather.example.org/v1/forecasts")), Ok(()));
}
