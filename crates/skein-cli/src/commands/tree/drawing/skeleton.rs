//! A tree without what it says, read from the columns the API gives.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use crate::output::text;
use crate::session::ListLimit;

/// The course of a conversation: its nodes by number, in the order they were made.
#[derive(Default)]
pub(super) struct Skeleton {
    pub(super) ids: Vec<String>,
    pub(super) parents: Vec<Option<usize>>,
    /// What stands beside the course, in the order it was made.
    remarks: Vec<String>,
    turns: Vec<i64>,
    /// How many nodes each turn has.
    sizes: HashMap<i64, u32>,
}

impl Skeleton {
    /// Remarks have no turn: they stand beside the course.
    pub(super) fn of(tree: &Value) -> Self {
        let column = |name: &str| tree["nodes"][name].as_array().map(Vec::as_slice).unwrap_or_default();
        let number = |name: &str, place: usize| column(name).get(place).and_then(Value::as_i64).unwrap_or(-1);
        let mut number_of: HashMap<i64, usize> = HashMap::new();
        let mut course = Self::default();
        for (place, id) in column("id").iter().enumerate() {
            let turn = number("turn", place);
            if turn < 0 {
                course.remarks.push(text(id));
                continue;
            }
            course.parents.push(number_of.get(&number("parent", place)).copied());
            number_of.insert(i64::try_from(place).unwrap_or(-1), course.ids.len());
            course.ids.push(text(id));
            course.turns.push(turn);
            *course.sizes.entry(turn).or_default() += 1;
        }
        course
    }

    /// The nodes to draw: all, or the latest.
    pub(super) fn latest(&self, most: ListLimit) -> Range<usize> {
        let all = self.ids.len();
        let first = match most {
            ListLimit::All => 0,
            ListLimit::AtMost(most) => all.saturating_sub(usize::try_from(most).unwrap_or(usize::MAX)),
        };
        first..all
    }

    /// The remarks to draw: all, or the latest.
    pub(super) fn latest_remarks(&self, most: ListLimit) -> &[String] {
        match most {
            ListLimit::All => &self.remarks,
            ListLimit::AtMost(most) => {
                let first = self.remarks.len().saturating_sub(usize::try_from(most).unwrap_or(usize::MAX));
                &self.remarks[first..]
            }
        }
    }

    /// How many nodes the turn of a node has.
    pub(super) fn alternatives(&self, node: usize) -> u32 {
        self.sizes.get(&self.turns[node]).copied().unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn skeleton() -> Skeleton {
        Skeleton::of(&json!({ "turns": ["turn_1", "turn_2"], "nodes": {
            "id": ["a", "remark", "b", "c"], "parent": [-1, -1, 0, 0], "turn": [0, -1, 1, 1],
        } }))
    }

    #[test]
    fn remarks_are_no_part_of_the_course() {
        let skeleton = skeleton();
        assert_eq!(skeleton.ids, ["a", "b", "c"]);
        assert_eq!(skeleton.parents, [None, Some(0), Some(0)]);
        assert_eq!((skeleton.alternatives(0), skeleton.alternatives(1)), (1, 2));
        assert_eq!(skeleton.latest_remarks(ListLimit::AtMost(5)), ["remark"]);
        assert!(skeleton.latest_remarks(ListLimit::AtMost(0)).is_empty());
    }

    #[test]
    fn of_many_nodes_the_latest_are_drawn() {
        let skeleton = skeleton();
        assert_eq!(skeleton.latest(ListLimit::AtMost(2)), 1..3);
        assert_eq!(skeleton.latest(ListLimit::AtMost(9)), 0..3);
        assert_eq!(skeleton.latest(ListLimit::All), 0..3);
        assert_eq!(Skeleton::of(&json!({})).latest(ListLimit::All), 0..0);
    }
}
