//! A page of a long listing: what it costs deep in the store, beside the first page of the same listing.
//!
//! Along both clocks, along the timeline as followers read it, and among items that all have the same moment, as
//! an import makes them.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use rusqlite::params;
use skein_core::garden::cursor::Cursor;
use skein_core::garden::item::ItemType;
use skein_core::{Millis, Viewer};
use skein_store::Store;
use skein_store::timeline::items::{ItemClock, ItemQuery, PagePosition, StoredItem};

use crate::comparison::Comparison;
use crate::million::{Million, open};
use crate::notes::{OWNER, VIEWER, notes};
use crate::report::{Line, Target, Unit};
use crate::{Setting, bare, batch};

const PAGE_ITEMS: usize = 100;
/// One page takes less than a millisecond, so there is time for many.
const PAGES_PER_ROUND: u32 = 40;
/// How much more a deep page may cost than the first.
const TIMES_FIRST: f64 = 1.5;
const ITEMS_OF_ONE_MOMENT: usize = 100_000;

/// After which item a page begins: its value on the clock, then its position.
type After = (i64, i64);

/// The order of a listing and how a page of it is read.
struct Listing {
    name: &'static str,
    clock: &'static str,
    read: fn(&Store, Option<After>) -> Result<Vec<StoredItem>>,
}

const REALIZED: Listing = Listing {
    name: "time of recording",
    clock: "realized_at",
    read: |store, after| items(store, ItemClock::Realized, after),
};
const CANONICAL: Listing = Listing {
    name: "time of happening",
    clock: "canonical_at",
    read: |store, after| items(store, ItemClock::Canonical, after),
};
const TIMELINE: Listing = Listing { name: "timeline", clock: "tx", read: follow };

/// Deep pages of a large store.
pub(crate) fn run(million: &Million, rounds: u32) -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for listing in [REALIZED, CANONICAL, TIMELINE] {
        for (depth, skipped) in depths(million.items) {
            let what = format!("page of 100 at {depth} by {}; beside it: the first page", listing.name);
            lines.push(compare(&million.directory, &listing, skipped, rounds, &what)?);
        }
    }
    Ok(lines)
}

/// The last page of items that were all recorded in one transaction, and so at one moment.
pub(crate) fn run_one_moment(setting: &Setting) -> Result<Line> {
    let directory = setting.folder.make("moment")?;
    let drafts = notes(ITEMS_OF_ONE_MOMENT).iter().map(|note| note.draft(None)).collect::<Result<_>>()?;
    batch::append(&open(&directory)?, drafts)?;
    let what = "page of 100 at the end of 100,000 items of one moment; beside it: the first page";
    compare(&directory, &REALIZED, last_page(ITEMS_OF_ONE_MOMENT), setting.rounds, what)
}

/// Where a page is deep. A little past the middle, where only notes are: a page with seals is heavier anywhere.
fn depths(items: usize) -> [(&'static str, usize); 2] {
    [("the middle", items / 2 + items / 100), ("the end", last_page(items))]
}

/// How many items lie before the last full page that still has a next one.
fn last_page(items: usize) -> usize {
    items - PAGE_ITEMS - 2
}

fn compare(directory: &Path, listing: &Listing, skipped: usize, rounds: u32, what: &str) -> Result<Line> {
    let store = open(directory)?;
    let deep = place(directory, listing.clock, skipped)?;
    let sides = Comparison::alternate(
        rounds * PAGES_PER_ROUND,
        || page(&store, listing, Some(deep)),
        || page(&store, listing, None),
    )?;
    Ok(Line::compared(what, Unit::Milliseconds, &sides, Target::AtMost(TIMES_FIRST)))
}

/// The place after so many items.
fn place(directory: &Path, clock: &str, skipped: usize) -> Result<After> {
    let connection = bare::open_for_reading(directory)?;
    let sql = format!(
        "SELECT {clock}, position FROM items WHERE owner = ?1 AND type = 'Note'
         ORDER BY {clock}, position LIMIT 1 OFFSET ?2"
    );
    let skipped = i64::try_from(skipped).context("so many items do not fit")?;
    let found = connection.query_row(&sql, params![OWNER.as_bytes(), skipped], |row| Ok((row.get(0)?, row.get(1)?)));
    found.context("the store has fewer items than were put in")
}

/// Milliseconds for one page.
fn page(store: &Store, listing: &Listing, after: Option<After>) -> Result<f64> {
    let started = Instant::now();
    let rows = (listing.read)(store, after)?;
    let took = started.elapsed().as_secs_f64() * 1_000.0;
    ensure!(rows.len() == PAGE_ITEMS, "a page was not full");
    let is_note = |row: &StoredItem| row.item.header.item_type == ItemType::NOTE;
    ensure!(rows.iter().all(is_note), "a seal lies on this page; choose other --items");
    Ok(took)
}

fn items(store: &Store, along: ItemClock, after: Option<After>) -> Result<Vec<StoredItem>> {
    let after = after.map(|(at, position)| PagePosition { at: Millis(at), position });
    let query = ItemQuery { along, after, limit: PAGE_ITEMS, ..ItemQuery::default() };
    Ok(store.read_blocking(move |tx| tx.items(&VIEWER, &query))?.rows)
}

fn follow(store: &Store, after: Option<After>) -> Result<Vec<StoredItem>> {
    let after = after.map_or(Cursor::START, |(tx, position)| Cursor { tx, position });
    Ok(store.read_blocking(move |tx| tx.follow(&Viewer::System("benchmark"), after, PAGE_ITEMS))?)
}
