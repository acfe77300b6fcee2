//! What somebody may bring of the catalogue from elsewhere: entries that can be read as what they say they are.
//!
//! Whose they are and whether what they refer to is there is looked up by whoever keeps them.

use crate::catalog::entry::Entry;
use crate::catalog::secret::{Secret, SecretBinding};
use crate::catalog::service::Service;
use crate::catalog::template::{ServiceTemplate, ToolTemplate};
use crate::catalog::tool::Tool;
use crate::garden::record::RecordContent;
use crate::rule::RuleViolation;

/// Refuses what no act of its owner could have made: which addresses may be called is for administrators.
pub fn check(content: &RecordContent) -> Result<(), RuleViolation> {
    let is_entry = match content.record_type.as_str() {
        Service::RECORD_TYPE => is::<Service>(content),
        Secret::RECORD_TYPE => is::<Secret>(content),
        SecretBinding::RECORD_TYPE => is::<SecretBinding>(content),
        Tool::RECORD_TYPE => is::<Tool>(content),
        ServiceTemplate::RECORD_TYPE => is::<ServiceTemplate>(content),
        ToolTemplate::RECORD_TYPE => is::<ToolTemplate>(content),
        _ => false,
    };
    if is_entry {
        return Ok(());
    }
    let problem = format!("it is no {} that its owner could have made", content.record_type);
    Err(RuleViolation::new("MG-CORE-007", problem, "ask who runs this installation to import the bundle"))
}

fn is<T: Entry>(content: &RecordContent) -> bool {
    T::from_data(&content.data).is_some()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::garden::record::RecordType;

    fn checked(record_type: &str, data: Value) -> Result<(), RuleViolation> {
        let Value::Object(data) = data else { unreachable!() };
        check(&RecordContent::new(RecordType::parse(record_type).unwrap(), data))
    }

    #[test]
    fn entries_may_come_and_what_only_looks_like_one_may_not() {
        let secret = json!({ "name": "key", "type": "api_key", "valueVersion": 1 });
        assert_eq!(checked("Secret", secret.clone()), Ok(()));
        assert!(checked("Secret", json!({ "name": "", "type": "api_key", "valueVersion": 1 })).is_err());
        assert!(checked("Tool", secret).is_err());
        assert!(checked("AllowedEndpoint", json!({ "host": "127.0.0.1", "port": 80 })).is_err());
        assert!(checked("User", json!({ "name": "anna", "role": "admin" })).is_err());
    }
}
