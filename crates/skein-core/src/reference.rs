//! States how a reference is refused that cannot be used: the same way, whatever the reason (decision Z34).
//!
//! A body names only things that exist, are visible to the writer and are of the stated kind. An answer that told these cases
//! apart would tell what others have.

use std::fmt::Display;

use crate::rule::RuleViolation;

/// A field of a request that names something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReferenceField {
    rule: &'static str,
    field: &'static str,
    kind: &'static str,
}

impl ReferenceField {
    pub const fn new(rule: &'static str, field: &'static str, kind: &'static str) -> Self {
        Self { rule, field, kind }
    }

    /// For what does not exist, is invisible to the writer or is of another kind.
    pub fn unusable(self, id: impl Display) -> RuleViolation {
        let problem = format!("{} names {id}, but there is no such {} for you to name", self.field, self.kind);
        RuleViolation::new(self.rule, problem, "name one that exists, is visible to you and is of this kind")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z34_a_refusal_names_the_field_the_id_and_the_kind_refuses() {
        let refused = ReferenceField::new("MG-PROJ-003", "projectId", "project").unusable("entity_1");
        assert_eq!(refused.rule(), "MG-PROJ-003");
        assert_eq!(refused.problem(), "projectId names entity_1, but there is no such project for you to name");
    }
}
