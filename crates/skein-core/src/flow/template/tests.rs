//! Templates against the renderer of Handlebars itself, and what is refused.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

fn object(value: Value) -> Map<String, Value> {
    let Value::Object(members) = value else { panic!("not an object: {value}") };
    members
}

fn given() -> (Map<String, Value>, BTreeMap<String, Value>) {
    let context =
        object(json!({ "question": "Where is <Anna>?", "tags": ["a", "b"], "empty": [], "zero": 0, "nothing": null }));
    let rows = json!({ "rows": [{ "title": "One", "tags": [1, 2] }, { "title": "Two", "tags": [] }], "size": { "b": 2, "a": 1 } });
    (context, BTreeMap::from([("found".to_owned(), rows), ("answer".to_owned(), json!({ "text": "Here." }))]))
}

fn parse(source: &str) -> Result<Template, RuleViolation> {
    let (context, outputs) = given();
    let names = Names {
        context: context.keys().map(String::as_str).collect(),
        outputs: outputs.keys().map(String::as_str).collect(),
        error: false,
    };
    Template::parse(source, &names)
}

fn rendered(source: &str) -> String {
    let (context, outputs) = given();
    parse(source).unwrap().render(&VariableScope { context: &context, outputs: &outputs, error: None }).unwrap()
}

#[test]
fn br_process_005_declared_variables_are_filled_in_holds() {
    for (source, expected) in [
        ("", ""),
        ("plain { text } }} {", "plain { text } }} {"),
        ("{{question}} {{{context.question}}} {{&question}}", "Where is <Anna>? Where is <Anna>? Where is <Anna>?"),
        ("{{step.answer.text}}/{{answer}}/{{nothing}}/{{answer.other}}", "Here./{\"text\":\"Here.\"}//"),
        (
            "{{#each found.rows}}{{@index}}:{{title}}{{#each tags}} {{this}}<{{../title}}{{/each}};{{/each}}",
            "0:One 1<One 2<One;1:Two;",
        ),
        ("{{#each found.size}}{{@key}}={{this}}{{#if @last}}.{{else}},{{/if}}{{/each}}", "a=1,b=2."),
        ("{{#if zero}}yes{{else if tags}}tags{{else}}no{{/if}}", "tags"),
        ("{{#each empty}}x{{else}}none{{/each}}", "none"),
        ("{{#each tags}}{{@root.zero}}{{@root.step.answer.text}}{{/each}}", "0Here.0Here."),
        ("a\n{{#if tags}}\nb\n{{/if}}\nc{{! gone }} d{{!-- {{x}} --}}", "a\nb\nc d"),
        ("\\{{question}} {{found.rows.1.title}}", "{{question}} Two"),
    ] {
        assert_eq!(rendered(source), expected, "{source}");
    }
}

#[test]
fn br_process_005_an_undeclared_variable_refuses_by_name() {
    for (source, reason) in [
        ("{{later}}", "{{later}} names no variable of the process; here are context.empty"),
        ("{{step.question}}", "step.question"),
        ("{{#if later}}{{/if}}", "{{later}}"),
        ("{{#each tags}}{{../later}}{{/each}}", "{{../later}}"),
        ("{{#each tags}}{{@root.later}}{{/each}}", "{{@root.later}}"),
        ("{{../question}}", "leads out"),
        ("{{@index}}", "@index, @key"),
        ("{{this}}", "{{this}}"),
        ("{{step}}", "{{step}}"),
        ("{{error.code}}", "{{error.code}}"),
    ] {
        let violation = parse(source).unwrap_err();
        assert_eq!(violation.rule(), "BR-PROCESS-005");
        assert!(violation.problem().contains(reason), "{source}: {violation}");
    }
}

#[test]
fn br_process_005_more_than_paths_and_blocks_refuses() {
    for source in [
        "{{> partial}}",
        "{{#> partial}}{{/partial}}",
        "{{* decorator}}",
        "{{#*inline \"x\"}}{{/inline}}",
        "{{lookup found \"rows\"}}",
        "{{log question}}",
        "{{question zero}}",
        "{{#with found}}{{/with}}",
        "{{#unless zero}}{{/unless}}",
        "{{#tags}}{{/tags}}",
        "{{#if (eq zero 1)}}{{/if}}",
        "{{#each tags as |t|}}{{/each}}",
        "{{#if}}{{/if}}",
        "{{#if zero tags}}{{/if}}",
        "{{#if zero includeZero=true}}{{/if}}",
        "{{{{raw}}}}x{{{{/raw}}}}",
        "{{found.[rows]}}",
        "{{\"text\"}}",
        "{{#if 1}}{{/if}}",
        "{{#if true}}{{/if}}",
        "{{question",
        "{{#if zero}}",
        "{{/if}}",
        "{{else}}",
        "{{}}",
        "{{#if zero}}{{/each}}",
        "{{#each tags}}{{else}}{{else}}{{/each}}",
        "{{@root}}",
        "{{a}\0}}",
    ] {
        assert_eq!(parse(source).map_err(|violation| violation.rule()), Err("BR-PROCESS-005"), "{source}");
    }
}

#[test]
fn bombs_are_refused() {
    let big = "x".repeat(TEMPLATE_BYTES_MAX + 1);
    let many = "{{zero}}".repeat(TEMPLATE_TAGS_MAX + 1);
    let nested = |block: &str, end: &str, times: usize| format!("{}{}", block.repeat(times), end.repeat(times));
    for source in [
        big,
        many,
        nested("{{#if zero}}", "{{/if}}", 200),
        "{{#if zero}}".repeat(400),
        nested("{{#if (", ")}}{{/if}}", 50),
        format!("{{{{#if zero}}}}{}{{{{/if}}}}", "{{else if zero}}".repeat(300)),
        "{{".repeat(1000),
        format!("{{{{{}", "(".repeat(60_000)),
        format!("{{{{x \"}}}}\" {}", "(".repeat(60_000)),
        nested("{{!-- {{/if}} --}}{{#if zero}}", "{{/if}}", 100),
    ] {
        assert!(parse(&source).is_err(), "{}", &source[..50]);
    }
}

#[test]
fn output_and_work_are_bounded() {
    let context = object(json!({ "list": vec![0; 2_000], "text": "x".repeat(1 << 20) }));
    let outputs = BTreeMap::new();
    let scope = VariableScope { context: &context, outputs: &outputs, error: None };
    let names = Names { context: context.keys().map(String::as_str).collect(), ..Names::default() };
    let render = |source: &str| Template::parse(source, &names).unwrap().render(&scope).map(|text| text.len());
    assert_eq!(render(&"{{text}}".repeat(4)), Ok(4 << 20));
    assert!(render(&"{{text}}".repeat(5)).unwrap_err().problem().contains("bytes"));
    let square =
        "{{#each list}}{{#each @root.list}}{{#if @root.nothing}}{{/if}}{{/each}}{{/each}}".replace(".nothing", ".list");
    assert!(render(&square).unwrap_err().problem().contains("pieces"));
    assert!(render("{{#each list}}{{@root.text}}{{/each}}").unwrap_err().problem().contains("bytes"));
}

#[test]
fn one_variable_alone_is_told_from_more() {
    let sole = |source: &str| parse(source).unwrap().sole_variable().cloned();
    for source in ["{{answer}}", "{{step.answer}}", "{{answer.text}}", " {{{answer.text}}}\n"] {
        assert!(matches!(sole(source), Some(Variable::Named(_, name)) if name == "answer"), "{source}");
    }
    for source in ["", "x{{answer}}", "{{answer}}{{answer}}", "{{answer.other}}", "{{#if answer}}{{answer}}{{/if}}"] {
        assert_eq!(sole(source), None, "{source}");
    }
}

/// Templates put together from pieces; what the renderer of Handlebars makes of objects is left out.
fn source() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "x",
        " ",
        "\n",
        "  \n",
        "{{question}}",
        "{{zero}}",
        "{{~zero}}",
        "{{nothing ~}}",
        "{{! c }}",
        "{{answer.text}}",
        "{{found.rows.0.title}}",
        "{{{question}}}",
        "\\{{zero}}",
        "{{!-- }} --}}\n",
        "{{found.rows.9.title}}",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 24, 6, |inner| {
        let many = prop::collection::vec(inner, 0..5).prop_map(|pieces| pieces.concat());
        let path = prop::sample::select(vec![
            "tags",
            "empty",
            "zero",
            "nothing",
            "question",
            "found.rows",
            "@root.tags",
            "found.size",
        ]);
        prop_oneof![
            (path.clone(), many.clone(), many.clone())
                .prop_map(|(path, one, two)| format!("{{{{#if {path}}}}}{one}{{{{else}}}}{two}{{{{/if}}}}")),
            (path.clone(), many.clone()).prop_map(|(path, one)| format!("{{{{#if {path}}}}}\n{one}\n{{{{~/if}}}}\n")),
            (path, many.clone()).prop_map(|(path, one)| format!(
                "{{{{#each @root.{}}}}}{one}{{{{@index}}}}{{{{@last}}}}{{{{@key}}}}{{{{/each}}}}",
                path.trim_start_matches("@root.")
            )),
            many,
        ]
    })
}

proptest! {
    #[test]
    fn templates_come_out_as_handlebars_renders_them(source in source()) {
        let (context, outputs) = given();
        let data: Map<String, Value> = context.clone().into_iter().chain(outputs.clone()).collect();
        let mut engine = handlebars::Handlebars::new();
        engine.register_escape_fn(handlebars::no_escape);
        let source = source.replace("{{question}}", "{{@root.question}}").replace("{{zero}}", "{{@root.zero}}");
        let Ok(ours) = parse(&source) else {
            prop_assert!(source.contains("{{#each"), "{}", source);
            return Ok(());
        };
        let ours = ours.render(&VariableScope { context: &context, outputs: &outputs, error: None }).unwrap();
        if let Ok(theirs) = engine.render_template(&source, &data) {
            prop_assert_eq!(ours, theirs, "{}", source);
        }
    }
}
