//! BR-STEP-001: the inputs of a step against what its target asks for, as far as they are known before anything runs.
//!
//! A value without places is known; a text with places is a text; a variable of a described context has the type that
//! is declared for it, and what a person or a process answers the type it is asked for. The rest is checked when it is
//! there, right before the call.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{NamedTarget, TargetRole, TargetView};
use crate::catalog::schema::{self, Schema};
use crate::flow::interpolate::InterpolatedValue;
use crate::flow::plan::Plan;
use crate::flow::process::{InitialContext, Process};
use crate::flow::scope::{Variable, VariableOrigin};
use crate::flow::step::StepTarget;

/// Keywords that judge the inputs together, which says nothing while some of them are unknown.
const TOGETHER: [&str; 13] = [
    "required",
    "minProperties",
    "maxProperties",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "unevaluatedProperties",
    "propertyNames",
];

/// What is wrong with the inputs of a step, if anything is.
pub(super) fn breach(process: &Process, plan: &Plan, named: &NamedTarget) -> Option<String> {
    let given = plan.planned_inputs(named.step);
    let breaches = match (named.role, named.view) {
        (TargetRole::Tool, TargetView::Tool { input_schema, .. }) => by_schema(process, plan, given, input_schema),
        (TargetRole::Process, TargetView::Process { initial_context: InitialContext::Schema(schema), .. }) => {
            by_schema(process, plan, given, schema)
        }
        (TargetRole::Process, TargetView::Process { initial_context: context @ InitialContext::Names(_), .. }) => {
            let declared = context.names();
            let required: Vec<&str> = declared.iter().copied().collect();
            [missing(&required, given), extra(&declared, given)].into_iter().flatten().collect()
        }
        _ => Vec::new(),
    };
    (!breaches.is_empty()).then(|| breaches.join(", "))
}

type Given = [(String, InterpolatedValue)];

fn by_schema(process: &Process, plan: &Plan, given: &Given, schema: &Value) -> Vec<String> {
    let properties = schema["properties"].as_object();
    let has_default =
        |name: &str| properties.is_some_and(|all| all.get(name).is_some_and(|p| p.get("default").is_some()));
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let required: Vec<&str> = required.filter(|name| !has_default(name)).collect();
    let mut breaches = Vec::from_iter(missing(&required, given));
    if let Some(properties) = properties.filter(|_| !takes_others(schema)) {
        breaches.extend(extra(&properties.keys().map(String::as_str).collect(), given));
    }
    breaches.extend(types(process, plan, given, schema));
    if breaches.is_empty() {
        breaches.extend(values(given, schema));
    }
    breaches
}

fn missing(required: &[&str], given: &Given) -> Option<String> {
    let is_given = |name: &str| given.iter().any(|(input, _)| input == name);
    let missing: Vec<&str> = required.iter().copied().filter(|name| !is_given(name)).collect();
    (!missing.is_empty()).then(|| format!("gives no {}", missing.join(", ")))
}

fn extra(declared: &BTreeSet<&str>, given: &Given) -> Option<String> {
    let extra: Vec<&str> = given.iter().map(|(name, _)| &**name).filter(|name| !declared.contains(name)).collect();
    (!extra.is_empty()).then(|| format!("gives {}, which nobody asks for", extra.join(", ")))
}

/// Whether a schema says that it takes more than it names.
fn takes_others(schema: &Value) -> bool {
    let is_open = |rule: &Value| *rule != Value::Bool(false);
    schema.get("additionalProperties").is_some_and(is_open) || schema.get("patternProperties").is_some()
}

/// The values that are known, by the schema without what judges all inputs together, unless all are.
fn values(given: &Given, schema: &Value) -> Option<String> {
    let known: Map<String, Value> =
        given.iter().filter_map(|(name, value)| Some((name.clone(), value.known()?.clone()))).collect();
    let mut schema = schema.clone();
    if let Some(keywords) = schema.as_object_mut() {
        let has_defaults = keywords.get("properties").and_then(Value::as_object).into_iter().flatten();
        let has_defaults = has_defaults.into_iter().any(|(_, property)| property.get("default").is_some());
        if known.len() < given.len() || has_defaults {
            keywords.retain(|keyword, _| !TOGETHER.contains(&keyword.as_str()));
        }
    }
    // A tool whose schema cannot be used was refused when it was made.
    let breaches = Schema::compile(&schema).ok()?.check(&Value::Object(known)).err()?;
    Some(format!("gives inputs that do not fit: {}", schema::describe(&breaches)))
}

/// The inputs whose values are unknown, by their types.
fn types(process: &Process, plan: &Plan, given: &Given, schema: &Value) -> Vec<String> {
    let unfit = |(name, value): &(String, InterpolatedValue)| {
        let asked = declared_types(schema["properties"].get(name)?)?;
        let found = types_of(process, plan, value)?;
        let fits = |one: &&str| asked.contains(one) || (is_number(one) && asked.iter().any(|asked| is_number(asked)));
        if found.iter().any(fits) {
            return None;
        }
        Some(format!("gives {name} as {}, and {} is asked for", found.join(" or "), asked.join(" or ")))
    };
    given.iter().filter_map(unfit).collect()
}

fn is_number(name: &str) -> bool {
    name == "number" || name == "integer"
}

fn declared_types(schema: &Value) -> Option<Vec<&str>> {
    match schema.get("type")? {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => Some(names.iter().filter_map(Value::as_str).collect()),
        _ => None,
    }
}

fn types_of<'a>(process: &'a Process, plan: &'a Plan, value: &InterpolatedValue) -> Option<Vec<&'a str>> {
    let place = match value {
        InterpolatedValue::Text(_) => return Some(vec!["string"]),
        InterpolatedValue::Array(_) => return Some(vec!["array"]),
        InterpolatedValue::Object(_) => return Some(vec!["object"]),
        InterpolatedValue::Fixed(_) => return None,
        InterpolatedValue::Place(place) => place,
    };
    match (place.whole()?, &process.initial_context) {
        (Variable::Named(VariableOrigin::Context, name), InitialContext::Schema(schema)) => {
            declared_types(schema["properties"].get(name)?)
        }
        (Variable::Named(VariableOrigin::Step, name), _) => {
            let step = plan.steps().iter().find(|step| step.definition.output.variable == *name)?;
            if !step.definition.output.required || !step.fallback.is_empty() {
                return None;
            }
            match &step.definition.target {
                StepTarget::Process(_) => Some(vec!["string"]),
                StepTarget::Ask(ask) => declared_types(&ask.schema),
                StepTarget::Tool(_) => None,
            }
        }
        _ => None,
    }
}
