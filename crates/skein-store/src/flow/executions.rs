//! Stores executions and their steps.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use skein_core::flow::cost::CostTotals;
use skein_core::flow::execution::input::CallSite;
use skein_core::flow::execution::item_payload::{Failure, OutputTarget};
use skein_core::flow::execution::state::{Execution, ExecutionStatus, Phase, StepState};
use skein_core::flow::execution::tool_loop::ToolLoop;
use skein_core::flow::plan::Plan;
use skein_core::flow::process::Process;
use skein_core::{ConversationId, ExecutionId, ItemId, Millis, NodeId, OperationId, RecordId, UserId, Viewer};

use crate::db::sql::{DeferredStatement, OffsetRow, Row, Value, params};
use crate::error::{SqlError, StoreError};
use crate::flow::execution_prefetch::ExecutionPrefetch;
use crate::flow::projection::LastCall;
use crate::timeline::items::{Page, page};
use crate::tx::{Tx, system_only};

/// Most runs one page holds.
const RUNS_PER_PAGE_MAX: usize = 1_000;
/// Most runs that are forgotten at a time.
const SWEEP_ROWS_MAX: i64 = 500;

pub(super) const COLUMNS: &str =
    "id, owner, process, process_version, process_name, status, context, levels_left, stack, parent,
    parent_step, parent_call, conversation, node, answers, operation, branched_from, priority, tokens, output, failure,
    created_at, ended_at, session, cause, paused_at";

const STEP_WIDTH: usize = 14;
const PUT_STEP: &str =
    "INSERT INTO execution_steps (run, step, phase, attempt, inputs, output, fault, dialogue, tokens, call, is_open, raw,
         began_at, ended_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
     ON CONFLICT (run, step) DO UPDATE SET phase = excluded.phase, attempt = excluded.attempt,
         inputs = excluded.inputs, output = excluded.output, fault = excluded.fault, dialogue = excluded.dialogue,
         tokens = excluded.tokens, call = excluded.call, is_open = excluded.is_open, raw = excluded.raw,
         began_at = excluded.began_at, ended_at = excluded.ended_at";

/// A run that begins.
#[derive(Debug, Clone)]
pub struct NewExecution {
    pub id: ExecutionId,
    pub owner: UserId,
    pub process: RecordId,
    pub process_version: i64,
    pub process_name: String,
    pub parent: Option<(ExecutionId, CallSite)>,
    pub target: Option<OutputTarget>,
    /// In which its calls are numbered: the conversation or the outermost run, by its bits.
    pub session: ExecutionId,
    /// What led to it.
    pub cause: ItemId,
    pub operation: Option<OperationId>,
    pub branched_from: Option<ExecutionId>,
    /// Higher comes first among its owner's.
    pub priority: i64,
    /// Since when nothing of it is begun, where the run that starts it is paused.
    pub paused_at: Option<Millis>,
}

/// A run as it stands, without its steps.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecutionRow {
    pub id: ExecutionId,
    pub owner: UserId,
    pub process: RecordId,
    pub process_version: i64,
    pub process_name: String,
    pub status: ExecutionStatus,
    pub context: Map<String, Json>,
    pub levels_left: u8,
    pub stack: Vec<String>,
    /// The run that started this one, and where.
    pub parent: Option<(ExecutionId, CallSite)>,
    pub target: Option<OutputTarget>,
    pub session: ExecutionId,
    pub cause: ItemId,
    pub operation: Option<OperationId>,
    pub branched_from: Option<ExecutionId>,
    pub priority: i64,
    pub tokens: i64,
    pub output: Option<Json>,
    pub failure: Option<Failure>,
    pub created_at: Millis,
    pub ended_at: Option<Millis>,
    /// Since when nothing of it is begun, while somebody has it paused.
    pub paused_at: Option<Millis>,
}

/// A step of a run, with the last call that was made for it.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRow {
    pub step: usize,
    pub state: StepState,
    pub call: Option<ItemId>,
    /// Whether what came of that call is not known yet.
    pub is_open: bool,
    /// What a model answered, as it was received.
    pub raw: Option<ItemId>,
    /// What its calls and the runs it started cost, as far as that is known.
    pub owed: CostTotals,
}

impl StepRow {
    /// A step that has not begun.
    pub fn waiting(step: usize) -> Self {
        Self { step, state: StepState::default(), call: None, is_open: false, raw: None, owed: CostTotals::default() }
    }
}

/// A step with its documents as text.
struct SpelledStep<'a> {
    row: &'a StepRow,
    inputs: String,
    output: String,
    fault: Option<String>,
    dialogue: Option<String>,
}

impl<'a> SpelledStep<'a> {
    fn of(row: &'a StepRow) -> Self {
        let state = &row.state;
        Self {
            row,
            inputs: to_text(&state.inputs),
            output: state.output.to_string(),
            fault: state.fault.as_ref().map(to_text),
            dialogue: write_dialogue(state.dialogue.as_ref(), &row.owed),
        }
    }

    fn values<'b>(&'b self, run: &'b ExecutionId) -> [Value<'b>; STEP_WIDTH] {
        let StepRow { step, state, call, is_open, raw, owed: _ } = self.row;
        [
            Value::from(run),
            whole(*step).into(),
            state.phase.as_str().into(),
            i64::from(state.attempt).into(),
            (&self.inputs).into(),
            (&self.output).into(),
            self.fault.as_ref().into(),
            self.dialogue.as_ref().into(),
            i64::try_from(state.tokens).unwrap_or(i64::MAX).into(),
            call.as_ref().into(),
            (*is_open).into(),
            raw.as_ref().into(),
            state.began_at.into(),
            state.ended_at.into(),
        ]
    }
}

/// Which runs to list.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExecutionFilter {
    pub status: Option<ExecutionStatus>,
    pub process: Option<RecordId>,
    pub conversation: Option<ConversationId>,
}

impl NewExecution {
    /// The row that is written for it.
    fn begun(self, state: &Execution, now: Millis) -> ExecutionRow {
        ExecutionRow {
            id: self.id,
            owner: self.owner,
            process: self.process,
            process_version: self.process_version,
            process_name: self.process_name,
            status: ExecutionStatus::Running,
            context: state.context.clone(),
            levels_left: state.levels_left,
            stack: state.stack.clone(),
            parent: self.parent,
            target: self.target,
            session: self.session,
            cause: self.cause,
            operation: self.operation,
            branched_from: self.branched_from,
            priority: self.priority,
            tokens: 0,
            output: None,
            failure: None,
            created_at: now,
            ended_at: None,
            paused_at: self.paused_at,
        }
    }
}

impl ExecutionRow {
    /// Where the run stands, put together from its steps.
    pub fn standing(&self, steps: &[StepRow], process: &Process, plan: &Plan) -> Execution {
        let mut states = vec![StepState::default(); plan.steps().len()];
        for row in steps {
            if let Some(state) = states.get_mut(row.step) {
                *state = row.state.clone();
            }
        }
        Execution {
            status: self.status,
            context: self.context.clone(),
            steps: states,
            levels_left: self.levels_left,
            stack: self.stack.clone(),
            token_budget: process.token_budget,
        }
    }
}

impl Tx<'_> {
    /// Writes a run down that begins now.
    pub fn insert_execution(&mut self, new: NewExecution, state: &Execution) -> Result<ExecutionRow, StoreError> {
        let now = self.now();
        let (parent, place) = (new.parent.as_ref().map(|(run, _)| run), new.parent.as_ref().map(|(_, place)| place));
        let (context, stack) = (to_text(&state.context), to_text(&state.stack));
        let target = new.target.as_ref();
        let sql =
            "INSERT INTO executions (id, owner, process, process_version, process_name, status, context, levels_left, stack,
                 parent, parent_step, parent_call, conversation, node, answers, operation, branched_from, priority, tokens,
                 created_at, session, cause, paused_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 'running', ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, 0, ?18, ?19, ?20,
                 ?21)";
        let values = params![
            &new.id,
            &new.owner,
            &new.process,
            new.process_version,
            &new.process_name,
            &context,
            i64::from(state.levels_left),
            &stack,
            parent,
            place.map(|place| whole(place.step)),
            place.and_then(|place| place.call).map(whole),
            target.map(|target| &target.conversation_id),
            target.map(|target| &target.node_id),
            target.and_then(|target| target.parent_id.as_ref()),
            new.operation.as_ref(),
            new.branched_from.as_ref(),
            new.priority,
            now,
            &new.session,
            &new.cause,
            new.paused_at,
        ];
        self.execute_later(DeferredStatement::new("executions", sql, values))?;
        Ok(new.begun(state, now))
    }

    /// Writes where steps stand.
    pub fn put_steps(&mut self, run: ExecutionId, rows: &[StepRow]) -> Result<(), StoreError> {
        self.sql.forget_run(run);
        for row in rows {
            let spelled = SpelledStep::of(row);
            let values = spelled.values(&run);
            self.execute_later(DeferredStatement {
                key: 2,
                ..DeferredStatement::new("execution_steps", PUT_STEP, &values)
            })?;
        }
        Ok(())
    }

    /// Notes how a run ended; nothing when it had before.
    pub fn end_execution(
        &mut self,
        run: ExecutionId,
        state: &Execution,
        output: Option<&Json>,
        failure: Option<&Failure>,
    ) -> Result<(), StoreError> {
        self.sql.forget_run(run);
        let now = self.now();
        let (output, failure) = (output.map(ToString::to_string), failure.map(to_text));
        let tokens = i64::try_from(state.tokens()).unwrap_or(i64::MAX);
        let sql = "UPDATE executions SET status = ?2, output = ?3, failure = ?4, tokens = ?5, ended_at = ?6,
                 paused_at = NULL
             WHERE id = ?1 AND status = 'running'";
        let values = params![&run, state.status.as_str(), output.as_ref(), failure.as_ref(), tokens, now];
        self.execute_later(DeferredStatement::new("executions", sql, values))
    }

    /// Notes since when nothing of a run is begun, or that it goes on.
    pub fn note_paused(&mut self, viewer: &Viewer, run: ExecutionId, since: Option<Millis>) -> Result<(), StoreError> {
        system_only(viewer)?;
        self.sql.forget_run(run);
        self.execute(
            "UPDATE executions SET paused_at = ?2 WHERE id = ?1 AND status = 'running'",
            params![&run, since],
        )?;
        Ok(())
    }

    /// A run the viewer may see.
    pub fn execution(&mut self, viewer: &Viewer, id: ExecutionId) -> Result<ExecutionRow, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM executions WHERE id = ?1");
        let found = self.first(&sql, params![&id], read_execution)?;
        let found = found.filter(|row| viewer.may_read(row.owner, self.now()));
        found.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// A run that nobody else moves until the transaction ends. It is written as it was, not only locked: so somebody who
    /// works on an older snapshot collides instead of moving what they did not see.
    pub fn locked_execution(&mut self, viewer: &Viewer, id: ExecutionId) -> Result<ExecutionRow, StoreError> {
        system_only(viewer)?;
        if !self.sql.is_shared() {
            self.ahead = self.sql.take_run(id);
            #[cfg(debug_assertions)]
            self.check_ahead()?;
        }
        if let Some(row) = self.ahead.as_mut().and_then(|ahead| ahead.row(id)) {
            return Ok(row);
        }
        if !self.sql.is_shared() {
            return self.execution(viewer, id);
        }
        let sql = format!("UPDATE executions SET priority = priority WHERE id = ?1 RETURNING {COLUMNS}");
        self.first(&sql, params![&id], read_execution)?.ok_or_else(|| StoreError::NotFound(id.to_string()))
    }

    /// Leaves a continuing execution as it stands now to its next transition, where that is known to hold until then.
    pub fn leave_execution(&mut self, row: ExecutionRow, steps: Vec<StepRow>, last: Option<LastCall>) {
        if !self.sql.is_shared() {
            self.sql.keep_run(ExecutionPrefetch::left(row, steps, last));
        }
    }

    /// Every test asks whether what is kept of a run is what the database says.
    #[cfg(debug_assertions)]
    fn check_ahead(&mut self) -> Result<(), StoreError> {
        let Some(ahead) = self.ahead.take() else { return Ok(()) };
        let row = self.execution(&Viewer::System("a check"), ahead.id)?;
        let (steps, last) = self.steps_and_last_call(row.owner, row.id)?;
        let last = last.filter(|_| row.session == row.id);
        assert_eq!(
            Some(&ahead),
            ExecutionPrefetch::left(row, steps, last).as_ref(),
            "a run was changed past what is kept of it"
        );
        self.ahead = Some(ahead);
        Ok(())
    }

    /// The steps of a run that are more than waiting, in order.
    pub fn execution_steps(&mut self, run: ExecutionId) -> Result<Vec<StepRow>, StoreError> {
        if let Some((steps, _)) = self.ahead.as_mut().and_then(|ahead| ahead.steps(run)) {
            return Ok(steps);
        }
        let sql = "SELECT step, phase, attempt, inputs, output, fault, dialogue, tokens, call, raw, began_at, ended_at, is_open
             FROM execution_steps WHERE run = ?1 ORDER BY step";
        self.all(sql, params![&run], read_step)
    }

    /// The steps of a run as [`Self::execution_steps`] gives them, and the last call of the session it has to itself.
    pub fn steps_and_last_call(
        &mut self,
        owner: UserId,
        run: ExecutionId,
    ) -> Result<(Vec<StepRow>, Option<LastCall>), StoreError> {
        if let Some(known) = self.ahead.as_mut().and_then(|ahead| ahead.steps(run)) {
            return Ok(known);
        }
        let sql = "SELECT c.id, c.sequence, s.step, s.phase, s.attempt, s.inputs, s.output, s.fault, s.dialogue, s.tokens, s.call,
                 s.raw, s.began_at, s.ended_at, s.is_open
             FROM execution_steps s LEFT JOIN (SELECT id, sequence FROM tool_calls WHERE owner = ?1 AND session = ?2
                 ORDER BY sequence DESC LIMIT 1) c ON 1 = 1
             WHERE s.run = ?2 ORDER BY s.step";
        let mut last = None;
        let steps = self.all(sql, params![&owner, &run], |row| {
            if let (Some(call), Some(sequence)) = (row.optional_array(0)?, row.optional_int(1)?) {
                last = Some(LastCall { call: ItemId::from_bytes(call), sequence });
            }
            read_step(&OffsetRow(row, 2))
        })?;
        Ok((steps, last))
    }

    /// The viewer's runs, newest first.
    pub fn executions(
        &mut self,
        viewer: &Viewer,
        filter: &ExecutionFilter,
        before: Option<ExecutionId>,
        limit: usize,
    ) -> Result<Page<ExecutionRow, ExecutionId>, StoreError> {
        let owner = self.subject(viewer)?;
        let limit = limit.clamp(1, RUNS_PER_PAGE_MAX);
        let before = before.unwrap_or(ExecutionId::from_bytes([255; 16]));
        let one_more = i64::try_from(limit + 1).expect("pages are small");
        let mut bound = params![&owner, &before, one_more].to_vec();
        let mut conditions = Vec::new();
        let asked = [
            ("status", filter.status.map(|status| Value::from(status.as_str()))),
            ("process", filter.process.as_ref().map(Value::from)),
            ("conversation", filter.conversation.as_ref().map(Value::from)),
        ];
        for (column, value) in asked {
            if let Some(value) = value {
                bound.push(value);
                conditions.push(format!(" AND {column} = ?{}", bound.len()));
            }
        }
        let conditions = conditions.concat();
        let sql = format!(
            "SELECT {COLUMNS} FROM executions WHERE owner = ?1 AND id < ?2{conditions} ORDER BY id DESC LIMIT ?3"
        );
        let rows = self.all(&sql, &bound, read_execution)?;
        Ok(page(rows, limit, |last| last.id))
    }

    /// The runs a run started.
    pub fn child_executions(&mut self, run: ExecutionId) -> Result<Vec<ExecutionRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM executions WHERE parent = ?1 ORDER BY id");
        self.all(&sql, params![&run], read_execution)
    }

    /// How many runs there are from one on downwards, itself included; counted up to `most`.
    pub fn executions_below(&mut self, run: ExecutionId, most: usize) -> Result<usize, StoreError> {
        let sql = "WITH RECURSIVE below (id) AS (
                       SELECT id FROM executions WHERE id = ?1
                       UNION ALL
                       SELECT child.id FROM below CROSS JOIN executions child WHERE child.parent = below.id)
                   SELECT count(*) FROM (SELECT 1 FROM below LIMIT ?2) counted";
        let most = i64::try_from(most).unwrap_or(i64::MAX);
        let count = self.first(sql, params![&run, most], |row| row.int(0))?;
        Ok(count.and_then(|count| usize::try_from(count).ok()).unwrap_or_default())
    }

    /// The run that fills a node's place.
    pub fn execution_of_node(&mut self, node: NodeId) -> Result<Option<ExecutionRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM executions WHERE node = ?1 ORDER BY id DESC LIMIT 1");
        self.first(&sql, params![&node], read_execution)
    }

    /// The run an operation stands for.
    pub fn execution_of_operation(
        &mut self,
        viewer: &Viewer,
        operation: OperationId,
    ) -> Result<Option<ExecutionId>, StoreError> {
        let owner = self.subject(viewer)?;
        let sql = "SELECT id FROM executions WHERE operation = ?1 AND owner = ?2";
        self.first(sql, params![&operation, &owner], |row| row.array(0).map(ExecutionId::from_bytes))
    }

    /// Whether a process is being carried out for anybody.
    pub fn has_open_execution(&mut self, process: RecordId) -> Result<bool, StoreError> {
        let sql = "SELECT process_version FROM executions WHERE process = ?1 AND status = 'running' LIMIT 1";
        Ok(self.first(sql, params![&process], |row| row.int(0))?.is_some())
    }

    /// Which processes are being carried out for anybody, each in every version that is.
    pub fn open_processes(&mut self, viewer: &Viewer) -> Result<Vec<(RecordId, i64)>, StoreError> {
        system_only(viewer)?;
        let sql = "SELECT DISTINCT process, process_version FROM executions WHERE status = 'running'";
        self.all(sql, params![], |row| Ok((RecordId::from_bytes(row.array(0)?), row.int(1)?)))
    }

    /// Forgets the rows of runs that ended `kept_ms` ago or earlier, some at a time; says how many. Their facts stay.
    pub fn sweep_executions(&mut self, viewer: &Viewer, kept_ms: i64) -> Result<u64, StoreError> {
        system_only(viewer)?;
        let until = self.now().plus(-kept_ms);
        let sql = "SELECT id FROM executions WHERE ended_at <= ?1 ORDER BY ended_at LIMIT ?2";
        let old = self.all(sql, params![until, SWEEP_ROWS_MAX], |row| row.array(0).map(ExecutionId::from_bytes))?;
        for run in &old {
            self.sql.forget_run(*run);
            for table in ["execution_steps", "reviews", "stream_chunks"] {
                self.execute(&format!("DELETE FROM {table} WHERE run = ?1"), params![run])?;
            }
            self.execute("DELETE FROM executions WHERE id = ?1", params![run])?;
        }
        Ok(u64::try_from(old.len()).unwrap_or(u64::MAX))
    }
}

pub(super) fn whole(index: usize) -> i64 {
    i64::try_from(index).expect("steps and calls are few")
}

pub(super) fn index(number: i64) -> Result<usize, SqlError> {
    usize::try_from(number).map_err(|_| SqlError::Damaged("a place of a run is negative".to_owned()))
}

pub(super) fn to_text(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("what is kept of a run is plain JSON")
}

pub(super) fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, SqlError> {
    serde_json::from_str(text).map_err(|error| SqlError::Damaged(format!("a row of a run cannot be read: {error}")))
}

pub(super) fn read_execution(row: &dyn Row) -> Result<ExecutionRow, SqlError> {
    let optional = |column: usize| row.optional_array(column);
    let place = match row.optional_int(10)? {
        Some(step) => Some(CallSite { step: index(step)?, call: row.optional_int(11)?.map(index).transpose()? }),
        None => None,
    };
    let conversation = optional(12)?.map(ConversationId::from_bytes);
    let target = conversation.zip(optional(13)?.map(NodeId::from_bytes));
    let parent_id = optional(14)?.map(NodeId::from_bytes);
    let status = row.text(5)?;
    Ok(ExecutionRow {
        id: ExecutionId::from_bytes(row.array(0)?),
        owner: UserId::from_bytes(row.array(1)?),
        process: RecordId::from_bytes(row.array(2)?),
        process_version: row.int(3)?,
        process_name: row.text(4)?.to_owned(),
        status: ExecutionStatus::parse(status).ok_or_else(|| SqlError::Damaged(format!("no status: {status}")))?,
        context: from_text(row.text(6)?)?,
        levels_left: u8::try_from(row.int(7)?).unwrap_or_default(),
        stack: from_text(row.text(8)?)?,
        parent: optional(9)?.map(ExecutionId::from_bytes).zip(place),
        target: target.map(|(conversation_id, node_id)| OutputTarget { conversation_id, node_id, parent_id }),
        operation: optional(15)?.map(OperationId::from_bytes),
        branched_from: optional(16)?.map(ExecutionId::from_bytes),
        priority: row.int(17)?,
        tokens: row.int(18)?,
        output: row.optional_text(19)?.map(from_text).transpose()?,
        failure: row.optional_text(20)?.map(from_text).transpose()?,
        created_at: Millis(row.int(21)?),
        ended_at: row.optional_int(22)?.map(Millis),
        session: ExecutionId::from_bytes(row.array(23)?),
        cause: ItemId::from_bytes(row.array(24)?),
        paused_at: row.optional_int(25)?.map(Millis),
    })
}

/// A step's dialogue and what the step cost, where it cost anything: they share a column.
#[derive(Serialize, Deserialize)]
struct CostedStep<D> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    dialogue: Option<D>,
    owed: CostTotals,
}

fn write_dialogue(dialogue: Option<&ToolLoop>, owed: &CostTotals) -> Option<String> {
    if owed.is_empty() {
        return dialogue.map(to_text);
    }
    Some(to_text(&CostedStep { dialogue, owed: owed.clone() }))
}

fn read_dialogue(text: &str) -> Result<(Option<ToolLoop>, CostTotals), SqlError> {
    match serde_json::from_str::<CostedStep<ToolLoop>>(text) {
        Ok(CostedStep { dialogue, owed }) => Ok((dialogue, owed)),
        Err(_) => Ok((Some(from_text(text)?), CostTotals::default())),
    }
}

pub(super) fn read_step(row: &dyn Row) -> Result<StepRow, SqlError> {
    let phase = row.text(1)?;
    let (dialogue, owed) = row.optional_text(6)?.map(read_dialogue).transpose()?.unwrap_or_default();
    let state = StepState {
        phase: Phase::parse(phase).ok_or_else(|| SqlError::Damaged(format!("no phase: {phase}")))?,
        attempt: u32::try_from(row.int(2)?).unwrap_or_default(),
        inputs: from_text(row.text(3)?)?,
        output: from_text(row.text(4)?)?,
        fault: row.optional_text(5)?.map(from_text).transpose()?,
        dialogue,
        tokens: u64::try_from(row.int(7)?).unwrap_or_default(),
        began_at: row.optional_int(10)?.map(Millis),
        ended_at: row.optional_int(11)?.map(Millis),
    };
    let item = |column: usize| Ok::<_, SqlError>(row.optional_array(column)?.map(ItemId::from_bytes));
    let (call, raw) = (item(8)?, item(9)?);
    Ok(StepRow { step: index(row.int(0)?)?, state, call, is_open: row.int(12)? == 1, raw, owed })
}
