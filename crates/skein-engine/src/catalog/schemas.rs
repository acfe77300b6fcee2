//! Schemas of tools and services, compiled once for each version.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use skein_core::catalog::schema::{BadSchema, Schema};
use skein_core::catalog::service::Service;
use skein_core::catalog::tool::Tool;
use skein_core::{RecordId, RuleViolation};

use crate::catalog::Shown;

/// Most schemas kept; beyond that all are forgotten and compiled again as they are needed.
const KEPT_MAX: usize = 4_096;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    Inputs,
    Outputs,
    Connection,
}

/// What was compiled, by what it belongs to, its version, and side.
type Kept = HashMap<(RecordId, u32, Side), Arc<Schema>>;

#[derive(Default)]
pub(crate) struct Schemas(Mutex<Kept>);

impl Schemas {
    pub(crate) fn of_inputs(&self, tool: &Shown<Tool>) -> Result<Arc<Schema>, RuleViolation> {
        self.of_tool(tool, Side::Inputs, &tool.entry.input_schema)
    }

    pub(crate) fn of_outputs(&self, tool: &Shown<Tool>) -> Result<Arc<Schema>, RuleViolation> {
        self.of_tool(tool, Side::Outputs, &tool.entry.output_schema)
    }

    pub(crate) fn of_service(&self, service: &Shown<Service>) -> Result<Arc<Schema>, RuleViolation> {
        let key = (service.id, service.entry.schema_version, Side::Connection);
        self.find(key, || service.entry.compiled_schema())
    }

    fn of_tool(&self, tool: &Shown<Tool>, side: Side, schema: &Value) -> Result<Arc<Schema>, RuleViolation> {
        let unusable = |bad: BadSchema| {
            RuleViolation::new("BR-TOOL-003", format!("a schema of the tool is not usable: {bad}"), "change the tool")
        };
        self.find((tool.id, tool.entry.definition_version, side), || Schema::compile(schema).map_err(unusable))
    }

    /// Nobody waits while somebody compiles; two who need the same at the same time both do.
    fn find(
        &self,
        key: (RecordId, u32, Side),
        compile: impl FnOnce() -> Result<Schema, RuleViolation>,
    ) -> Result<Arc<Schema>, RuleViolation> {
        if let Some(found) = self.kept().get(&key) {
            return Ok(Arc::clone(found));
        }
        let compiled = Arc::new(compile()?);
        let mut kept = self.kept();
        if kept.len() >= KEPT_MAX {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&compiled));
        Ok(compiled)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
