//! Computes the rows one query may see: the living ones, at its two clocks.
//!
//! Everything is counted inside this world, so that what is hidden cannot even move a score.

use std::sync::{Arc, PoisonError};

use skein_core::Millis;

use crate::query::Filter;
use crate::rows::{Columns, NONE};
use crate::visibility::{UnlistedVisibility, Visibility, VisibleBranches, depth_in};

/// A set of rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RowSet {
    words: Vec<u64>,
    length: u32,
}

/// Rows that one word tells of.
const BLOCK: usize = 64;

/// The bits that are set, lowest first.
fn members(word: u64) -> impl Iterator<Item = usize> {
    let rest = std::iter::successors(Some(word), |rest| Some(rest & rest.wrapping_sub(1)));
    rest.take_while(|rest| *rest != 0).map(|rest| rest.trailing_zeros() as usize)
}

/// The row of a bit of a block.
#[expect(clippy::cast_possible_truncation, reason = "rows are counted in 32 bits")]
fn row(place: usize, bit: usize) -> u32 {
    (place * BLOCK + bit) as u32
}

impl RowSet {
    pub(crate) fn push(&mut self, bit: bool) {
        if self.length.is_multiple_of(64) {
            self.words.push(0);
        }
        self.length += 1;
        if bit {
            self.set(self.length - 1);
        }
    }

    pub(crate) fn has(&self, row: u32) -> bool {
        self.words[row as usize / 64] >> (row % 64) & 1 == 1
    }

    pub(crate) fn set(&mut self, row: u32) {
        self.words[row as usize / 64] |= 1 << (row % 64);
    }

    pub(crate) fn clear(&mut self, row: u32) {
        self.words[row as usize / 64] &= !(1 << (row % 64));
    }

    pub(crate) fn count(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
    }

    /// What is in both, of the same rows.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let words = self.words.iter().zip(&other.words).map(|(a, b)| a & b).collect();
        Self { words, length: self.length }
    }

    /// Those of this set for which `keep` holds; asked once for every member.
    fn filtered(&self, mut keep: impl FnMut(usize) -> bool) -> Self {
        let mut kept = self.clone();
        for (place, word) in kept.words.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                if !keep(place * 64 + bit as usize) {
                    *word &= !(1 << bit);
                }
            }
        }
        kept
    }

    /// The members in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> {
        self.words.iter().enumerate().flat_map(|(place, word)| members(*word).map(move |bit| row(place, bit)))
    }

    /// The first member and every `step`-th after it; those between are counted, not looked at.
    pub(crate) fn every(&self, step: usize) -> Vec<u32> {
        let (mut found, mut due) = (Vec::new(), 0);
        for (place, word) in self.words.iter().enumerate() {
            let count = word.count_ones() as usize;
            while due < count {
                found.extend(members(*word).nth(due).map(|bit| row(place, bit)));
                due += step;
            }
            due -= count;
        }
        found
    }

    /// The sum of what the members have in a column.
    pub(crate) fn sum(&self, column: &BlockSums) -> u64 {
        let of_block = |(word, (numbers, sum)): (&u64, (&[u32], &u64))| match *word {
            u64::MAX => *sum,
            word => members(word).map(|bit| u64::from(numbers[bit])).sum(),
        };
        self.words.iter().zip(column.numbers.chunks(BLOCK).zip(&column.sums)).map(of_block).sum()
    }
}

/// A number for every row, and the sum of each block of them: where nothing is hidden, nobody adds them up again.
#[derive(Debug, Default)]
pub(crate) struct BlockSums {
    numbers: Vec<u32>,
    sums: Vec<u64>,
}

impl BlockSums {
    pub(crate) fn push(&mut self, number: u32) {
        if self.numbers.len().is_multiple_of(BLOCK) {
            self.sums.push(0);
        }
        self.numbers.push(number);
        *self.sums.last_mut().expect("the block of this row was just begun") += u64::from(number);
    }

    pub(crate) fn of(&self, row: u32) -> u32 {
        self.numbers[row as usize]
    }
}

/// The two clocks of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct QueryClocks {
    pub(crate) as_of: Option<Millis>,
    pub(crate) known_at: Option<Millis>,
}

/// Which rows are shown by what questions share, dead ones too. Worked out once, then continued with the rows that come.
#[derive(Debug, Default)]
pub(crate) struct VisibleRows {
    by: Option<(Arc<VisibleBranches>, UnlistedVisibility)>,
    /// How deep each lane is shown.
    depths: Vec<i64>,
    rows: RowSet,
}

impl VisibleRows {
    fn is_by(&self, visibility: &Visibility) -> bool {
        self.by.as_ref().is_some_and(|(shared, unlisted)| {
            Arc::ptr_eq(shared, &visibility.shared) && *unlisted == visibility.unlisted
        })
    }

    fn of(&mut self, columns: &Columns, visibility: &Visibility) -> &RowSet {
        if !self.is_by(visibility) {
            let by = Some((Arc::clone(&visibility.shared), visibility.unlisted));
            *self = Self { by, ..Self::default() };
        }
        let lanes = columns.lanes.values()[self.depths.len()..].iter();
        self.depths.extend(lanes.map(|(conversation, branch)| visibility.shared_depth(*conversation, *branch)));
        for row in self.rows.length as usize..columns.lane.len() {
            let lane = columns.lane[row];
            self.rows.push(lane == NONE || columns.depth[row] <= self.depths[lane as usize]);
        }
        &self.rows
    }
}

/// The living rows that may be seen at these clocks.
pub(crate) fn world(columns: &Columns, visibility: &Visibility, clocks: QueryClocks) -> RowSet {
    let mut seen = living_shown(columns, visibility);
    for (conversation, ranges) in &visibility.listed {
        for row in columns.rows_of(*conversation).filter(|row| columns.alive.has(*row)) {
            let (_, branch) = columns.lanes.values()[columns.lane[row as usize] as usize];
            if columns.depth[row as usize] <= depth_in(ranges, branch) { seen.set(row) } else { seen.clear(row) }
        }
    }
    let as_of = clocks.as_of.map_or(i64::MAX, |moment| moment.0);
    let known_at = clocks.known_at.map_or(i64::MAX, |moment| moment.0);
    let in_time = |row: usize| columns.valid_at[row] <= as_of && columns.created_at[row] <= known_at;
    if clocks != QueryClocks::default() {
        seen = seen.filtered(in_time);
    }
    for pinned in visibility.pinned.iter().filter_map(|id| columns.row_of(*id)) {
        if in_time(pinned as usize) {
            seen.set(pinned);
        }
    }
    visibility.hidden.iter().filter_map(|id| columns.row_of(*id)).for_each(|row| seen.clear(row));
    seen
}

fn living_shown(columns: &Columns, visibility: &Visibility) -> RowSet {
    if visibility.shared.is_empty() && visibility.unlisted == UnlistedVisibility::Seen {
        return columns.alive.clone();
    }
    let mut shown = columns.shown.lock().unwrap_or_else(PoisonError::into_inner);
    columns.alive.and(shown.of(columns, visibility))
}

/// Those of a world that a filter lets through; `None` when the filter is open.
pub(crate) fn chosen(columns: &Columns, world: &RowSet, filter: &Filter) -> Option<RowSet> {
    let open = filter.conversations.is_none()
        && filter.actors.is_none()
        && filter.kinds.is_none()
        && filter.valid_from.is_none()
        && filter.valid_until.is_none()
        && filter.besides.is_empty();
    if open {
        return None;
    }
    let lanes: Option<Vec<bool>> = filter
        .conversations
        .as_ref()
        .map(|wanted| columns.lanes.values().iter().map(|(conversation, _)| wanted.contains(conversation)).collect());
    let actors: Option<Vec<bool>> = filter
        .actors
        .as_ref()
        .map(|wanted| columns.actors.values().iter().map(|actor| wanted.contains(actor)).collect());
    let kinds: Option<Vec<bool>> = filter.kinds.as_ref().map(|wanted| {
        let wanted: Vec<_> = wanted.iter().map(|kind| crate::rows::kind_bytes(kind)).collect();
        columns.kinds.values().iter().map(|kind| wanted.contains(kind)).collect()
    });
    let from = filter.valid_from.map_or(i64::MIN, |moment| moment.0);
    let until = filter.valid_until.map_or(i64::MAX, |moment| moment.0);
    let passes = |allowed: &Option<Vec<bool>>, number: u32| {
        allowed.as_ref().is_none_or(|allowed| number != NONE && allowed[number as usize])
    };
    let mut chosen = world.filtered(|row| {
        passes(&lanes, columns.lane[row])
            && passes(&actors, columns.actor[row])
            && passes(&kinds, columns.kind[row])
            && (from..=until).contains(&columns.valid_at[row])
    });
    filter.besides.iter().filter_map(|id| columns.row_of(*id)).for_each(|row| chosen.clear(row));
    Some(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(length: u32, has: impl Fn(u32) -> bool) -> RowSet {
        let mut bits = RowSet::default();
        (0..length).for_each(|row| bits.push(has(row)));
        bits
    }

    #[test]
    fn every_so_many_members_are_those_one_would_count_off() {
        for bits in
            [bits(0, |_| true), bits(1_000, |_| true), bits(1_000, |row| row % 7 == 3 || (200..400).contains(&row))]
        {
            for step in [1, 2, 63, 64, 65, 500, 5_000] {
                assert_eq!(bits.every(step), bits.iter().step_by(step).collect::<Vec<_>>(), "{step}");
            }
        }
    }

    #[test]
    fn a_sum_is_of_members_alone() {
        let mut column = BlockSums::default();
        (0..1_000).for_each(|number| column.push(number));
        for bits in [bits(1_000, |_| true), bits(1_000, |row| row % 7 == 3 || (200..400).contains(&row))] {
            assert_eq!(bits.sum(&column), bits.iter().map(u64::from).sum::<u64>());
        }
    }
}
