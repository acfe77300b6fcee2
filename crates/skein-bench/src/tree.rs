//! Conversations: appending a turn, switching in small and large trees, and reading the end of a path.

use std::time::Instant;

use anyhow::{Result, ensure};
use skein_core::tree::actor::ActorId;
use skein_core::{NodeId, Viewer};
use skein_store::Tx;

use crate::comparison::{Comparison, median};
use crate::notes::{OWNER, Random, VIEWER};
use crate::report::{Line, Target, Unit, grouped};
use crate::tree_fixture::{Tree, after, placing, said};
use crate::whole_tree::Served;
use crate::{Setting, tree_bare, whole_tree};

const TEXT: &str = "and what do geese have to do with it, apart from flying in a loose line across the sky?";
const TURNS_PER_ROUND: usize = 500;
const SMALL: usize = 1_000;
const MIDDLE: usize = 100_000;
const SWITCHES_PER_ROUND: usize = 300;
const DEEP_TURNS: usize = 10_000;
const READS_PER_ROUND: u32 = 20;

const TIMES_BARE_APPEND: f64 = 2.0;
const TIMES_SMALL: f64 = 1.5;
const TIMES_BARE_SWITCH: f64 = 3.0;
const WINDOW_MS_MAX: f64 = 2.0;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let mut lines = vec![append(setting)?];
    lines.extend(all_ancestors(setting)?);
    lines.extend(switches(setting)?);
    Ok(lines)
}

/// Microseconds for each turn, one after the other, each durable before the next.
fn append(setting: &Setting) -> Result<Line> {
    let ours = Tree::plant(setting.folder.make("talk")?)?;
    let bare = Tree::plant(setting.folder.make("bare-talk")?)?;
    let mut bare = tree_bare::Line::open(&bare.directory, bare.id)?;
    let mut last = None;
    let sides = Comparison::alternate(
        setting.rounds,
        || {
            let started = Instant::now();
            for _ in 0..TURNS_PER_ROUND {
                last = Some(say(&ours, last)?);
            }
            Ok(microseconds(started, TURNS_PER_ROUND))
        },
        || {
            let started = Instant::now();
            (0..TURNS_PER_ROUND).try_for_each(|_| bare.append(TEXT))?;
            Ok(microseconds(started, TURNS_PER_ROUND))
        },
    )?;
    let what = "conversation: append a turn; bare: the same rows in one durable transaction";
    Ok(Line::compared(what, Unit::Microseconds, &sides, Target::AtMost(TIMES_BARE_APPEND)))
}

fn say(tree: &Tree, parent: Option<NodeId>) -> Result<NodeId> {
    let placing = placing(tree.owner, tree.id, after(parent), Some(tree.path()));
    let said = said(TEXT);
    Ok(tree.store.write_blocking(move |tx| tx.append_node(&VIEWER, &placing, &said))?.value.0.id)
}

/// From one line of 10,000 turns to the other: every turn changes.
fn all_ancestors(setting: &Setting) -> Result<Vec<Line>> {
    let tree = Tree::two_lines(setting.folder.make("lines")?, DEEP_TURNS)?;
    let bare = tree_bare::Selections::open(&tree.directory)?;
    let ends = [tree.nodes[DEEP_TURNS - 1], tree.nodes[2 * DEEP_TURNS - 1]];
    let (mut here, mut there) = (ends.iter().rev().cycle(), ends.iter().rev().cycle());
    let each = |milliseconds: f64| milliseconds * 1_000.0 / 10_000.0;
    let sides = Comparison::alternate(
        setting.rounds * 2,
        || Ok(each(switch(&tree, *here.next().unwrap_or(&ends[0]), Some(DEEP_TURNS))?)),
        || Ok(each(bare.switch(tree.path(), *there.next().unwrap_or(&ends[0]))?)),
    )?;
    let what = "conversation: switch that changes 10,000 turns, for each of them; bare: one row each";
    let switched = Line::compared(what, Unit::Microseconds, &sides, Target::AtMost(TIMES_BARE_SWITCH));
    Ok(vec![switched, window(setting, &tree, ends[1])?])
}

fn window(setting: &Setting, tree: &Tree, end: NodeId) -> Result<Line> {
    let path = tree.path();
    let read = |_| {
        let started = Instant::now();
        let nodes = tree.store.read_blocking(move |tx| tx.path_to(&VIEWER, path, end, 10))?;
        ensure!(nodes.len() == 10 && nodes.iter().all(|node| node.content.is_some()), "the window is not full");
        Ok(started.elapsed().as_secs_f64() * 1_000.0)
    };
    let measured = (0..setting.rounds * READS_PER_ROUND).map(read).collect::<Result<Vec<f64>>>()?;
    let what = "conversation: the last ten of 10,000 turns";
    Ok(Line::limited(what, Unit::Milliseconds, &measured, Target::AtMost(WINDOW_MS_MAX)))
}

/// The same switches in trees of three sizes; then the middle one is read as a whole.
fn switches(setting: &Setting) -> Result<Vec<Line>> {
    let served = Served::prepare(setting.folder.make("middle")?)?;
    let small = Tree::random(OWNER, setting.folder.make("small")?, SMALL)?;
    let middle = Tree::random(served.owner, served.directory.clone(), MIDDLE.min(setting.items))?;
    let large = Tree::random(OWNER, setting.folder.make("large")?, setting.items)?;
    let mut lines = Vec::new();
    for tree in [&middle, &large] {
        let size = grouped(&tree.nodes.len().to_string());
        let what = format!("conversation: the same switches in {size} nodes; beside it: in 1,000");
        lines.push(compare(setting, tree, &small, same_switches, TIMES_SMALL, &what)?);
        let what = format!("conversation: the same, without the commit, in {size} nodes; beside it: in 1,000");
        lines.push(compare(setting, tree, &small, switches_at_once, TIMES_SMALL, &what)?);
    }
    lines.extend(whole_tree::measure(setting, middle, &served)?);
    Ok(lines)
}

fn compare(
    setting: &Setting,
    large: &Tree,
    small: &Tree,
    measure: fn(&Tree, u32) -> Result<f64>,
    bound: f64,
    what: &str,
) -> Result<Line> {
    let (mut ours, mut theirs) = (0, 0);
    let sides = Comparison::alternate(
        setting.rounds,
        || {
            ours += 1;
            measure(large, ours)
        },
        || {
            theirs += 1;
            measure(small, theirs)
        },
    )?;
    Ok(Line::compared(what, Unit::Microseconds, &sides, Target::AtMost(bound)))
}

/// Nodes among the first thousand, different ones each round.
fn targets(tree: &Tree, round: u32) -> Vec<NodeId> {
    let mut random = Random::seeded(round as usize);
    let any = |_| tree.nodes[usize::try_from(random.below(SMALL as u64)).unwrap_or(0)];
    (0..SWITCHES_PER_ROUND).map(any).collect()
}

/// The median of switches, each durable, in microseconds.
fn same_switches(tree: &Tree, round: u32) -> Result<f64> {
    let took = targets(tree, round).into_iter().map(|node| Ok(switch(tree, node, None)? * 1_000.0));
    Ok(median(&took.collect::<Result<Vec<f64>>>()?))
}

/// The median of switches inside one transaction, in microseconds.
fn switches_at_once(tree: &Tree, round: u32) -> Result<f64> {
    let (owner, path, targets) = (tree.owner, tree.path(), targets(tree, round));
    let took = tree.store.write_blocking(move |tx| {
        let mut took = Vec::with_capacity(targets.len());
        for node in &targets {
            let started = Instant::now();
            tx.move_path(&Viewer::User(owner), path, ActorId::from(owner), *node)?;
            took.push(started.elapsed().as_secs_f64() * 1_000_000.0);
        }
        Ok(took)
    })?;
    Ok(median(&took.value))
}

/// Leads the path to a node; says how many milliseconds that took.
fn switch(tree: &Tree, node: NodeId, changes: Option<usize>) -> Result<f64> {
    let (owner, path) = (tree.owner, tree.path());
    let started = Instant::now();
    let lead = move |tx: &mut Tx<'_>| tx.move_path(&Viewer::User(owner), path, ActorId::from(owner), node);
    let moved = tree.store.write_blocking(lead)?;
    let took = started.elapsed().as_secs_f64() * 1_000.0;
    let turns = moved.value.1.turns.len();
    ensure!(changes.is_none_or(|changes| changes == turns), "{turns} turns changed");
    Ok(took)
}

fn microseconds(started: Instant, count: usize) -> f64 {
    started.elapsed().as_secs_f64() * 1_000_000.0 / f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
