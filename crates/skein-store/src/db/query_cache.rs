//! Caches query results within one transaction, for functions that send equal queries.

use std::collections::HashMap;

use crate::db::sql::{OwnedRow, Value};

/// Bytes they may take together; when they would take more, all are let go.
const BYTES_MAX: usize = 8 << 20;

#[derive(Default)]
pub(crate) struct QueryCache {
    rows: HashMap<QueryKey, Vec<OwnedRow>>,
    bytes: usize,
}

/// A statement with its parameters, spelled so that two that ask alike are equal.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct QueryKey(Vec<u8>);

impl QueryKey {
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

impl QueryCache {
    pub(crate) fn to(&self, question: &QueryKey) -> Option<&[OwnedRow]> {
        self.rows.get(question).map(Vec::as_slice)
    }

    pub(crate) fn keep(&mut self, question: QueryKey, rows: Vec<OwnedRow>) {
        let weight = question.0.len() + rows.iter().map(OwnedRow::weight).sum::<usize>();
        if self.bytes + weight > BYTES_MAX {
            self.forget();
        }
        if weight <= BYTES_MAX && self.rows.insert(question, rows).is_none() {
            self.bytes += weight;
        }
    }

    pub(crate) fn forget(&mut self) {
        self.rows.clear();
        self.bytes = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::sql::{OwnedValue, params};

    #[test]
    fn questions_are_alike_only_with_the_same_words_and_values() {
        let ask = |sql: &str, values: &[Value<'_>]| QueryKey::new(sql, values);
        assert!(ask("a", params!["x", 1_i64]) == ask("a", params!["x", 1_i64]));
        assert!(ask("a", params!["x"]) != ask("b", params!["x"]));
        assert!(ask("a", params!["xy", "z"]) != ask("a", params!["x", "yz"]));
        assert!(ask("a", params!["x"]) != ask("a", params![&b"x"[..]]));
    }

    #[test]
    fn answers_are_let_go_when_they_take_too_much_room() {
        let asked = |number: i64| QueryKey::new("a", params![number]);
        let large = || vec![OwnedRow(vec![OwnedValue::Text("x".repeat(BYTES_MAX / 3))])];
        let mut answers = QueryCache::default();
        for number in 0..3 {
            answers.keep(asked(number), large());
        }
        assert_eq!([0, 1, 2].map(|number| answers.to(&asked(number)).is_some()), [false, false, true]);
        answers.keep(asked(3), vec![OwnedRow(vec![OwnedValue::Bytes(vec![0; BYTES_MAX])])]);
        assert!(answers.to(&asked(3)).is_none(), "it alone is too much");
        assert!(answers.rows.is_empty() && answers.bytes == 0);
    }
}
