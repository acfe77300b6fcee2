//! What the one thread that writes need not ask the database again, because nobody else can have changed it.
//!
//! An answer about the catalogue stands for the functions that share a transaction, until one of them writes anything but
//! what a run leaves behind. A run stands until it is moved again, across transactions; whoever changes it otherwise takes it
//! from here first. Both are gone when work is undone or another connection wrote. In debug builds all that is given from
//! here is compared with what the database says, so every test asks whether that is true.

use std::collections::HashMap;

use skein_core::RunId;

use crate::flow::Ahead;
use crate::sql::{KeptRow, Value};

/// Most runs that are kept; when there are more, all are let go.
const RUNS_MAX: usize = 1_024;
/// What the catalogue is kept in.
const CATALOGUE: [&str; 4] = ["records", "record_references", "health", "vault"];

#[derive(Default)]
pub(crate) struct Kept {
    runs: HashMap<RunId, Ahead>,
    answers: HashMap<Question, Vec<KeptRow>>,
}

/// A statement with its parameters, spelled so that two that ask alike are equal.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Question(Vec<u8>);

impl Question {
    pub(crate) fn new(sql: &str, params: &[Value<'_>]) -> Self {
        let mut spelled = Vec::with_capacity(sql.len() + params.iter().map(|value| 16 + value.weight()).sum::<usize>());
        spelled.extend(sql.as_bytes());
        for value in params {
            let (kind, bytes) = match value {
                Value::Null => (0, &[][..]),
                Value::Int(value) => (1, &value.to_be_bytes()[..]),
                Value::Real(value) => (2, &value.to_be_bytes()[..]),
                Value::Text(value) => (3, value.as_bytes()),
                Value::Bytes(value) => (4, *value),
            };
            spelled.push(kind);
            spelled.extend(bytes.len().to_be_bytes());
            spelled.extend(bytes);
        }
        Self(spelled)
    }
}

impl Kept {
    pub(crate) fn answer(&self, question: &Question) -> Option<&[KeptRow]> {
        self.answers.get(question).map(Vec::as_slice)
    }

    pub(crate) fn keep_answer(&mut self, question: Question, rows: Vec<KeptRow>) {
        self.answers.insert(question, rows);
    }

    pub(crate) fn take_run(&mut self, run: RunId) -> Option<Ahead> {
        self.runs.remove(&run)
    }

    pub(crate) fn keep_run(&mut self, run: Ahead) {
        if self.runs.len() >= RUNS_MAX {
            self.runs.clear();
        }
        self.runs.insert(run.id, run);
    }

    /// A transaction begins.
    pub(crate) fn begin(&mut self) {
        self.answers.clear();
    }

    /// Something was written, to a table that is named where that is known.
    pub(crate) fn written(&mut self, table: Option<&str>) {
        if table.is_none_or(|table| CATALOGUE.contains(&table)) {
            self.answers.clear();
        }
    }

    /// Work was undone, or somebody else wrote.
    pub(crate) fn let_go(&mut self) {
        self.answers.clear();
        self.runs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::params;

    #[test]
    fn questions_are_alike_only_with_the_same_words_and_values() {
        let ask = |sql: &str, values: &[Value<'_>]| Question::new(sql, values);
        assert!(ask("a", params!["x", 1_i64]) == ask("a", params!["x", 1_i64]));
        assert!(ask("a", params!["x"]) != ask("b", params!["x"]));
        assert!(ask("a", params!["xy", "z"]) != ask("a", params!["x", "yz"]));
        assert!(ask("a", params!["x"]) != ask("a", params![&b"x"[..]]));
    }

    #[test]
    fn an_answer_stands_until_the_catalogue_may_have_changed_or_the_transaction_ends() {
        let ends: [fn(&mut Kept); 4] =
            [Kept::begin, Kept::let_go, |kept| kept.written(None), |kept| kept.written(Some("vault"))];
        for end in ends {
            let mut kept = Kept::default();
            kept.keep_answer(Question::new("a", &[]), Vec::new());
            kept.written(Some("execution_steps"));
            assert!(kept.answer(&Question::new("a", &[])).is_some());
            end(&mut kept);
            assert!(kept.answer(&Question::new("a", &[])).is_none());
        }
    }
}
