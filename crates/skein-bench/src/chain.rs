//! A chain of 10,000 causes and effects followed in one query, beside the same walk in bare SQL.

use std::time::Instant;

use anyhow::{Result, ensure};
use skein_core::ItemId;
use skein_core::garden::relation::{Endpoint, RelationAttributes, RelationDraft, RelationKind};
use skein_store::timeline::relations::{RelationPathStep, RelationSide};
use skein_store::{Location, Store, StoreError, StoreOptions};

use crate::comparison::Comparison;
use crate::notes::{VIEWER, notes};
use crate::report::{Line, Target, Unit};
use crate::{Setting, bare};

const STEPS: usize = 10_000;
const LINKS_PER_TRANSACTION: usize = 1_000;
/// One walk takes milliseconds, so there is time for many.
const WALKS_PER_ROUND: u32 = 10;
const TIMES_BARE: f64 = 2.0;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let directory = setting.folder.make("chain")?;
    let store = Store::open(StoreOptions::at(Location::Directory(directory.clone())))?;
    let first = make_chain(&store)?;
    let connection = bare::open_for_reading(&directory)?;
    ensure_same(&follow(&store, first)?, &bare::chain(&connection, first.as_bytes())?)?;
    let sides = Comparison::alternate(
        setting.rounds * WALKS_PER_ROUND,
        || {
            let started = Instant::now();
            let steps = follow(&store, first)?;
            Ok(milliseconds(started, steps.len()))
        },
        || {
            let started = Instant::now();
            let steps = bare::chain(&connection, first.as_bytes())?;
            Ok(milliseconds(started, steps.len()))
        },
    )?;
    let what = "relation chain of 10,000 steps in one query; bare: recursive query, same file";
    Ok(vec![Line::compared(what, Unit::Milliseconds, &sides, Target::AtMost(TIMES_BARE))])
}

fn milliseconds(started: Instant, steps: usize) -> f64 {
    let took = started.elapsed().as_secs_f64() * 1_000.0;
    assert_eq!(steps, STEPS, "the walk ended early");
    took
}

fn follow(store: &Store, from: ItemId) -> Result<Vec<RelationPathStep>> {
    let (from, kind) = (Endpoint::Item(from), RelationKind::Triggers);
    Ok(store.read_blocking(move |tx| tx.chain(&VIEWER, from, RelationSide::Outgoing, kind, STEPS))?)
}

fn ensure_same(ours: &[RelationPathStep], theirs: &[bare::Step]) -> Result<()> {
    let is_same = |(ours, theirs): (&RelationPathStep, &bare::Step)| {
        matches!(ours.endpoint, Endpoint::Item(id) if *id.as_bytes() == theirs.id)
            && theirs.is_item
            && theirs.position.is_none()
            && ours.distance == theirs.distance
    };
    ensure!(ours.len() == STEPS && theirs.len() == STEPS, "a walk did not reach the end");
    ensure!(ours.iter().zip(theirs).all(is_same), "the two walks differ");
    Ok(())
}

/// Items that each trigger the next; gives the first.
fn make_chain(store: &Store) -> Result<ItemId> {
    let notes = notes(STEPS + 1);
    let drafts = notes.iter().map(|note| note.draft(None)).collect::<Result<Vec<_>>>()?;
    let items = store.write_blocking(move |tx| tx.append_items(&VIEWER, &drafts))?.value;
    let ids: Vec<ItemId> = items.iter().map(|stored| stored.item.header.id).collect();
    let pairs: Vec<(ItemId, ItemId)> = ids.iter().copied().zip(ids[1..].iter().copied()).collect();
    for links in pairs.chunks(LINKS_PER_TRANSACTION) {
        link(store, links)?;
    }
    Ok(ids[0])
}

fn link(store: &Store, pairs: &[(ItemId, ItemId)]) -> Result<()> {
    let draft = |(cause, effect): &(ItemId, ItemId)| {
        let (cause, effect) = (Endpoint::Item(*cause), Endpoint::Item(*effect));
        RelationDraft::new(RelationKind::Triggers, cause, effect, RelationAttributes::default())
    };
    let drafts = pairs.iter().map(draft).collect::<Result<Vec<_>, _>>()?;
    store.write_blocking(move |tx| {
        drafts.iter().try_for_each(|draft| tx.relate(&VIEWER, draft).map(drop))?;
        Ok::<_, StoreError>(())
    })?;
    Ok(())
}
