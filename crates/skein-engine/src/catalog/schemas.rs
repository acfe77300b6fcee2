//! Judges by the schemas of users, where that holds nobody up.
//!
//! What takes a few milliseconds is done on the spot, by schemas that are kept compiled. What may take longer is a computation
//! (`docs/decisions/0030-limits-before-work.md`): a transaction ends, asks for it, and runs again; an async task waits for it.
//! A verdict is about a schema and a value by what they say, so one that was worked out before a change is never taken for the
//! state after it.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use lru::LruCache;
use serde_json::Value;
use skein_core::catalog::entry::Entry as _;
use skein_core::catalog::schema::{BadSchema, Schema, SchemaJudge, Unfit, Verdict};
use skein_core::flow::process::Process;
use skein_core::flow::validation::Violations;
use skein_core::{RuleViolation, UserId};
use skein_store::{Computation, Computed, StoreError};
use tokio::sync::OnceCell;

use crate::compute::ComputeError;
use crate::engine::Engine;
use crate::flow::Targets;

/// Memory of the compiled schemas that are kept; beyond it, those that were not used for longest leave.
const KEPT_BYTES_MAX: usize = 64 << 20;

/// What a question says: two hashes under keys that nobody outside knows.
type Mark = (u64, u64);

/// How a value is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Patience {
    /// However long it takes.
    Any,
    /// What would take long is refused.
    Short,
}

/// What a computation found out for a transaction.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Answer {
    /// Whether a value satisfies a schema.
    Verdict(Verdict),
    /// All that is wrong with a process by its targets.
    Breaches(Arc<Violations>),
    /// Whether a process may be kept with its targets.
    Checked(Result<(), RuleViolation>),
}

/// Schemas that were compiled, and answers somebody waits for.
#[derive(Default)]
pub(crate) struct Schemas {
    kept: Mutex<CompiledSchemas>,
    answers: Mutex<HashMap<Mark, Weak<OnceCell<Answer>>>>,
    keys: (RandomState, RandomState),
}

struct CompiledSchemas {
    /// By a hash of what they say.
    compiled: LruCache<u64, Arc<Schema>>,
    bytes: usize,
    bytes_max: usize,
}

impl Default for CompiledSchemas {
    fn default() -> Self {
        Self { compiled: LruCache::unbounded(), bytes: 0, bytes_max: KEPT_BYTES_MAX }
    }
}

impl CompiledSchemas {
    fn put(&mut self, hash: u64, schema: &Arc<Schema>) {
        self.bytes += schema.bytes();
        if let Some((_, earlier)) = self.compiled.push(hash, Arc::clone(schema)) {
            self.bytes -= earlier.bytes();
        }
        while self.bytes > self.bytes_max {
            let Some((_, unused)) = self.compiled.pop_lru() else { break };
            self.bytes -= unused.bytes();
        }
    }
}

impl Schemas {
    fn mark(&self, said: &impl Hash) -> Mark {
        (self.keys.0.hash_one(said), self.keys.1.hash_one(said))
    }

    fn kept(&self) -> MutexGuard<'_, CompiledSchemas> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, schema: &Value) -> Option<Arc<Schema>> {
        let hash = self.keys.0.hash_one(schema);
        let found = self.kept().compiled.get(&hash).cloned();
        found.filter(|found| found.is_of(schema))
    }

    /// Nobody waits while somebody compiles; two who need the same at the same time both do.
    fn compile(&self, schema: &Value) -> Result<Arc<Schema>, BadSchema> {
        if let Some(found) = self.find(schema) {
            return Ok(found);
        }
        let compiled = Arc::new(Schema::compile(schema)?);
        self.kept().put(self.keys.0.hash_one(schema), &compiled);
        Ok(compiled)
    }

    /// The compiled schema, if it is there or compiled in a few milliseconds.
    fn at_hand(&self, schema: &Value) -> Option<Result<Arc<Schema>, BadSchema>> {
        match self.find(schema) {
            Some(found) => Some(Ok(found)),
            None => Schema::is_compiled_promptly(schema).then(|| self.compile(schema)),
        }
    }

    /// A verdict, if it takes a few milliseconds.
    fn promptly(&self, schema: &Value, value: Option<&Value>, patience: Patience) -> Option<Verdict> {
        let schema = match self.at_hand(schema)? {
            Ok(schema) => schema,
            Err(bad) => return Some(Err(Unfit::Schema(bad))),
        };
        let Some(value) = value else { return Some(Ok(())) };
        match patience {
            Patience::Short => Some(schema.judge_promptly(value)),
            Patience::Any => schema.is_prompt(value).then(|| schema.judge(value)),
        }
    }

    /// A verdict, however long it takes.
    fn work_out(&self, schema: &Value, value: Option<&Value>, patience: Patience) -> Verdict {
        let schema = self.compile(schema).map_err(Unfit::Schema)?;
        let Some(value) = value else { return Ok(()) };
        match patience {
            Patience::Short => schema.judge_promptly(value),
            Patience::Any => schema.judge(value),
        }
    }

    /// The place of an answer: those who ask for the same wait for one computation.
    fn awaited(&self, mark: Mark) -> Arc<OnceCell<Answer>> {
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = answers.get(&mark).and_then(Weak::upgrade) {
            return found;
        }
        answers.retain(|_, answer| answer.strong_count() > 0);
        let awaited = Arc::new(OnceCell::new());
        answers.insert(mark, Arc::downgrade(&awaited));
        awaited
    }

    /// An answer that was worked out for somebody who still holds on to it.
    fn worked_out(&self, mark: Mark) -> Option<Answer> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        answers.get(&mark)?.upgrade()?.get().cloned()
    }
}

/// Judges inside a transaction, in the name of a user.
pub(crate) struct Judge<'a> {
    engine: &'a Engine,
    by: UserId,
}

impl Judge<'_> {
    fn ask(&self, schema: &Value, value: Option<&Value>, patience: Patience) -> Result<Verdict, StoreError> {
        let schemas = &self.engine.parts().schemas;
        if let Some(verdict) = schemas.promptly(schema, value, patience) {
            return Ok(verdict);
        }
        let answer = self.computed(&("verdict", schema, value, patience), || {
            let (engine, schema, value) = (self.engine.clone(), schema.clone(), value.cloned());
            move || Answer::Verdict(engine.parts().schemas.work_out(&schema, value.as_ref(), patience))
        })?;
        let Answer::Verdict(verdict) = answer else { unreachable!("what is asked says what is answered") };
        Ok(verdict)
    }

    /// What a computation found out about a question; without it, the transaction ends and runs again once it is known.
    fn computed<W>(&self, question: &impl Hash, work: impl FnOnce() -> W) -> Result<Answer, StoreError>
    where
        W: FnOnce() -> Answer + Send + 'static,
    {
        let schemas = &self.engine.parts().schemas;
        let mark = schemas.mark(question);
        if let Some(answer) = schemas.worked_out(mark) {
            return Ok(answer);
        }
        let (engine, by, work) = (self.engine.clone(), self.by, work());
        Err(StoreError::NeedsComputation(Computation::new(async move {
            let awaited = engine.parts().schemas.awaited(mark);
            let working = || async { engine.compute().run(by, work).await.map_err(not_computed) };
            awaited.get_or_try_init(working).await?;
            Ok(Arc::new(awaited) as Computed)
        })))
    }

    /// All that is wrong with a process by its targets.
    pub(crate) fn breaches(&self, process: &Process, targets: &Targets) -> Result<Arc<Violations>, StoreError> {
        if targets.is_prompt(process) {
            return Ok(Arc::new(targets.breaches(process)));
        }
        let answer = self.computed(&("breaches", process.to_data(), targets.asked(process)), || {
            let (process, targets) = (process.clone(), targets.clone());
            move || Answer::Breaches(Arc::new(targets.breaches(&process)))
        })?;
        let Answer::Breaches(breaches) = answer else { unreachable!("what is asked says what is answered") };
        Ok(breaches)
    }

    /// Refuses a process that may not be kept with its targets.
    pub(crate) fn check_targets(&self, process: &Process, targets: &Targets) -> Result<(), StoreError> {
        if targets.is_prompt(process) {
            return Ok(targets.check(process)?);
        }
        let answer = self.computed(&("targets", process.to_data(), targets.asked(process)), || {
            let (process, targets) = (process.clone(), targets.clone());
            move || Answer::Checked(targets.check(&process))
        })?;
        let Answer::Checked(checked) = answer else { unreachable!("what is asked says what is answered") };
        Ok(checked?)
    }
}

impl SchemaJudge for Judge<'_> {
    type Error = StoreError;

    fn usable(&self, schema: &Value) -> Result<Result<(), BadSchema>, StoreError> {
        Ok(match self.ask(schema, None, Patience::Any)? {
            Err(Unfit::Schema(bad)) => Err(bad),
            Ok(()) | Err(Unfit::Value(_)) => Ok(()),
        })
    }

    fn verdict(&self, schema: &Value, value: &Value) -> Result<Verdict, StoreError> {
        self.ask(schema, Some(value), Patience::Any)
    }

    fn prompt_verdict(&self, schema: &Value, value: &Value) -> Result<Verdict, StoreError> {
        self.ask(schema, Some(value), Patience::Short)
    }
}

fn not_computed(error: ComputeError) -> StoreError {
    match error {
        ComputeError::OfUser => StoreError::TooManyComputations(error.to_string()),
        ComputeError::OfServer => StoreError::Busy,
        ComputeError::Panicked(message) => StoreError::Panicked(message),
    }
}

impl Engine {
    /// Judges inside a transaction, in the name of a user: what takes long is computed before the transaction runs again.
    pub(crate) fn judge(&self, by: UserId) -> Judge<'_> {
        Judge { engine: self, by }
    }

    /// Judges outside of any transaction. What takes long waits for a place among the computations, and is not refused: a call
    /// is made once.
    pub(crate) async fn verdict(
        &self,
        by: UserId,
        schema: &Value,
        value: &Arc<Value>,
    ) -> Result<Verdict, ComputeError> {
        if let Some(verdict) = self.parts().schemas.promptly(schema, Some(value), Patience::Any) {
            return Ok(verdict);
        }
        let (engine, schema, value) = (self.clone(), schema.clone(), Arc::clone(value));
        let work = move || engine.parts().schemas.work_out(&schema, Some(&value), Patience::Any);
        self.compute().place_in_time(by).await.run(work).await
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A schema of about 300 KiB of memory, by number.
    fn numbered(number: usize) -> Value {
        json!({ "title": number.to_string(), "anyOf": vec![json!({}); 300] })
    }

    #[test]
    fn compiled_schemas_are_bounded_by_their_bytes_and_those_used_least_leave() {
        let schemas = Schemas::default();
        let bytes = Schema::compile(&numbered(0)).unwrap().bytes();
        schemas.kept().bytes_max = 3 * bytes + bytes / 2;
        for number in [0, 1, 2, 0, 3] {
            schemas.compile(&numbered(number)).unwrap();
        }
        let is_kept = |number: usize| schemas.find(&numbered(number)).is_some();
        assert_eq!([0, 1, 2, 3].map(is_kept), [true, false, true, true]);
        let kept = schemas.kept();
        assert_eq!((kept.bytes, kept.compiled.len()), (3 * bytes, 3));
    }

    #[test]
    fn a_schema_that_alone_is_larger_than_the_limit_is_used_and_not_kept() {
        let schemas = Schemas::default();
        schemas.kept().bytes_max = 1_000;
        assert!(schemas.compile(&numbered(0)).is_ok());
        let kept = schemas.kept();
        assert_eq!((kept.bytes, kept.compiled.len()), (0, 0));
    }

    #[test]
    fn a_verdict_stays_while_somebody_holds_on_to_it() {
        let schemas = Schemas::default();
        let (one, other) = (schemas.mark(&("schema", "value")), schemas.mark(&("schema", "another value")));
        let awaited = schemas.awaited(one);
        assert!(schemas.worked_out(one).is_none(), "it is not there yet");
        let answer = Answer::Verdict(Ok(()));
        awaited.set(answer.clone()).unwrap();
        assert_eq!((schemas.worked_out(one), schemas.worked_out(other)), (Some(answer), None));
        assert!(Arc::ptr_eq(&awaited, &schemas.awaited(one)));
        drop(awaited);
        assert!(schemas.worked_out(one).is_none());
    }
}
