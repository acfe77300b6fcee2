//! Judges values by schemas of users: on the spot, or in a place where it delays nobody.
//!
//! Rules about tools, services, processes and reviews ask a [`SchemaJudge`]. [`AtOnce`] answers in place. The engine has one for
//! transactions: it refuses to begin what takes long, and the transaction runs again once that is done.

use serde_json::Value;

use crate::catalog::schema::{BadSchema, Schema, SchemaBreach};
use crate::rule::RuleViolation;

/// Whether a value satisfies a schema.
pub type Verdict = Result<(), Unfit>;

/// Why a value does not satisfy a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfit {
    /// The schema cannot be used.
    Schema(BadSchema),
    /// The value breaks it.
    Value(Vec<SchemaBreach>),
}

/// Judges by schemas of users.
pub trait SchemaJudge {
    /// Why there is no verdict, or what a rule refuses.
    type Error: From<RuleViolation>;

    /// Whether a schema can be used.
    fn usable(&self, schema: &Value) -> Result<Result<(), BadSchema>, Self::Error>;

    /// Whether a value satisfies a schema.
    fn verdict(&self, schema: &Value, value: &Value) -> Result<Verdict, Self::Error>;

    /// Whether parameters of a connection satisfy a service's schema. They are few, and every list of tools judges them: what
    /// would take long is refused.
    fn prompt_verdict(&self, schema: &Value, value: &Value) -> Result<Verdict, Self::Error>;
}

/// Judges in place, however long it takes.
#[derive(Debug, Clone, Copy)]
pub struct AtOnce;

impl SchemaJudge for AtOnce {
    type Error = RuleViolation;

    fn usable(&self, schema: &Value) -> Result<Result<(), BadSchema>, RuleViolation> {
        Ok(Schema::compile(schema).map(drop))
    }

    fn verdict(&self, schema: &Value, value: &Value) -> Result<Verdict, RuleViolation> {
        Ok(Schema::compile(schema).map_err(Unfit::Schema).and_then(|schema| schema.judge(value)))
    }

    fn prompt_verdict(&self, schema: &Value, value: &Value) -> Result<Verdict, RuleViolation> {
        Ok(Schema::compile(schema).map_err(Unfit::Schema).and_then(|schema| schema.judge_promptly(value)))
    }
}

impl Schema {
    /// [`Self::check`] as a verdict.
    pub fn judge(&self, value: &Value) -> Verdict {
        self.check(value).map_err(Unfit::Value)
    }

    /// [`Self::check_promptly`] as a verdict.
    pub fn judge_promptly(&self, value: &Value) -> Verdict {
        self.check_promptly(value).map_err(Unfit::Value)
    }
}
