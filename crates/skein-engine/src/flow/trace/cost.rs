//! Sums the cost of an execution over its calls and its children; unknown costs stay unknown.

use serde::Deserialize as _;
use serde_json::{Map, Value};
use skein_core::flow::cost::{Cost, CostTotals};

use crate::flow::execution::lookup::ShownExecution;

/// What is known of the cost of something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TotalCost {
    /// Who owes how much.
    pub owed: CostTotals,
    /// Whether every call that somebody's secret was used for has a known cost.
    pub is_complete: bool,
}

impl TotalCost {
    pub(crate) fn nothing() -> Self {
        Self { owed: CostTotals::default(), is_complete: true }
    }

    /// Counts a call in, by what it and its result say.
    pub(crate) fn count(&mut self, call: &Map<String, Value>, result: Option<&Map<String, Value>>) {
        match result.and_then(|result| Cost::deserialize(result.get("cost")?).ok()) {
            Some(cost) => self.owed.add(cost),
            None => self.is_complete &= result.is_none() || !uses_secret(call),
        }
    }
}

impl ShownExecution {
    /// What the run and those it started cost.
    pub fn spending(&self) -> Option<TotalCost> {
        let mut spending = TotalCost::nothing();
        self.sum(&mut spending, &|_| true);
        Some(spending).filter(|spending| !spending.owed.is_empty())
    }

    /// What one of its steps cost, by its index, with the runs that step started.
    pub fn spending_of(&self, step: usize) -> Option<TotalCost> {
        let mut spending = TotalCost::nothing();
        self.sum(&mut spending, &|of| of == step);
        Some(spending).filter(|spending| !spending.owed.is_empty())
    }

    fn sum(&self, spending: &mut TotalCost, is_meant: &dyn Fn(usize) -> bool) {
        for call in self.calls.iter().filter(|call| is_meant(call.step)) {
            spending.count(&call.said, call.result.as_ref().map(|result| &result.said));
        }
        let started = |child: &&Self| child.row.parent.is_some_and(|(_, place)| is_meant(place.step));
        for child in self.children.iter().filter(started) {
            child.sum(spending, &|_| true);
        }
    }
}

fn uses_secret(call: &Map<String, Value>) -> bool {
    call.get("secretId").is_some_and(|secret| !secret.is_null())
}
