//! The text a process answers with: `{{x}}`, filled in without escaping anything.

use crate::catalog::placeholder::plain;
use crate::flow::scope::{Names, Scope, Spelling, Variable};
use crate::rule::RuleViolation;

/// A template that was understood.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    variable: Variable,
}

impl Template {
    /// Understands a template; each variable must be known (BR-PROCESS-005).
    pub(crate) fn parse(source: &str, names: &Names) -> Result<Self, RuleViolation> {
        let name = source.strip_prefix("{{").and_then(|rest| rest.strip_suffix("}}"));
        let variable = name.and_then(|name| names.find(Spelling::Bare(name))).ok_or_else(|| {
            let problem = format!("the outputTemplate is not one variable; {}", names.describe());
            RuleViolation::new("BR-PROCESS-005", problem, "write {{x}} with a variable of a step")
        })?;
        Ok(Self { variable })
    }

    pub(crate) fn render(&self, scope: &Scope) -> Result<String, RuleViolation> {
        Ok(scope.value(&self.variable).map(plain).unwrap_or_default())
    }

    /// The variable that alone fills the template.
    pub(crate) fn sole_variable(&self) -> Option<&Variable> {
        Some(&self.variable)
    }
}
