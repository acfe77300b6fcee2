//! JSON Schema as users send it: four drafts, bounded, closed to the outside.

use serde_json::{Value, json};
use skein_core::catalog::schema::{BREACHES_MAX, BadSchema, SCHEMA_BYTES_MAX, SCHEMA_DEPTH_MAX, Schema};

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
    check(json!({ "$ref": "https://example.com/schema.json" }), "example.com");
    check(json!({ "$ref": "file:///etc/passwd" }), "file:");
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
    assert!(schema.check(&json!(format!("{}!", "a".repeat(50_000)))).is_err());
}
