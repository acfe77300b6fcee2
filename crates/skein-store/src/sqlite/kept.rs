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

/// Bytes that runs may take together; when they would take more, all are let go.
const RUNS_BYTES_MAX: usize = 8 << 20;
/// The same for answers.
const ANSWERS_BYTES_MAX: usize = 8 << 20;
/// What the catalogue is kept in.
const CATALOGUE: [&str; 4] = ["records", "record_references", "health", "vault"];

#[derive(Default)]
pub(crate) struct Kept {
    runs: HashMap<RunId, Ahead>,
    runs_bytes: usize,
    answers: HashMap<Question, Vec<KeptRow>>,
    answers_bytes: usize,
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
        let weight = question.0.len() + rows.iter().map(KeptRow::weight).sum::<usize>();
        if self.answers_bytes + weight > ANSWERS_BYTES_MAX {
            self.forget_answers();
        }
        if weight <= ANSWERS_BYTES_MAX && self.answers.insert(question, rows).is_none() {
            self.answers_bytes += weight;
        }
    }

    pub(crate) fn take_run(&mut self, run: RunId) -> Option<Ahead> {
        let run = self.runs.remove(&run)?;
        self.runs_bytes -= run.weight;
        Some(run)
    }

    pub(crate) fn keep_run(&mut self, run: Ahead) {
        self.take_run(run.id);
        if self.runs_bytes + run.weight > RUNS_BYTES_MAX {
            self.forget_runs();
        }
        self.runs_bytes += run.weight;
        self.runs.insert(run.id, run);
    }

    /// Something was written, to a table that is named where that is known.
    pub(crate) fn written(&mut self, table: Option<&str>) {
        if table.is_none_or(|table| CATALOGUE.contains(&table)) {
            self.forget_answers();
        }
    }

    /// The functions that shared a transaction are done; what they were told of the catalogue is not to lie about.
    pub(crate) fn committed(&mut self) {
        self.forget_answers();
    }

    /// Work was undone, or somebody else wrote.
    pub(crate) fn let_go(&mut self) {
        self.forget_answers();
        self.forget_runs();
    }

    fn forget_answers(&mut self) {
        self.answers.clear();
        self.answers_bytes = 0;
    }

    fn forget_runs(&mut self) {
        self.runs.clear();
        self.runs_bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{self, params};

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
            [Kept::committed, Kept::let_go, |kept| kept.written(None), |kept| kept.written(Some("vault"))];
        for end in ends {
            let mut kept = Kept::default();
            kept.keep_answer(Question::new("a", &[]), Vec::new());
            kept.written(Some("execution_steps"));
            assert!(kept.answer(&Question::new("a", &[])).is_some());
            end(&mut kept);
            assert!(kept.answer(&Question::new("a", &[])).is_none());
        }
    }

    #[test]
    fn answers_are_let_go_when_they_take_too_much_room() {
        let asked = |number: i64| Question::new("a", params![number]);
        let large = || vec![KeptRow(vec![sql::Kept::Text("x".repeat(ANSWERS_BYTES_MAX / 3))])];
        let mut kept = Kept::default();
        for number in 0..3 {
            kept.keep_answer(asked(number), large());
        }
        assert_eq!([0, 1, 2].map(|number| kept.answer(&asked(number)).is_some()), [false, false, true]);
        kept.keep_answer(asked(3), vec![KeptRow(vec![sql::Kept::Bytes(vec![0; ANSWERS_BYTES_MAX])])]);
        assert!(kept.answer(&asked(3)).is_none(), "it alone is too much");
        assert!(kept.answers.is_empty() && kept.answers_bytes == 0);
    }
}
