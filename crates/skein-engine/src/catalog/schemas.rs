//! Schemas of tools, compiled once for each version of a tool.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use skein_core::catalog::schema::Schema;
use skein_core::catalog::tool::Tool;
use skein_core::{RecordId, RuleViolation};

use crate::catalog::Shown;

/// Most schemas kept; beyond that all are forgotten and compiled again as they are needed.
const KEPT_MAX: usize = 4_096;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    Inputs,
    Outputs,
}

/// What was compiled, by tool, version of its definition, and side.
#[derive(Default)]
pub(crate) struct Schemas(Mutex<HashMap<(RecordId, u32, Side), Arc<Schema>>>);

impl Schemas {
    pub(crate) fn of_inputs(&self, tool: &Shown<Tool>) -> Result<Arc<Schema>, RuleViolation> {
        self.find(tool, Side::Inputs, &tool.entry.input_schema)
    }

    pub(crate) fn of_outputs(&self, tool: &Shown<Tool>) -> Result<Arc<Schema>, RuleViolation> {
        self.find(tool, Side::Outputs, &tool.entry.output_schema)
    }

    fn find(&self, tool: &Shown<Tool>, side: Side, schema: &Value) -> Result<Arc<Schema>, RuleViolation> {
        let key = (tool.id, tool.entry.definition_version, side);
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = kept.get(&key) {
            return Ok(Arc::clone(found));
        }
        let compiled = Schema::compile(schema).map_err(|bad| {
            RuleViolation::new("BR-TOOL-003", format!("a schema of the tool is not usable: {bad}"), "change the tool")
        })?;
        let compiled = Arc::new(compiled);
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }
}
