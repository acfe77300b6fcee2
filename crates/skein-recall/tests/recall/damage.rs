//! A folder that is damaged, torn, foreign or in use.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use skein_recall::{ApplyError, Change, Episode, Fingerprint, Index, OpenError, Options, StaticTable};

use crate::builders::{at, episode, id, ids, index_of, open, question, upsert, user};

fn reopen(folder: &Path) -> Result<Index, OpenError> {
    Index::open(folder, &Options::of(&StaticTable))
}

fn files_under(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| if path.is_dir() { files_under(&path) } else { vec![path] });
    found.filter(|path| !path.ends_with("lock") && path.extension().is_none_or(|name| name != "lock")).collect()
}

/// An index of three episodes that is closed again.
fn closed() -> tempfile::TempDir {
    let (index, folder) = index_of(vec![episode(1, "one tea"), episode(2, "two teas"), episode(3, "no coffee")]);
    index.rest().unwrap();
    drop(index);
    folder
}

#[test]
fn every_missing_or_emptied_file_is_a_clean_error_that_asks_for_a_rebuild() {
    for spoil in [|path: &Path| std::fs::remove_file(path).unwrap(), |path: &Path| std::fs::write(path, b"").unwrap()] {
        let count = files_under(closed().path()).len();
        for place in 0..count {
            let folder = closed();
            let path = files_under(folder.path()).into_iter().nth(place).unwrap();
            spoil(&path);
            match reopen(folder.path()) {
                Err(error) => assert!(error.asks_for_rebuild(), "{path:?}: {error}"),
                Ok(index) => assert!(!ids(&index.search(&question("tea")).unwrap()).is_empty(), "{path:?}"),
            }
        }
    }
}

#[test]
fn an_index_whose_owners_are_missing_asks_for_a_rebuild() {
    let folder = closed();
    std::fs::remove_dir_all(folder.path().join("owners")).unwrap();
    assert!(reopen(folder.path()).is_err_and(|error| error.asks_for_rebuild()));
}

#[test]
fn an_index_whose_removal_was_cut_off_begins_anew_and_leaves_nothing_behind() {
    let (closed, folder) = (closed(), tempfile::tempdir().unwrap());
    let [index, leaving] = ["index", "index.leaving"].map(|name| folder.path().join(name));
    std::fs::rename(closed.path(), &leaving).unwrap();
    let begun = reopen(&index).unwrap();
    assert!(begun.is_empty() && begun.cursor() == at(0) && !leaving.exists());
    drop(begun);
    std::fs::create_dir(&leaving).unwrap();
    Index::remove(&index).unwrap();
    assert!(!index.exists() && !leaving.exists());
}

#[test]
fn a_flipped_byte_in_rows_or_headers_is_noticed() {
    let folder = closed();
    let is_ours = |path: &PathBuf| path.file_name().is_some_and(|name| name == "rows");
    let rows = files_under(folder.path()).into_iter().find(is_ours).unwrap();
    for offset in [20, 256 + 30] {
        let good = std::fs::read(&rows).unwrap();
        let mut bad = good.clone();
        bad[offset] ^= 1;
        std::fs::write(&rows, &bad).unwrap();
        assert!(reopen(folder.path()).is_err_and(|error| error.asks_for_rebuild()));
        std::fs::write(&rows, &good).unwrap();
    }
    assert!(reopen(folder.path()).is_ok());
}

#[test]
fn a_torn_tail_is_cut_and_the_index_goes_on() {
    let folder = closed();
    for path in files_under(folder.path()) {
        if ["rows", "texts", "vectors", "sketches", "burials"].iter().any(|name| path.ends_with(name)) {
            OpenOptions::new().append(true).open(path).unwrap().write_all(&[7; 1_000]).unwrap();
        }
    }
    let index = reopen(folder.path()).unwrap();
    index.apply(&[upsert(episode(4, "four teas"))], at(2)).unwrap();
    assert_eq!(index.search(&question("teas")).unwrap().visible, 4);
    assert_eq!(ids(&index.search(&question("four")).unwrap())[0], id(4));
    drop(index);
    assert_eq!(ids(&reopen(folder.path()).unwrap().search(&question("four")).unwrap())[0], id(4));
}

#[test]
fn another_embedder_another_process_and_a_cursor_that_goes_back_are_refused() {
    let folder = closed();
    let other = Options::new(Fingerprint::new("other"), 3);
    assert!(matches!(Index::open(folder.path(), &other), Err(OpenError::OtherEmbedder { .. })));
    let index = open(folder.path());
    assert!(matches!(reopen(folder.path()), Err(OpenError::Busy { .. })));
    assert!(matches!(index.apply(&[], at(0)), Err(ApplyError::CursorBack { .. })));
}

#[test]
fn a_bad_episode_is_refused_and_leaves_the_index_as_it_was() {
    let folder = closed();
    let index = open(folder.path());
    let bad = |episode: Episode| index.apply(&[upsert(super::builders::episode(9, "nine")), upsert(episode)], at(2));
    let with = |vector| Episode { vector: Some(vector), ..episode(8, "eight") };
    assert!(matches!(bad(with(vec![1.0])), Err(ApplyError::Dimensions { found: 1, .. })));
    assert!(matches!(bad(with(vec![f32::NAN; 256])), Err(ApplyError::NoDirection { .. })));
    assert!(matches!(bad(with(vec![0.0; 256])), Err(ApplyError::NoDirection { .. })));
    let long = Episode { text: "x".repeat((1 << 20) + 1), ..episode(8, "") };
    assert!(matches!(bad(long), Err(ApplyError::TooLong { what: "the text", .. })));
    assert_eq!((index.cursor(), index.search(&question("nine")).unwrap().visible), (at(1), 3));
}

#[test]
fn deleting_forgets_and_deleting_the_unknown_does_nothing() {
    let folder = closed();
    let index = open(folder.path());
    let gone = |number| Change::Delete { owner: user(1), id: id(number) };
    index.apply(&[gone(1), gone(77), Change::Delete { owner: user(9), id: id(1) }], at(2)).unwrap();
    assert_eq!(index.search(&question("tea")).unwrap().visible, 2);
    let status = index.status();
    assert_eq!((status.owners.len(), status.owners[0].episodes, status.owners[0].dead), (1, 2, 1));
    index.compact().unwrap();
    assert_eq!(index.status().owners[0].dead, 0);
    drop(index);
    assert_eq!(open(folder.path()).search(&question("tea")).unwrap().visible, 2);
}

#[test]
fn a_search_reports_damage_of_an_owner_opened_later() {
    let folder = tempfile::tempdir().unwrap();
    let of = |owner: u8| upsert(Episode { owner: user(owner), ..episode(owner.into(), "one tea") });
    open(folder.path()).apply(&(1..=40).map(of).collect::<Vec<_>>(), at(1)).unwrap();
    for path in files_under(folder.path()).into_iter().filter(|path| path.ends_with("rows")) {
        std::fs::write(path, b"").unwrap();
    }
    let options = Options { owners_open_max: 0, ..Options::of(&StaticTable) };
    let index = Index::open(folder.path(), &options).unwrap();
    let asked = index.search(&question("tea"));
    assert!(asked.is_err_and(|error| error.asks_for_rebuild()));
    let written = index.apply(&[of(1)], at(2));
    assert!(written.is_err_and(|error| error.asks_for_rebuild()));
}
