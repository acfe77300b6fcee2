//! Tells which inputs of a step derive from a model's output, directly or through other steps.
//!
//! It knows the definition alone. Which steps speak for a model, and which variables of the context a model filled in, is what
//! the caller looks up.

use std::collections::BTreeSet;

use crate::flow::interpolate::InterpolatedValue;
use crate::flow::plan::Plan;
use crate::flow::scope::{Variable, VariableOrigin};
use crate::flow::step::StepTarget;

impl Plan {
    /// The steps whose outputs the inputs of a step derive from.
    pub fn sources(&self, step: usize) -> BTreeSet<usize> {
        let (mut sources, mut open) = (BTreeSet::new(), vec![step]);
        while let Some(at) = open.pop() {
            let named: Vec<usize> =
                self.planned_inputs(at).iter().flat_map(|(_, input)| self.named_by(input)).collect();
            open.extend(named.into_iter().filter(|source| sources.insert(*source)));
        }
        sources
    }

    /// The inputs of a step that derive from the outputs of `models` or from the variables of the context in `context`.
    pub fn model_filled(&self, step: usize, models: &BTreeSet<usize>, context: &BTreeSet<String>) -> BTreeSet<String> {
        let mut derived = models.clone();
        loop {
            let is_new = |at: &usize| !derived.contains(at) && self.passes_on(*at, &derived, context);
            let found: Vec<usize> = (0..self.steps().len()).filter(is_new).collect();
            if found.is_empty() {
                break;
            }
            derived.extend(found);
        }
        let inputs = self.planned_inputs(step).iter();
        let filled = inputs.filter(|(_, input)| self.derives(input, &derived, context));
        filled.map(|(name, _)| name.clone()).collect()
    }

    /// Whether the output of a step derives from its inputs. What a person answers is the person's.
    fn passes_on(&self, step: usize, derived: &BTreeSet<usize>, context: &BTreeSet<String>) -> bool {
        let is_answer = matches!(self.steps()[step].definition.target, StepTarget::Ask(_));
        !is_answer && self.planned_inputs(step).iter().any(|(_, input)| self.derives(input, derived, context))
    }

    fn derives(&self, input: &InterpolatedValue, derived: &BTreeSet<usize>, context: &BTreeSet<String>) -> bool {
        let is_given = |variable: &&Variable| matches!(variable, Variable::Named(VariableOrigin::Context, name) if context.contains(name));
        input.variables().iter().any(is_given) || self.named_by(input).iter().any(|step| derived.contains(step))
    }

    /// The steps whose variables an input names; the last step of a fallback shares the one of the step it stands in for.
    fn named_by(&self, input: &InterpolatedValue) -> Vec<usize> {
        let variables = input.variables();
        let is_named = |name: &str| {
            variables
                .iter()
                .any(|variable| matches!(variable, Variable::Named(VariableOrigin::Step, named) if named == name))
        };
        let steps = self.steps().iter().enumerate();
        steps.filter(|(_, step)| is_named(&step.definition.output.variable)).map(|(at, _)| at).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::flow::process::Process;
    use crate::id::RecordId;

    fn plan() -> Plan {
        let tool = RecordId::from_bytes([7; 16]);
        let step = |id: &str, inputs: serde_json::Value| json!({ "id": id, "toolId": tool, "inputs": inputs, "output": { "variable": id } });
        let ask = json!({ "id": "asked", "ask": { "prompt": "Is {step.model.text} right?" }, "output": { "variable": "asked" } });
        let mut found = step("found", json!({ "q": ["about {step.model.text}"] }));
        found["fallback"] = json!([step("other", json!({})), step("last", json!({ "q": "{place}" }))]);
        found["fallback"][1]["output"]["variable"] = json!("found");
        let steps = json!([
            step("model", json!({})),
            found,
            ask,
            step(
                "end",
                json!({ "deep": { "x": [1, "{step.found.first}"] }, "person": "{asked}", "place": "{place}", "fixed": "x" })
            )
        ]);
        let process = json!({ "name": "p", "initialContext": ["place"], "steps": steps, "outputTemplate": "{{end}}" });
        Plan::of(&Process::create(serde_json::from_value(process).unwrap()).unwrap()).unwrap()
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn an_input_derives_from_a_model_directly_or_through_other_steps() {
        let plan = plan();
        assert_eq!(plan.sources(3), BTreeSet::from([0, 1, 2, 5]));
        assert_eq!(plan.model_filled(1, &BTreeSet::from([0]), &BTreeSet::new()), names(&["q"]));
        assert_eq!(plan.model_filled(3, &BTreeSet::from([0]), &BTreeSet::new()), names(&["deep"]));
        assert_eq!(plan.model_filled(3, &BTreeSet::new(), &BTreeSet::new()), names(&[]));
        assert_eq!(
            plan.model_filled(3, &BTreeSet::new(), &names(&["place"])),
            names(&["deep", "place"]),
            "by a fallback"
        );
    }
}
