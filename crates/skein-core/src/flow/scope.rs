//! Lists the variables an expression may name: the initial context and the outputs of steps.
//!
//! Names are settled when a process is defined ([`Names`]), values while it runs ([`VariableScope`]). A variable is written
//! `x`, or by where it comes from: `context.x`, `step.x`. As every name is used once in a process, both mean the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::catalog::placeholder::is_variable_name;
use crate::rule::RuleViolation;

/// Longest name of a variable, in bytes.
pub const VARIABLE_BYTES_MAX: usize = 64;
/// Most variables that a refusal lists.
const NAMES_LISTED_MAX: usize = 20;
/// Words that mean something else where variables are named.
const RESERVED: [&str; 12] =
    ["context", "step", "error", "this", "else", "true", "false", "null", "undefined", "NaN", "Infinity", "__proto__"];

/// The values that expressions of a running process see. The variable of a step that was skipped, or that failed
/// without being required, is null.
#[derive(Debug, Clone, Copy)]
pub struct VariableScope<'a> {
    pub context: &'a Map<String, Value>,
    pub outputs: &'a BTreeMap<String, Value>,
    /// What went wrong, for abort conditions: `error.code`, `error.message`.
    pub error: Option<&'a Value>,
}

/// Where a variable comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableOrigin {
    Context,
    Step,
}

/// A variable that was found among the declared ones.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Variable {
    Named(VariableOrigin, String),
    /// The failure that abort conditions are about.
    Error,
}

/// The names that may be used at one place of a process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Names<'a> {
    pub(crate) context: BTreeSet<&'a str>,
    pub(crate) outputs: BTreeSet<&'a str>,
    pub(crate) error: bool,
}

/// How a name was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling<'a> {
    Bare(&'a str),
    Context(&'a str),
    Step(&'a str),
}

impl<'a> Spelling<'a> {
    /// `context.x` and `step.x` from their two words.
    pub(crate) fn qualified(space: &str, name: &'a str) -> Option<Self> {
        match space {
            "context" => Some(Self::Context(name)),
            "step" => Some(Self::Step(name)),
            _ => None,
        }
    }
}

impl Names<'_> {
    pub(crate) fn find(&self, spelling: Spelling) -> Option<Variable> {
        let named = |origin, name: &str| Some(Variable::Named(origin, name.to_owned()));
        match spelling {
            Spelling::Bare("error") if self.error => Some(Variable::Error),
            Spelling::Bare(name) | Spelling::Context(name) if self.context.contains(name) => {
                named(VariableOrigin::Context, name)
            }
            Spelling::Bare(name) | Spelling::Step(name) if self.outputs.contains(name) => {
                named(VariableOrigin::Step, name)
            }
            _ => None,
        }
    }

    /// The first of them in words, for the one who chose another.
    pub(crate) fn describe(&self) -> String {
        let context = self.context.iter().map(|name| format!("context.{name}"));
        let outputs = self.outputs.iter().map(|name| format!("step.{name}"));
        let error = self.error.then(|| "error.code, error.message".to_owned());
        let listed: Vec<String> = error.into_iter().chain(context).chain(outputs).take(NAMES_LISTED_MAX).collect();
        let all = self.context.len() + self.outputs.len() + usize::from(self.error);
        match all - listed.len() {
            _ if all == 0 => "there are no variables here".to_owned(),
            0 => format!("here are {}", listed.join(", ")),
            more => format!("here are {} and {more} more", listed.join(", ")),
        }
    }
}

impl<'a> VariableScope<'a> {
    /// The value of a variable; nothing if an optional one was not given.
    pub(crate) fn value(&self, variable: &Variable) -> Option<&'a Value> {
        match variable {
            Variable::Named(VariableOrigin::Context, name) => self.context.get(name),
            Variable::Named(VariableOrigin::Step, name) => self.outputs.get(name),
            Variable::Error => self.error,
        }
    }
}

/// Whether a word can be the name of a variable.
pub(crate) fn check_variable(rule: &'static str, name: &str) -> Result<(), RuleViolation> {
    if is_variable_name(name) && name.len() <= VARIABLE_BYTES_MAX && !RESERVED.contains(&name) {
        return Ok(());
    }
    let shown: String = name.chars().take(VARIABLE_BYTES_MAX).collect();
    let remedy = "use letters, digits and _, no digit first, and none of context, step, error, this";
    Err(RuleViolation::new(rule, format!("{shown:?} cannot name a variable"), remedy))
}
