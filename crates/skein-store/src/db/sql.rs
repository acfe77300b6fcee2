//! Defines the interface of both databases: statements with numbered parameters, rows of four kinds of value.
//!
//! Statements are written once, with `?1` for parameters; PostgreSQL's `$1` is made in its own folder.

use skein_core::{Digest, ExecutionId, Millis, OperationId, UserId};

use crate::error::SqlError;
use crate::flow::ExecutionPrefetch;

/// A value going in or coming out.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(crate) enum Value<'a> {
    Null,
    Int(i64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl Value<'_> {
    /// Bytes a value occupies, roughly.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Value::Null | Value::Int(_) | Value::Real(_) => 8,
            Value::Text(text) => text.len(),
            Value::Bytes(bytes) => bytes.len(),
        }
    }
}

macro_rules! into_value {
    ($($type:ty => $variant:ident $convert:expr;)*) => {$(
        impl<'a> From<$type> for Value<'a> {
            fn from(value: $type) -> Self {
                let convert: fn($type) -> _ = $convert;
                Value::$variant(convert(value))
            }
        }
    )*};
}

into_value! {
    i64 => Int |value| value;
    bool => Int i64::from;
    f64 => Real |value| value;
    &'a str => Text |value| value;
    &'a String => Text |value| value.as_str();
    &'a [u8] => Bytes |value| value;
    &'a [u8; 16] => Bytes |value| value;
    &'a Vec<u8> => Bytes |value| value;
    &'a Digest => Bytes |value| value.as_bytes();
    &'a skein_core::ItemId => Bytes |value| value.as_bytes();
    &'a UserId => Bytes |value| value.as_bytes();
    &'a skein_core::RecordId => Bytes |value| value.as_bytes();
    &'a skein_core::RelationId => Bytes |value| value.as_bytes();
    &'a skein_core::JobId => Bytes |value| value.as_bytes();
    &'a OperationId => Bytes |value| value.as_bytes();
    &'a skein_core::KeyId => Bytes |value| value.as_bytes();
    &'a skein_core::ConversationId => Bytes |value| value.as_bytes();
    &'a skein_core::EdgeId => Bytes |value| value.as_bytes();
    &'a skein_core::NodeId => Bytes |value| value.as_bytes();
    &'a skein_core::PathId => Bytes |value| value.as_bytes();
    &'a skein_core::TurnId => Bytes |value| value.as_bytes();
    &'a ExecutionId => Bytes |value| value.as_bytes();
    &'a skein_core::ReviewId => Bytes |value| value.as_bytes();
    Millis => Int |value| value.0;
}

impl<'a, T: Into<Value<'a>>> From<Option<T>> for Value<'a> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Value::Null, Into::into)
    }
}

/// A value that outlives its row.
#[derive(Debug, PartialEq)]
pub(crate) enum OwnedValue {
    Null,
    Int(i64),
    Real(f64),
    Text(String),
    Bytes(Vec<u8>),
}

impl OwnedValue {
    pub(crate) fn of(value: Value<'_>) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Int(value) => Self::Int(value),
            Value::Real(value) => Self::Real(value),
            Value::Text(value) => Self::Text(value.to_owned()),
            Value::Bytes(value) => Self::Bytes(value.to_vec()),
        }
    }

    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Int(value) => Value::Int(*value),
            Self::Real(value) => Value::Real(*value),
            Self::Text(value) => Value::Text(value),
            Self::Bytes(value) => Value::Bytes(value),
        }
    }
}

/// A row that was kept.
#[derive(Debug, PartialEq)]
pub(crate) struct OwnedRow(pub(crate) Vec<OwnedValue>);

impl OwnedRow {
    /// Bytes it occupies, roughly.
    pub(crate) fn weight(&self) -> usize {
        self.0.iter().map(|kept| size_of::<OwnedValue>() + kept.value().weight()).sum()
    }
}

impl Row for OwnedRow {
    fn value(&self, column: usize) -> Result<Value<'_>, SqlError> {
        self.0.get(column).map(OwnedValue::value).ok_or_else(|| unexpected(column, "there"))
    }
}

/// The part of a row from one column on.
pub(crate) struct OffsetRow<'a>(pub(crate) &'a dyn Row, pub(crate) usize);

impl Row for OffsetRow<'_> {
    fn value(&self, column: usize) -> Result<Value<'_>, SqlError> {
        self.0.value(self.1 + column)
    }
}

/// Spells a parameter list: `params![id, owner, 5]`.
macro_rules! params {
    ($($value:expr),* $(,)?) => { &[$($crate::db::sql::Value::from($value)),*][..] };
}
pub(crate) use params;

/// One row of an answer.
pub(crate) trait Row {
    fn value(&self, column: usize) -> Result<Value<'_>, SqlError>;
}

impl dyn Row + '_ {
    pub(crate) fn int(&self, column: usize) -> Result<i64, SqlError> {
        self.optional_int(column)?.ok_or_else(|| unexpected(column, "an integer"))
    }

    pub(crate) fn optional_int(&self, column: usize) -> Result<Option<i64>, SqlError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Int(value) => Ok(Some(value)),
            _ => Err(unexpected(column, "an integer")),
        }
    }

    pub(crate) fn optional_real(&self, column: usize) -> Result<Option<f64>, SqlError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Real(value) => Ok(Some(value)),
            _ => Err(unexpected(column, "a number")),
        }
    }

    pub(crate) fn text(&self, column: usize) -> Result<&str, SqlError> {
        self.optional_text(column)?.ok_or_else(|| unexpected(column, "text"))
    }

    pub(crate) fn optional_text(&self, column: usize) -> Result<Option<&str>, SqlError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Text(value) => Ok(Some(value)),
            _ => Err(unexpected(column, "text")),
        }
    }

    pub(crate) fn optional_bytes(&self, column: usize) -> Result<Option<&[u8]>, SqlError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            Value::Bytes(value) => Ok(Some(value)),
            _ => Err(unexpected(column, "bytes")),
        }
    }

    /// Bytes of a fixed size, such as an id or a digest.
    pub(crate) fn array<const N: usize>(&self, column: usize) -> Result<[u8; N], SqlError> {
        self.optional_array(column)?.ok_or_else(|| unexpected(column, "bytes"))
    }

    pub(crate) fn optional_array<const N: usize>(&self, column: usize) -> Result<Option<[u8; N]>, SqlError> {
        let Some(bytes) = self.optional_bytes(column)? else { return Ok(None) };
        bytes.try_into().map(Some).map_err(|_| unexpected(column, "bytes of another length"))
    }
}

fn unexpected(column: usize, wanted: &str) -> SqlError {
    SqlError::Other(format!("column {column} of the answer is not {wanted}"))
}

/// A statement that need not be carried out at once.
pub(crate) struct DeferredStatement<'a> {
    /// What it writes to.
    pub(crate) table: &'static str,
    pub(crate) sql: &'a str,
    pub(crate) params: &'a [Value<'a>],
    /// How many of the first parameters tell which row it is about.
    pub(crate) key: usize,
    /// Whether it changes nothing, and only locks what is relied on.
    pub(crate) only_locks: bool,
    /// Whether it writes the whole row, so that the same statement about that row need not be carried out before.
    pub(crate) replaces: bool,
    /// What it means if it does not change exactly one row.
    pub(crate) unless_one: Option<SqlError>,
}

impl<'a> DeferredStatement<'a> {
    /// A statement about the row that its first parameter names.
    pub(crate) fn new(table: &'static str, sql: &'a str, params: &'a [Value<'a>]) -> Self {
        Self { table, sql, params, key: 1, only_locks: false, replaces: false, unless_one: None }
    }

    pub(crate) fn changing_one(table: &'static str, sql: &'a str, params: &'a [Value<'a>], missed: SqlError) -> Self {
        Self { unless_one: Some(missed), ..Self::new(table, sql, params) }
    }
}

/// What to do after a row.
pub(crate) type RowResult = Result<(), SqlError>;

/// An open transaction on one of the two databases.
pub(crate) trait Sql {
    fn execute(&mut self, sql: &str, params: &[Value<'_>]) -> Result<u64, SqlError>;

    fn query(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), SqlError>;

    /// A question about one row, by the key under which statements that wait name it: those about others still wait.
    fn query_about(
        &mut self,
        _: &'static str,
        _: &[u8],
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), SqlError> {
        self.query(sql, params, each)
    }

    /// A question that others of the same transaction ask as well: answered once for all, until one of them may have changed
    /// what it is about.
    fn query_once(
        &mut self,
        sql: &str,
        params: &[Value<'_>],
        each: &mut dyn FnMut(&dyn Row) -> RowResult,
    ) -> Result<(), SqlError> {
        self.query(sql, params, each)
    }

    /// An execution as its last transition left it, if nobody can have changed it since; given once.
    fn take_run(&mut self, _: ExecutionId) -> Option<ExecutionPrefetch> {
        None
    }

    /// Keeps an execution for its next transition.
    fn keep_run(&mut self, _: Option<ExecutionPrefetch>) {}

    /// Lets go of what is kept of a run.
    fn forget_run(&mut self, _: ExecutionId) {}

    /// Carries a statement out before anything that could tell, at the latest before the commit: where the way to the
    /// database is long, together with others.
    fn execute_later(&mut self, later: DeferredStatement<'_>) -> Result<(), SqlError> {
        let changed = self.execute(later.sql, later.params)?;
        later.unless_one.filter(|_| changed != 1).map_or(Ok(()), Err)
    }

    /// Inserts rows into `items`, as late as [`Self::execute_later`]; their last position if it is known already.
    fn insert_items_later(
        &mut self,
        rows: &[[Value<'_>; crate::timeline::items::INSERT_COLUMNS]],
    ) -> Result<Option<i64>, SqlError> {
        Ok(self.insert_items(rows)?.last().copied())
    }

    /// Carries out what was put off; the last position of items among it.
    fn settle(&mut self) -> Result<Option<i64>, SqlError> {
        Ok(None)
    }

    /// Inserts rows into `items` and says which positions they took, in order.
    fn insert_items(
        &mut self,
        rows: &[[Value<'_>; crate::timeline::items::INSERT_COLUMNS]],
    ) -> Result<Vec<i64>, SqlError>;

    /// The tx below which every row is committed and visible, for those who follow the timeline.
    fn settled_below(&mut self) -> Result<i64, SqlError>;

    /// Makes what is appended next follow the rows that were copied in from another store.
    fn continue_timeline(&mut self) -> Result<(), SqlError>;

    /// What the database itself finds wrong with its pages and indexes.
    fn damage(&mut self) -> Result<Vec<String>, SqlError>;

    /// Whether there are others who write meanwhile.
    fn is_shared(&self) -> bool;

    /// Whether this is one of several functions in a transaction, each of which is run alone should anything be refused.
    fn is_run_alone_if_refused(&self) -> bool {
        false
    }

    /// Keeps others from writing to the trees of an owner until the transaction ends.
    fn hold_trees(&mut self, _: UserId) -> Result<(), SqlError> {
        Ok(())
    }

    /// The clause by which a claim skips jobs that others are claiming.
    fn claim_lock(&self) -> &'static str;

    /// What else has to be said to find requests by their index.
    fn request_index(&self) -> &'static str;

    /// Operations that may have been asked for under a name which the index does not have.
    fn find_request(&mut self, name: &Digest, now: Millis) -> Result<Vec<OperationId>, SqlError>;

    /// Notes an operation that was inserted, with its request's name unless the index has it.
    fn note_operation(&mut self, id: OperationId, name: Option<&Digest>);

    /// Forgets some of the names that no longer count and are in no index.
    fn sweep_requests(&mut self, now: Millis) -> Result<(), SqlError>;
}

/// Things that are asked about in one statement; the last statement asks about one of them several times.
pub(crate) const IDS_PER_STATEMENT: usize = 100;

/// Places for ids from `first` on.
pub(crate) fn places(first: usize) -> String {
    let places: Vec<String> = (first..first + IDS_PER_STATEMENT).map(|place| format!("?{place}")).collect();
    places.join(", ")
}

/// As many values as a statement has places; ids are never none.
pub(crate) fn filled<'a, Id>(ids: &'a [Id]) -> impl Iterator<Item = Value<'a>>
where
    Value<'a>: From<&'a Id>,
{
    let missing = std::iter::repeat_n(ids.last(), IDS_PER_STATEMENT - ids.len()).flatten();
    ids.iter().chain(missing).map(Value::from)
}
