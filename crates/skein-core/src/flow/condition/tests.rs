//! Conditions against a real engine, and what is refused.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use serde_json::{Map, Value, json};

use super::evaluate::evaluate;
use super::syntax;
use super::value::{Js, Thrown};
use super::{CONDITION_BYTES_MAX, Condition};
use crate::flow::scope::{Names, VariableScope};

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("not an object: {value}") };
    members
}

fn names<'a>(context: &'a Map<String, Value>, outputs: &'a BTreeMap<String, Value>) -> Names<'a> {
    Names {
        context: context.keys().map(String::as_str).collect(),
        outputs: outputs.keys().map(String::as_str).collect(),
        error: true,
    }
}

/// A value in words that keep every difference.
fn describe(value: &Js) -> String {
    match value {
        Js::Undefined => "undefined".to_owned(),
        Js::Null => "null".to_owned(),
        Js::Boolean(value) => format!("boolean {value}"),
        Js::Number(0.0) => {
            format!("number {}", if matches!(value, Js::Number(zero) if zero.is_sign_negative()) { "-0" } else { "0" })
        }
        Js::Number(number) => format!("number {}", super::number::to_text(*number)),
        Js::Text(text) => format!("string {}", text.iter().map(u16::to_string).collect::<Vec<_>>().join(" ")),
        Js::List(values) => format!("[{}]", values.iter().map(describe).collect::<Vec<_>>().join(", ")),
        Js::Given(Value::Array(values)) => {
            let values: Vec<String> = values.iter().map(describe_given).collect();
            format!("[{}]", values.join(", "))
        }
        Js::Given(_) => "object".to_owned(),
    }
}

fn describe_given(value: &Value) -> String {
    describe(&Js::of(Some(value), &mut super::value::Effort::new()).unwrap())
}

const ENGINE: &str = r#"
function describe(v) {
  if (v === undefined || v === null) return String(v);
  if (typeof v === "number") return "number " + (Object.is(v, -0) ? "-0" : String(v));
  if (typeof v === "string") return "string " + Array.from({ length: v.length }, (_, i) => v.charCodeAt(i)).join(" ");
  if (Array.isArray(v)) return "[" + v.map(describe).join(", ") + "]";
  if (typeof v === "object") return "object";
  return typeof v + " " + String(v);
}
"#;

/// A real engine, with the same variables.
struct Engine {
    context: rquickjs::Context,
}

impl Engine {
    fn new() -> Self {
        let runtime = rquickjs::Runtime::new().unwrap();
        let context = rquickjs::Context::full(&runtime).unwrap();
        context.with(|ctx| ctx.eval::<(), _>(ENGINE).unwrap());
        Self { context }
    }

    /// What the engine says, `throws`, or `syntax` when it is no expression.
    fn run(&self, expression: &str, scope: &VariableScope) -> String {
        let context = Value::Object(scope.context.clone());
        let step = json!(scope.outputs);
        let declared = scope.context.keys().map(|name| format!("const {name} = context.{name};"));
        let outputs = scope.outputs.keys().map(|name| format!("const {name} = step.{name};"));
        let declared: String = declared.chain(outputs).collect();
        let (context, step) = (json!(context.to_string()), json!(step.to_string()));
        let source = format!(
            "(() => {{ const context = JSON.parse({context}), step = JSON.parse({step}); {declared}
               try {{ return describe((\n{expression}\n)); }} catch (e) {{ return 'throws'; }} }})()"
        );
        self.context.with(|ctx| ctx.eval::<String, _>(source).unwrap_or_else(|_| "syntax".to_owned()))
    }
}

fn ours(expression: &str, scope: &VariableScope) -> Result<String, String> {
    let parsed = syntax::parse(expression, &names(scope.context, scope.outputs)).map_err(|(problem, _)| problem)?;
    Ok(match evaluate(&parsed, scope) {
        Ok(value) => describe(&value),
        Err(Thrown::BuiltIn(_)) => "built in".to_owned(),
        Err(_) => "throws".to_owned(),
    })
}

fn scalar() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        Just(String::new()),
        Just("0".to_owned()),
        Just(" 12 ".to_owned()),
        Just("1e3".to_owned()),
        Just("0x1F".to_owned()),
        Just("-Infinity".to_owned()),
        Just("abc".to_owned()),
        Just("ABC \u{a0}\u{feff}".to_owned()),
        Just("Straße 😀 İ ΟΔΟΣ".to_owned()),
        Just("😀".to_owned()),
        "[a-cA-C0-9 .+-]{0,5}",
    ];
    let number = prop_oneof![
        Just(0.0),
        Just(-0.0),
        Just(1.5),
        Just(-3.0),
        Just(1e21),
        Just(1e-7),
        Just(123_456_789_012.0),
        Just(0.1),
        Just(5e-324),
        any::<f64>().prop_filter("JSON has finite numbers", |number| number.is_finite()),
        (-20_i32..20).prop_map(f64::from),
    ];
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number.prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        text.prop_map(Value::from)
    ]
}

fn given() -> impl Strategy<Value = Value> {
    scalar().prop_recursive(3, 12, 4, |inner| {
        let name = prop_oneof![Just("x"), Just("y"), Just("0"), Just("length"), Just("toString"), Just("includes")];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name.prop_map(str::to_owned), inner, 0..4)
                .prop_map(|members| members.into_iter().collect()),
        ]
    })
}

const BINARY: [&str; 18] =
    ["==", "!=", "===", "!==", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "**", "in", "&&", "||", "??"];
const LITERALS: [&str; 24] = [
    "undefined",
    "null",
    "true",
    "false",
    "NaN",
    "Infinity",
    "0",
    "1",
    "2.5",
    "0x10",
    "1e400",
    "''",
    "'a'",
    "\"length\"",
    "'1'",
    "`t`",
    "'toString'",
    "[]",
    "[1]",
    "[null, 'a']",
    "[[1, 2], []]",
    "'x'",
    "'\\u00df'",
    "' 7 '",
];
const VARIABLES: [&str; 7] = ["a", "b", "context.a", "step.c", "step['d']", "c", "d"];

/// An expression; every operation in brackets if `bracketed`, so that only values matter and not precedence.
fn expression(bracketed: bool) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        prop::sample::select(LITERALS.as_slice()).prop_map(str::to_owned),
        prop::sample::select(VARIABLES.as_slice()).prop_map(str::to_owned)
    ];
    let put = move |text: String| if bracketed { format!("({text})") } else { text };
    leaf.prop_recursive(4, 14, 3, move |inner| {
        let binary = (inner.clone(), prop::sample::select(BINARY.as_slice()), inner.clone());
        let method = prop::sample::select(["includes", "startsWith", "endsWith"].as_slice());
        let case = prop::sample::select(["trim", "toLowerCase", "toUpperCase"].as_slice());
        let member =
            prop::sample::select([".length", ".x", "?.x", "?.x.y", "[0]", "?.[1]", ".x?.y.x", ".includes"].as_slice());
        prop_oneof![
            4 => binary.prop_map(move |(left, operator, right)| put(format!("{left} {operator} {right}"))),
            1 => (prop::sample::select(["!", "-", "+", "typeof "].as_slice()), inner.clone())
                .prop_map(move |(operator, value)| put(format!("{operator} {value}"))),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(move |(test, one, other)| put(format!("{test} ? {one} : {other}"))),
            1 => (inner.clone(), member).prop_map(move |(value, member)| put(format!("{value}{member}"))),
            1 => (inner.clone(), inner.clone()).prop_map(move |(value, key)| put(format!("{value}[{key}]"))),
            1 => (inner.clone(), method, prop::collection::vec(inner.clone(), 0..3))
                .prop_map(move |(value, method, given)| put(format!("{value}.{method}({})", given.join(", ")))),
            1 => (inner.clone(), case).prop_map(move |(value, method)| put(format!("{value}?.{method}()"))),
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(|values| format!("[{}]", values.join(", "))),
            1 => (inner.clone(), inner).prop_map(|(one, two)| format!("`{{${{{one}}}-${{{two}}}`")),
        ]
    })
}

fn scopes() -> impl Strategy<Value = (Map<String, Value>, BTreeMap<String, Value>)> {
    (given(), given(), given(), given()).prop_map(|(a, b, c, d)| {
        let context = object(json!({ "a": a, "b": b }));
        (context, BTreeMap::from([("c".to_owned(), c), ("d".to_owned(), d)]))
    })
}

fn compare(engine: &Engine, source: &str, context: &Map<String, Value>, outputs: &BTreeMap<String, Value>) -> bool {
    let scope = VariableScope { context, outputs, error: None };
    let theirs = engine.run(source, &scope);
    match ours(source, &scope) {
        Ok(ours) if ours == "built in" => assert_ne!(theirs, "syntax", "{source}"),
        Ok(ours) => assert_eq!(ours, theirs, "{source} with {context:?} {outputs:?}"),
        Err(problem) if problem.starts_with("it is not JavaScript") => {
            assert_eq!(theirs, "syntax", "{source}: {problem}");
        }
        Err(_) => return false,
    }
    true
}

#[test]
fn thousands_of_expressions_mean_what_a_real_engine_says() {
    let engine = Engine::new();
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut compared, mut all) = (0, 0);
    for bracketed in [true, false] {
        let strategy = (expression(bracketed), scopes());
        for _ in 0..1_500 {
            let (source, (context, outputs)) = strategy.new_tree(&mut runner).unwrap().current();
            all += 1;
            compared += usize::from(compare(&engine, &source, &context, &outputs));
        }
    }
    assert!(compared * 10 > all * 9, "only {compared} of {all} were understood");
}

#[test]
fn numbers_are_written_and_read_as_a_real_engine_does() {
    let engine = Engine::new();
    let outputs = BTreeMap::new();
    let texts = [
        "",
        " ",
        "1_000",
        "0x",
        "0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF1",
        "0b101",
        "0o17",
        "+0x1",
        ".5",
        "5.",
        ".",
        "1e",
        "1e+",
        "1e-400",
        "inf",
        "nan",
        "+Infinity",
        "\u{85}1",
        "\u{2028}1\u{b}",
        "9007199254740993",
        "1.7976931348623159e308",
        "0x1fffffffffffff8000000000000000000000000000000000000000000001",
        "--1",
        "1 2",
        "1n",
    ];
    for text in texts {
        let context = object(json!({ "a": text, "b": 0 }));
        assert!(compare(&engine, "+a", &context, &outputs), "{text:?}");
    }
    let numbers =
        [1e20, 1e21, 123e-20, 1e-6, 9.5e-7, 0.1 + 0.2, 5e-324, 1.797e308, 4_503_599_627_370_497.5, 100.0, -1.5];
    for number in numbers {
        let context = object(json!({ "a": number, "b": 0 }));
        assert!(compare(&engine, "`${a}${-a}`", &context, &outputs), "{number}");
    }
    let powers = ["1 ** Infinity", "(-1) ** Infinity", "NaN ** 0", "2 ** 0.5", "0 ** -1", "1 ** NaN", "(-8) ** (1/3)"];
    for source in powers {
        assert!(compare(&engine, source, &Map::new(), &outputs), "{source}");
    }
}

fn holds(source: &str) -> Result<bool, String> {
    let context = object(json!({ "question": "Where is Anna?", "limit": 3, "tags": ["a", "b"], "missing": null }));
    let outputs = BTreeMap::from([("found".to_owned(), json!({ "rows": [{ "title": "Anna" }], "count": 1 }))]);
    let error = json!({ "code": "RATE_LIMIT", "message": "later" });
    let scope = VariableScope { context: &context, outputs: &outputs, error: Some(&error) };
    let names = names(&context, &outputs);
    let condition = Condition::parse(source, &names).map_err(|violation| violation.to_string())?;
    condition.holds(&scope).map_err(|violation| violation.to_string())
}

#[test]
fn br_step_003_expressions_over_declared_variables_holds() {
    for source in [
        "step.found.rows.length > 0 && found.count <= limit",
        "context.question.toLowerCase().includes('anna')",
        "found.rows[0]?.title === 'Anna'",
        "found.rows[7]?.title === undefined",
        "!missing?.anything.at.all",
        "tags.includes('b') && !['c', 'd'].includes(tags[0])",
        "error.code == 'RATE_LIMIT' || `${error.message}` === 'x'",
        "'rows' in found && !('lines' in step.found)",
        "(limit % 2 ? 'odd' : 'even') == 'odd'",
    ] {
        assert_eq!(holds(source), Ok(true), "{source}");
    }
}

#[test]
fn br_step_003_what_could_do_something_refuses() {
    for (source, reason) in [
        ("limit = 4", "an assignment"),
        ("limit++", "an assignment"),
        ("(() => true)()", "calls a function"),
        ("() => true", "a function"),
        ("new Date()", "new"),
        ("this", "this"),
        ("/a+/.test(question)", "calls \"test\""),
        ("fetch('http://evil')", "calls a function"),
        ("question.constructor", "constructor"),
        ("question['__proto__']", "__proto__"),
        ("tags.push(1)", "calls \"push\""),
        ("tags['includes']('a')", "calls a function"),
        ("globalThis", "globalThis names no variable"),
        ("step.later > 1", "step.later names no variable"),
        ("step", "step names no variable"),
        ("context[question]", "context names no variable"),
        ("1n", "big integer"),
        ("({a: 1})", "an object"),
        ("delete tags[0]", "delete"),
        ("void 0", "void"),
        ("limit | 1", "operator |"),
        ("[...tags]", "spreads"),
        ("limit, true", "a comma"),
        ("limit >", "not JavaScript"),
        ("'\\ud800'", "half a character"),
        ("if (true) {}", "not JavaScript"),
        ("true; true", "not JavaScript"),
        ("", "empty"),
        ("  ", "empty"),
    ] {
        let refused = holds(source).unwrap_err();
        assert!(refused.starts_with("BR-STEP-003") && refused.contains(reason), "{source}: {refused}");
    }
}

#[test]
fn br_step_003_what_javascript_would_throw_refuses() {
    for (source, reason) in [
        ("missing.title", "title of null is asked for"),
        ("missing.includes('x')", "includes of null"),
        ("limit.trim()", "a number has no method trim"),
        ("found.includes('x')", "an object has no method includes"),
        ("'a' in question", "`in` asks about a string"),
        ("found['to' + 'String']", "built in"),
        ("tags['pu' + 'sh']", "built in"),
    ] {
        let refused = holds(source).unwrap_err();
        assert!(refused.starts_with("BR-STEP-003") && refused.contains(reason), "{source}: {refused}");
    }
}

#[test]
fn long_and_deep_expressions_are_refused() {
    let long = format!("'{}'", "a".repeat(CONDITION_BYTES_MAX));
    assert!(holds(&long).unwrap_err().contains("bytes"));
    let sum = vec!["limit"; 250].join("+");
    assert!(holds(&sum).unwrap_err().contains("levels"));
    assert!(holds(&"!".repeat(200)).unwrap_err().contains("too many"));
}

#[test]
fn work_is_bounded() {
    let context = object(json!({ "a": "x".repeat(1 << 20), "b": vec![vec![0; 1000]; 1000] }));
    let outputs = BTreeMap::new();
    let scope = VariableScope { context: &context, outputs: &outputs, error: None };
    for source in
        ["`${a}${a}`", "a + a", vec!["a == a"; 40].join(" && ").as_str(), "b + ''", "b == 1", "a.includes(a + 'y')"]
    {
        let parsed = syntax::parse(source, &names(&context, &outputs)).unwrap();
        assert_eq!(evaluate(&parsed, &scope).map(|value| describe(&value).len()), Err(Thrown::TooMuchWork), "{source}");
    }
}
