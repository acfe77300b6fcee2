//! Defines projects, which group conversations and artifacts, and the frame of each participant.
//!
//! Which conversations belong to it is told by `groups_with` relations, and the stack of its branches by the order
//! they were made in; neither is written here.

use serde::{Deserialize, Serialize};

use crate::catalog::entry::{self, Description, Entry, FixedField, Name, refuse_fixed};
use crate::rule::RuleViolation;

/// What the project every user starts with is called.
pub const FIRST_PROJECT_NAME: &str = "My project";

/// A project as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    pub name: Name,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<Description>,
    /// Whether new conversations go here when nothing else is said; true for exactly one of each user.
    pub is_default: bool,
}

impl Entry for Project {
    const RECORD_TYPE: &'static str = "Project";
}

/// What a client sends to make a project.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProjectDraft {
    pub name: Name,
    pub description: Option<Description>,
}

/// What a client sends to alter a project; what is absent stays.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ProjectChange {
    pub name: Option<Name>,
    #[serde(deserialize_with = "entry::named")]
    pub description: Option<Option<Description>>,
    pub is_default: FixedField,
    pub owner_id: FixedField,
    pub stack: FixedField,
}

impl Project {
    pub fn create(draft: ProjectDraft) -> Self {
        Self { name: draft.name, description: draft.description, is_default: false }
    }

    /// The one every user starts with (rule MG-PROJ-003).
    pub fn first() -> Self {
        Self { name: Name::shorten(FIRST_PROJECT_NAME), description: None, is_default: true }
    }

    pub fn change(&self, change: ProjectChange) -> Result<Self, RuleViolation> {
        refuse_fixed(
            "MG-PROJ-003",
            &[("isDefault", change.is_default)],
            "name the project when making a conversation",
        )?;
        refuse_fixed("MG-PROJ-003", &[("ownerId", change.owner_id)], "make a project of your own")?;
        refuse_fixed("MG-PROJ-001", &[("stack", change.stack)], "make a branch: it joins the stack by itself")?;
        let mut next = self.clone();
        next.name = change.name.unwrap_or(next.name);
        next.description = change.description.unwrap_or(next.description);
        Ok(next)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn project() -> Project {
        Project::create(serde_json::from_value(json!({ "name": "Garden", "description": "plants" })).unwrap())
    }

    #[test]
    fn mg_proj_003_a_user_starts_with_one_project_holds() {
        assert!(Project::first().is_default && !project().is_default);
        assert_eq!(Project::from_data(&project().to_data()), Some(project()));
        let change = serde_json::from_value(json!({ "name": "Orchard", "description": null })).unwrap();
        let changed = project().change(change).unwrap();
        assert_eq!((changed.name.as_str(), changed.description), ("Orchard", None));
    }

    #[test]
    fn mg_proj_003_another_default_or_owner_refuses() {
        for document in [json!({ "isDefault": true }), json!({ "ownerId": "user_x" })] {
            let change = serde_json::from_value(document).unwrap();
            assert_eq!(project().change(change).unwrap_err().rule(), "MG-PROJ-003");
        }
        assert!(serde_json::from_value::<ProjectDraft>(json!({ "name": "" })).is_err());
    }
}
