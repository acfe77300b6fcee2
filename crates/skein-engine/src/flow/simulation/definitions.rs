//! Processes drawn from a seed: a few steps after and beside each other, of every kind, with whatever a step may say.

use serde_json::{Value, json};
use skein_core::RecordId;

use crate::flow::simulation::{SeededRandom, oracle};

/// What drawn processes call.
#[derive(Debug, Clone)]
pub(super) struct Tools {
    /// Calling it twice does no harm.
    pub(super) safe: RecordId,
    pub(super) once: RecordId,
    /// Like it, and called by models only.
    pub(super) asked: RecordId,
    pub(super) model: RecordId,
    /// Processes that start no others.
    pub(super) processes: Vec<RecordId>,
}

/// How long a question waits that does not wait for ever, in seconds.
pub(super) const EXPIRES_AFTER_S: i64 = 15;
/// Longer than any schedule, in seconds: how long a model may take depends on nothing that is drawn.
const MODEL_SECONDS: u32 = 3_600;

pub(super) fn process(dice: &mut SeededRandom, tools: &Tools, name: &str) -> Value {
    let mut drawing = Drawing { dice, tools, steps: Vec::new() };
    for at in 0..=drawing.dice.below(4) {
        drawing.add_step(at);
    }
    let template = drawing.template(name);
    json!({ "name": name, "initialContext": ["x", "y"], "steps": drawing.steps, "outputTemplate": template })
}

struct Drawing<'a> {
    dice: &'a mut SeededRandom,
    tools: &'a Tools,
    steps: Vec<Value>,
}

impl Drawing<'_> {
    fn chosen<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.dice.below(from.len())].clone()
    }

    fn add_step(&mut self, at: usize) {
        let id = ["a", "b", "c", "d"][at];
        let mut step = json!({ "id": id, "output": { "variable": id, "required": !self.dice.one_in(4) } });
        if self.dice.one_in(3) {
            step["execution"] = json!({ "mode": "parallel" });
            let is_sequential = |step: &&Value| step["execution"]["mode"] != "parallel";
            let before: Vec<Value> = self.steps.iter().filter(is_sequential).map(|step| step["id"].clone()).collect();
            if !before.is_empty() && self.dice.one_in(3) {
                step["dependsOn"] = json!([self.chosen(&before)]);
            }
        }
        self.steps.push(step.clone());
        let known = self.known(at);
        if self.dice.one_in(4) {
            step["execution"]["condition"] = self.condition(&known);
        }
        self.target(&mut step, &known, true);
        if self.dice.one_in(4) {
            step["fallback"] = self.stand_ins(id, &known);
        }
        if self.dice.one_in(8) && step["toolId"].is_string() {
            step["abortWhen"] = json!([r#"error.code === "bad_request""#]);
        }
        self.steps[at] = step;
    }

    /// The variables of all steps that have ended when a step begins.
    fn known(&self, at: usize) -> Vec<String> {
        let steps: Vec<&Value> = self.steps.iter().collect();
        let mut open = oracle::deps(&steps, at);
        let mut known = Vec::new();
        while let Some(dep) = open.pop() {
            open.extend(oracle::deps(&steps, dep));
            known.push(steps[dep]["id"].as_str().unwrap().to_owned());
        }
        known.sort();
        known.dedup();
        known
    }

    /// One step that stands in for another, or two of which the last sees the first.
    fn stand_ins(&mut self, id: &str, known: &[String]) -> Value {
        let (mut known, mut steps) = (known.to_vec(), Vec::new());
        if self.dice.one_in(2) {
            let first = format!("{id}1");
            steps.push(self.stand_in(&first, &first, &known));
            known.push(first);
        }
        steps.push(self.stand_in(&format!("{id}2"), id, &known));
        Value::Array(steps)
    }

    fn stand_in(&mut self, id: &str, variable: &str, known: &[String]) -> Value {
        let mut step = json!({ "id": id, "output": { "variable": variable, "required": !self.dice.one_in(4) } });
        if self.dice.one_in(5) {
            step["execution"] = json!({ "condition": self.condition(known) });
        }
        self.target(&mut step, known, false);
        step
    }

    fn target(&mut self, step: &mut Value, known: &[String], is_main: bool) {
        match self.dice.below(11) {
            0 | 10 if !self.tools.processes.is_empty() => {
                step["processId"] = json!(self.chosen(&self.tools.processes.clone()));
                step["inputs"] = json!({ "x": "{x}", "y": { "list": [self.value(known, false)] } });
                if self.dice.one_in(2) {
                    step["execution"]["interactionMode"] = json!("manual");
                    self.review(step);
                }
            }
            1 => {
                step["ask"] = json!({ "prompt": format!("What of {}?", self.text(known)) });
                self.review(step);
                return;
            }
            2 | 3 if is_main && !self.steps.iter().any(|step| step["toolId"] == json!(self.tools.model)) => {
                self.model(step, known);
            }
            4 | 5 => {
                step["toolId"] = json!(self.chosen(&[self.tools.safe, self.tools.once]));
                step["inputs"] = json!({ "value": self.value(known, true) });
                step["execution"]["interactionMode"] = json!("manual");
                self.review(step);
            }
            _ => {
                step["toolId"] = json!(self.chosen(&[self.tools.safe, self.tools.once]));
                step["inputs"] = json!({ "value": self.value(known, true) });
            }
        }
        if self.dice.one_in(3) {
            let backoff = self.chosen(&["fixed", "exponential"]);
            let (times, pause) = (1 + self.dice.below(2), self.chosen(&[0, 700]));
            step["retry"] = json!({ "maxRetries": times, "backoff": backoff, "backoffMs": pause });
        }
    }

    fn model(&mut self, step: &mut Value, known: &[String]) {
        step["toolId"] = json!(self.tools.model);
        step["inputs"] = json!({ "messages": [{ "role": "user", "content": self.text(known) }] });
        if self.dice.one_in(4) {
            return;
        }
        let approval = self.chosen(&["always", "once"]);
        step["tools"] = json!([{ "toolId": self.tools.safe, "approval": "never" },
            { "toolId": self.tools.once, "approval": "never" }, { "toolId": self.tools.asked, "approval": approval }]);
        step["toolLimits"] = json!({ "rounds": 1 + self.dice.below(3), "seconds": MODEL_SECONDS });
    }

    fn review(&mut self, step: &mut Value) {
        step["review"] = match self.dice.below(5) {
            0 | 1 => return,
            2 => json!({ "expiresAfter": EXPIRES_AFTER_S, "onExpire": "fail" }),
            3 => json!({ "expiresAfter": EXPIRES_AFTER_S, "onExpire": "skip" }),
            _ => json!({ "expiresAfter": EXPIRES_AFTER_S, "onExpire": "default", "default": { "value": "nobody" } }),
        };
    }

    /// A value with places; one that is nowhere is not given at all, so not everybody can be given it.
    fn value(&mut self, known: &[String], may_be_nowhere: bool) -> Value {
        let name = self.name(known);
        match self.dice.below(10) {
            0 => json!("{x}"),
            1 => json!("{context.y.list[0]}"),
            2 => json!("{y}"),
            3 => json!(7),
            4 => json!(self.text(known)),
            5 => json!([format!("{{{name}}}"), { "deep": format!("{{{name}.nowhere}}") }]),
            6 if may_be_nowhere && !known.is_empty() => json!(format!("{{{name}.value}}")),
            7 if may_be_nowhere && !known.is_empty() => json!(format!("{{{name}.value[0]}}")),
            _ => json!(format!("{{{name}}}")),
        }
    }

    fn text(&mut self, known: &[String]) -> String {
        let name = self.name(known);
        self.chosen(&[
            format!("{{x}} and {{{name}.value}}"),
            format!("all of {{{name}}}, {{y.list}}"),
            format!("{{{name}.nowhere}} is nowhere"),
        ])
    }

    fn condition(&mut self, known: &[String]) -> Value {
        let name = self.name(known);
        json!(self.chosen(&[
            r#"x === "x""#.to_owned(),
            r#"x !== "x""#.to_owned(),
            format!("{name} != null"),
            format!("{name}?.value == null"),
            format!("{name}?.value != null"),
        ]))
    }

    fn name(&mut self, known: &[String]) -> String {
        if known.is_empty() { self.chosen(&["x", "y"]).to_owned() } else { self.chosen(known) }
    }

    fn template(&mut self, name: &str) -> String {
        let ids: Vec<String> = self.steps.iter().map(|step| step["id"].as_str().unwrap().to_owned()).collect();
        let parts = ids.iter().map(|id| match self.dice.below(3) {
            0 => format!(" {{{{{id}}}}}"),
            1 => format!(" {{{{step.{id}.value}}}}"),
            _ => format!(" {{{{#if {id}}}}}{{{{{id}.value}}}}{{{{else}}}}no {id}{{{{/if}}}}"),
        });
        format!("{name} of {{{{context.x}}}}:{}", parts.collect::<String>())
    }
}
