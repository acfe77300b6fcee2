//! Selects the parts of a context window that fit into the budget.
//!
//! First what is always shown (the system part and the last message), then what is pinned, then the latest nodes, then what
//! is remembered, then the rest of the path as the strategy says.

use crate::rule::RuleViolation;
use crate::tree::context::report::DropReason;
use crate::tree::context::units::{Unit, Units};
use crate::tree::context::{ContextOptions, LATEST_KEPT, MARKER, RESERVE_TOKENS, Strategy, TokenCounter};

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fitted {
    pub(super) over_budget: bool,
}

pub(super) fn fit(
    units: &mut Units<'_>,
    options: ContextOptions,
    counter: &dyn TokenCounter,
) -> Result<Fitted, RuleViolation> {
    let available = options.budget.saturating_sub(RESERVE_TOKENS);
    let path: usize = units.path.iter().map(Unit::tokens).sum();
    let needed = units.system.tokens() + path;
    if needed <= available {
        fit_extras(units, available - needed);
        return Ok(Fitted { over_budget: false });
    }
    if options.strategy == Strategy::StopAtLimit {
        let problem = format!("the path needs {needed} tokens; {available} are left after the reserve");
        let remedy = "exclude nodes, raise contextBudget, or choose truncateMiddle or rollingWindow";
        return Err(RuleViolation::new("BR-CROSS-003", problem, remedy));
    }
    Ok(truncate(units, available, options.strategy, counter.count(MARKER)))
}

fn truncate(units: &mut Units<'_>, available: usize, strategy: Strategy, marker: usize) -> Fitted {
    let shown: Vec<usize> = (0..units.path.len()).filter(|&index| units.path[index].is_shown()).collect();
    let is_marked = strategy == Strategy::TruncateMiddle;
    let least = units.system.tokens() + shown.last().map_or(0, |&last| units.path[last].tokens());
    let over_budget = least > available;
    let mut room = available.saturating_sub(least).saturating_sub(if is_marked { marker } else { 0 });
    let shown = without_pinned(units, shown, &mut room);
    let mut end = shown.len().saturating_sub(1);
    let latest = shown.len().saturating_sub(LATEST_KEPT);
    take_back(units, &shown, &mut end, latest, &mut room);
    room = fit_extras(units, room);
    let mut begin = 0;
    if is_marked && end > 0 && end <= latest {
        begin = usize::from(take(units, shown[0], &mut room));
    }
    if end <= latest {
        take_back(units, &shown, &mut end, begin, &mut room);
    }
    for &index in &shown[begin..end] {
        units.path[index].drop_for(DropReason::OverBudget);
    }
    if is_marked && begin < end {
        units.mark(shown[end], marker);
    }
    Fitted { over_budget }
}

/// Takes what is pinned, the latest first, as far as there is room; returns what is left to be judged, the last included.
fn without_pinned(units: &mut Units<'_>, shown: Vec<usize>, room: &mut usize) -> Vec<usize> {
    let Some((&last, before)) = shown.split_last() else { return shown };
    let (pinned, mut others): (Vec<usize>, Vec<usize>) =
        before.iter().copied().partition(|&index| units.path[index].is_pinned);
    for index in pinned.into_iter().rev() {
        if !take(units, index, room) {
            units.path[index].drop_for(DropReason::OverBudget);
        }
    }
    others.push(last);
    others
}

/// Moves `end` towards `until` as long as units fit; one that does not fit ends it, so that no hole opens.
fn take_back(units: &Units<'_>, shown: &[usize], end: &mut usize, until: usize, room: &mut usize) {
    while *end > until && take(units, shown[*end - 1], room) {
        *end -= 1;
    }
}

fn take(units: &Units<'_>, index: usize, room: &mut usize) -> bool {
    let rest = room.checked_sub(units.path[index].tokens());
    *room = rest.unwrap_or(*room);
    rest.is_some()
}

/// Shows extras in their order as long as there is room for them; returns what is left.
fn fit_extras(units: &mut Units<'_>, mut room: usize) -> usize {
    for part in units.extras.iter_mut().filter(|part| part.dropped.is_none()) {
        match room.checked_sub(part.tokens) {
            Some(rest) => room = rest,
            None => part.dropped = Some(DropReason::OverBudget),
        }
    }
    room
}
