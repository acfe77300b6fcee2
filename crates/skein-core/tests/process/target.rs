//! BR-STEP-001, BR-PROCESS-009 to 011: what a process calls, and with what.

use serde_json::{Value, json};
use skein_core::catalog::operation::OperationType;
use skein_core::flow::plan::Plan;
use skein_core::flow::process::{InitialContext, Process};
use skein_core::flow::step::Reference;
use skein_core::flow::target::TargetView;
use skein_core::{RecordId, RuleViolation, UserId};

use crate::samples::{ANNA, BERT, MODEL, OTHER, SEARCH, process, refused, step};

/// The search and the model are Anna's, `OTHER` is what a test says.
struct World {
    search_schema: Value,
    search_owner: UserId,
    shared: bool,
    enabled: bool,
    other: Option<(UserId, InitialContext)>,
}

fn world() -> World {
    let search_schema = json!({
        "type": "object",
        "properties": { "query": { "type": "string", "minLength": 2 }, "limit": { "type": "integer", "default": 3 } },
        "required": ["query", "limit"],
    });
    World { search_schema, search_owner: ANNA, shared: false, enabled: true, other: None }
}

impl World {
    fn view(&self, Reference { id, version }: Reference, anything: &'static Value) -> TargetView<'_> {
        let (search, model) = (OperationType::RestCall, OperationType::LlmCall);
        let World { shared, enabled, .. } = *self;
        match id {
            // It was changed once.
            SEARCH if version.is_some_and(|version| version > 2) => {
                TargetView::NoVersion { name: "Search", problem: "there is none" }
            }
            SEARCH => {
                let (owner, input_schema) = (self.search_owner, &self.search_schema);
                TargetView::Tool {
                    owner,
                    shared,
                    enabled,
                    name: "Search",
                    input_schema,
                    operation: search,
                    takes_tools: false,
                }
            }
            MODEL => {
                let (owner, name, takes_tools) = (ANNA, "Model", true);
                let (shared, enabled, input_schema) = (false, true, anything);
                TargetView::Tool { owner, shared, enabled, name, input_schema, operation: model, takes_tools }
            }
            _ => match &self.other {
                Some((owner, context)) => {
                    TargetView::Process { owner: *owner, enabled, name: "Other", initial_context: context }
                }
                None => TargetView::Missing,
            },
        }
    }

    fn check(&self, process: &Process) -> Result<(), RuleViolation> {
        static ANYTHING: Value = Value::Bool(true);
        process.check_targets(&Plan::of(process).unwrap(), ANNA, |named| self.view(named, &ANYTHING))
    }

    /// Whether a process with one search with these inputs may be kept, when it is started with a described context.
    fn check_inputs(&self, inputs: Value) -> Result<(), RuleViolation> {
        self.check_steps(json!([step("a", json!({ "inputs": inputs }))]))
    }

    fn check_steps(&self, steps: Value) -> Result<(), RuleViolation> {
        let context = json!({ "properties": { "text": { "type": "string" }, "number": { "type": ["integer", "null"] }, "any": {} } });
        self.check(&process(json!({ "initialContext": context, "steps": steps, "outputTemplate": "" })).unwrap())
    }
}

#[test]
fn br_step_001_inputs_that_the_tool_asks_for_holds() {
    for inputs in [
        json!({ "query": "two" }),
        json!({ "query": "{text}", "limit": "{number}" }),
        json!({ "query": "{any}", "limit": "{any}" }),
        json!({ "query": "a {number}", "limit": 4 }),
    ] {
        assert_eq!(world().check_inputs(inputs.clone()), Ok(()), "{inputs}");
    }
}

#[test]
fn br_step_001_missing_extra_or_unfit_inputs_refuses() {
    for (inputs, problem) in [
        (json!({}), "Step 1 gives no query"),
        (json!({ "limit": 3, "colour": "red" }), "Step 1 gives no query, gives colour, which nobody asks for"),
        (json!({ "query": 7 }), "Step 1 gives inputs that do not fit: /query: 7 is not of type \"string\""),
        (json!({ "query": "x" }), "/query"),
        (json!({ "query": ["{{x}}"] }), "/query"),
        (json!({ "query": "{any}", "limit": "4" }), "/limit"),
        (json!({ "query": "{number}" }), "Step 1 gives query as integer or null, and string is asked for"),
        (json!({ "query": "{text}", "limit": "{text}" }), "Step 1 gives limit as string, and integer is asked for"),
        (json!({ "query": "{text}", "limit": "0{number}" }), "gives limit as string"),
        (json!({ "query": ["{text}"] }), "gives query as array"),
    ] {
        let violation = world().check_inputs(inputs.clone()).unwrap_err();
        assert_eq!(violation.rule(), "BR-STEP-001", "{inputs}");
        assert!(violation.problem().contains(problem), "{inputs}: {violation}");
    }
}

#[test]
fn br_step_001_a_schema_that_takes_more_is_given_more_holds() {
    let open = json!({ "properties": { "a": { "type": "string" } }, "additionalProperties": { "type": "integer" } });
    let world = World { search_schema: open, ..world() };
    assert_eq!(world.check_inputs(json!({ "a": "x", "b": 1 })), Ok(()));
    assert_eq!(refused(world.check_inputs(json!({ "b": "x" }))), "BR-STEP-001");
}

#[test]
fn br_step_001_the_context_of_a_process_holds_and_refuses() {
    let calls = |inputs: Value| json!([step("a", json!({ "toolId": null, "processId": OTHER, "inputs": inputs }))]);
    let names = World { other: Some((ANNA, InitialContext::Names(vec!["x".to_owned(), "y".to_owned()]))), ..world() };
    assert_eq!(names.check_steps(calls(json!({ "x": 1, "y": "{any}" }))), Ok(()));
    assert_eq!(refused(names.check_steps(calls(json!({ "x": 1 })))), "BR-STEP-001");
    assert_eq!(refused(names.check_steps(calls(json!({ "x": 1, "y": 2, "z": 3 })))), "BR-STEP-001");
    let schema = json!({ "type": "object", "properties": { "x": { "type": "boolean" } }, "required": ["x"] });
    let typed = World { other: Some((ANNA, InitialContext::Schema(schema))), ..world() };
    assert_eq!(typed.check_steps(calls(json!({ "x": true }))), Ok(()));
    assert_eq!(refused(typed.check_steps(calls(json!({ "x": "{text}" })))), "BR-STEP-001");
    let twice = json!([
        calls(json!({ "x": true }))[0],
        step("b", json!({ "inputs": { "query": "{any}", "limit": "{step.a}" } }))
    ]);
    let violation = typed.check_steps(twice).unwrap_err();
    assert_eq!(violation.problem(), "Step 2 gives limit as string, and integer is asked for");
}

#[test]
fn br_step_001_tools_are_offered_to_models_holds_and_refuses() {
    let offers = |tool: RecordId| {
        json!([step("a", json!({ "toolId": tool, "inputs": { "query": "two" }, "tools": [{ "toolId": SEARCH }] }))])
    };
    assert_eq!(world().check_steps(offers(MODEL)), Ok(()));
    let violation = world().check_steps(offers(SEARCH)).unwrap_err();
    assert_eq!(
        (violation.rule(), violation.problem()),
        ("BR-STEP-001", "Step 1 offers tools to Tool Search, which is no model that takes any")
    );
}

#[test]
fn br_process_006_a_budget_of_tokens_is_for_a_model_holds_and_refuses() {
    let budget = |tool: RecordId| {
        let output = json!({ "variable": "a", "tokenBudget": 50 });
        json!([step("a", json!({ "toolId": tool, "inputs": { "query": "two" }, "output": output }))])
    };
    assert_eq!(world().check_steps(budget(MODEL)), Ok(()));
    let violation = world().check_steps(budget(SEARCH)).unwrap_err();
    let problem = "Step 1 has an output.tokenBudget without effect: Tool Search is no model";
    assert_eq!((violation.rule(), violation.problem()), ("BR-PROCESS-006", problem));
}

#[test]
fn br_process_009_enabled_tools_holds() {
    assert_eq!(world().check_inputs(json!({ "query": "two" })), Ok(()));
}

#[test]
fn br_process_009_a_disabled_tool_refuses_unless_the_process_is_disabled_too() {
    let world = World { enabled: false, ..world() };
    let violation = world.check_inputs(json!({ "query": "two" })).unwrap_err();
    assert_eq!((violation.rule(), violation.problem()), ("BR-PROCESS-009", "Step 1 references disabled Tool Search"));
    assert_eq!(world.check(&process(json!({ "enabled": false })).unwrap()), Ok(()));
}

#[test]
fn br_process_010_a_process_of_the_same_owner_holds() {
    let world = World { other: Some((ANNA, InitialContext::default())), ..world() };
    assert_eq!(world.check_steps(json!([step("a", json!({ "toolId": null, "processId": OTHER }))])), Ok(()));
}

#[test]
fn br_process_010_a_process_of_another_owner_refuses() {
    let calls = json!([step("a", json!({ "toolId": null, "processId": OTHER }))]);
    let others = World { other: Some((BERT, InitialContext::default())), ..world() };
    let violation = others.check_steps(calls.clone()).unwrap_err();
    assert_eq!(
        (violation.rule(), violation.problem()),
        ("BR-PROCESS-010", "Step 1 references inaccessible Process Other")
    );
    assert_eq!(refused(world().check_steps(calls)), "BR-PROCESS-010");
}

#[test]
fn br_process_011_own_and_shared_tools_holds() {
    let shared = World { search_owner: BERT, shared: true, ..world() };
    assert_eq!(shared.check_inputs(json!({ "query": "two" })), Ok(()));
}

#[test]
fn br_process_011_inaccessible_tools_refuses_by_step_number() {
    let unshared = World { search_owner: BERT, ..world() };
    let fallback = json!([step("f", json!({ "toolId": OTHER, "output": { "variable": "b" } }))]);
    let steps = json!([
        step("a", json!({})),
        step("b", json!({ "toolId": MODEL, "tools": [{ "toolId": SEARCH }], "fallback": fallback })),
    ]);
    let violation = unshared.check_steps(steps).unwrap_err();
    let problem = format!(
        "Step 1 references inaccessible Tool Search; Step 2 references inaccessible Tool Search; \
         Step 2 (fallback 1) references inaccessible Tool {OTHER}"
    );
    assert_eq!((violation.rule(), violation.problem()), ("BR-PROCESS-011", problem.as_str()));
}

/// A search in a version, in these words.
fn search_in(version: i64) -> Value {
    step("a", json!({ "toolVersion": version, "inputs": { "query": "two" } }))
}

#[test]
fn br_step_007_a_version_that_was_holds() {
    assert_eq!(world().check_steps(json!([search_in(1)])), Ok(()));
    let mut again = search_in(1);
    again["id"] = json!("b");
    again["output"]["variable"] = json!("b");
    assert_eq!(world().check_steps(json!([search_in(1), again])), Ok(()));
}

#[test]
fn br_step_007_a_version_that_never_was_or_two_of_one_tool_refuses() {
    let violation = world().check_steps(json!([search_in(3)])).unwrap_err();
    let told = (violation.rule(), violation.problem());
    assert_eq!(told, ("BR-STEP-007", "Step 1 names version 3 of Tool Search: there is none"));
    let now = |id: &str, variable: &str| {
        let mut now = step(id, json!({ "inputs": { "query": "two" } }));
        now["output"]["variable"] = json!(variable);
        now
    };
    let mut with_fallback = search_in(1);
    with_fallback["fallback"] = json!([now("instead", "a")]);
    let offering = step("c", json!({ "toolId": MODEL, "tools": [{ "toolId": SEARCH }] }));
    for steps in [json!([search_in(1), now("b", "b")]), json!([with_fallback]), json!([search_in(1), offering])] {
        let twice = process(json!({ "initialContext": [], "steps": steps, "outputTemplate": "" }));
        let violation = twice.unwrap_err();
        assert_eq!(violation.rule(), "BR-STEP-007", "{steps}");
        assert!(violation.problem().contains("name two versions"), "{}", violation.problem());
    }
}

#[test]
fn br_process_011_a_version_of_somebody_elses_tool_refuses() {
    let shared = World { search_owner: BERT, shared: true, ..world() };
    assert_eq!(shared.check_inputs(json!({ "query": "two" })), Ok(()));
    let violation = shared.check_steps(json!([search_in(1)])).unwrap_err();
    let told = (violation.rule(), violation.problem());
    assert_eq!(told, ("BR-PROCESS-011", "Step 1 names version 1 of Tool Search, which is somebody else's"));
}

#[test]
fn br_step_007_a_tool_for_a_process_and_the_other_way_round_refuses() {
    let world = World { other: Some((ANNA, InitialContext::default())), ..world() };
    assert_eq!(refused(world.check_steps(json!([step("a", json!({ "toolId": OTHER }))]))), "BR-STEP-007");
    assert_eq!(
        refused(world.check_steps(json!([step("a", json!({ "toolId": null, "processId": SEARCH }))]))),
        "BR-STEP-007"
    );
}

#[test]
fn br_process_006_a_model_that_may_use_some_tokens_holds() {
    for (total, asked) in [(json!(11), json!(10)), (json!(null), json!(10)), (json!(10), json!(null))] {
        assert_eq!(budgeted(&total, &asked), Ok(()), "{total} {asked}");
    }
}

#[test]
fn br_process_006_a_model_without_a_token_refuses() {
    let violation = budgeted(&json!(10), &json!(10)).unwrap_err();
    assert_eq!(violation.rule(), "BR-PROCESS-006");
    assert!(violation.problem().contains("Step 2 asks the model"), "{violation}");
    assert_eq!(violation.problem().matches("Step").count(), 1, "a search uses no tokens: {violation}");
}

/// Whether a process with so many tokens may be kept whose first model asks for some; then come another and a search.
fn budgeted(total: &Value, asked: &Value) -> Result<(), RuleViolation> {
    let inputs = json!({ "query": "two" });
    let mut first = step("a", json!({ "toolId": MODEL, "inputs": {} }));
    if !asked.is_null() {
        first["output"]["tokenBudget"] = asked.clone();
    }
    let steps =
        json!([first, step("b", json!({ "toolId": MODEL, "inputs": {} })), step("c", json!({ "inputs": inputs }))]);
    let mut definition = json!({ "initialContext": ["x"], "steps": steps, "outputTemplate": "" });
    if !total.is_null() {
        definition["tokenBudget"] = total.clone();
    }
    world().check(&process(definition).unwrap())
}
