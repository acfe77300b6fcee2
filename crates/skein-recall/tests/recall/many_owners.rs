//! Many owners: few are open at once, everybody is answered, and whoever only reads holds no file.

use std::path::Path;

use skein_recall::{Episode, Index, Options, Query, StaticTable};

use crate::builders::{at, episode, question, upsert, user};

const OWNERS: u8 = 12;

fn of(owner: u8, round: u16) -> Episode {
    let number = round * 100 + u16::from(owner);
    Episode { owner: user(owner), ..episode(number, &format!("tea of owner {owner} in round {round}")) }
}

fn few_at_once(folder: &Path) -> Index {
    Index::open(folder, &Options { owners_open_max: 3, ..Options::of(&StaticTable) }).unwrap()
}

fn visible(index: &Index, owner: u8) -> u32 {
    index.search(&Query { owner: user(owner), ..question("tea") }).unwrap().visible
}

/// Files of a folder that this process holds open.
fn held_files(folder: &Path) -> usize {
    let held = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    held.filter_map(|entry| std::fs::read_link(entry.path()).ok()).filter(|file| file.starts_with(folder)).count()
}

#[test]
fn more_owners_than_may_be_open_are_all_answered_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let index = few_at_once(folder.path());
    let mut position = 0;
    for round in 0..2 {
        for owner in 1..=OWNERS {
            position += 1;
            index.apply(&[upsert(of(owner, round))], at(position)).unwrap();
        }
    }
    assert!((1..=OWNERS).rev().all(|owner| visible(&index, owner) == 2));
    assert_eq!(index.totals().episodes, u64::from(OWNERS) * 2);
    drop(index);
    let index = few_at_once(folder.path());
    assert_eq!((index.totals().episodes, index.status().owners.len()), (u64::from(OWNERS) * 2, usize::from(OWNERS)));
    assert!((1..=OWNERS).all(|owner| visible(&index, owner) == 2));
    assert!(held_files(folder.path()) <= 2, "only the lock of the folder is held: {}", held_files(folder.path()));
}

#[test]
fn searches_succeed_while_other_owners_open_and_close() {
    let folder = tempfile::tempdir().unwrap();
    let index = few_at_once(folder.path());
    index.apply(&(1..=OWNERS).map(|owner| upsert(of(owner, 0))).collect::<Vec<_>>(), at(1)).unwrap();
    std::thread::scope(|scope| {
        for offset in 0..3_u8 {
            let index = &index;
            scope.spawn(move || {
                for owner in (1..=OWNERS).cycle().skip((offset * 7).into()).take(200) {
                    assert!(visible(index, owner) >= 1);
                }
            });
        }
        for (owner, position) in (1..=OWNERS).zip(2..) {
            index.apply(&[upsert(of(owner, 1))], at(position)).unwrap();
        }
    });
    assert!((1..=OWNERS).all(|owner| visible(&index, owner) == 2));
}
