//! A process that is killed while it writes loses nothing it had told, and doing it again changes nothing.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use skein_recall::Change;

use crate::builders::{at, episode, id, open, question, upsert, user};

const FOLDER: &str = "SKEIN_RECALL_KILLED_FOLDER";
const BATCH: u16 = 5;

/// Batch `number`: five new episodes, and one of an earlier batch is changed, another deleted.
fn batch(number: u16) -> Vec<Change> {
    let mut changes: Vec<Change> = (0..BATCH)
        .map(|place| upsert(episode(number * BATCH + place, &format!("tea number {number} {place}"))))
        .collect();
    if number > 0 {
        let before = (number - 1) * BATCH;
        changes.push(upsert(episode(before, &format!("changed tea of {number}"))));
        changes.push(Change::Delete { owner: user(1), id: id(before + 1) });
    }
    changes
}

/// Not a test by itself: what the killed process runs.
#[test]
fn kill_nine_victim() {
    #[expect(clippy::disallowed_methods, reason = "how the parent tells its child where to write")]
    let Ok(folder) = std::env::var(FOLDER) else { return };
    let index = open(Path::new(&folder));
    let first = u16::try_from(index.cursor().position).unwrap();
    for number in first..first + 2_000 {
        index.apply(&batch(number), at(i64::from(number) + 1)).unwrap();
        println!("applied {}", number + 1);
        if number % 40 == 39 {
            index.compact().unwrap();
        }
    }
}

#[test]
fn kill_nine_while_writing_leaves_what_was_told_and_may_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    for told_before_killing in [1, 7, 45] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "kill::kill_nine_victim", "--nocapture"])
            .env(FOLDER, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let told = lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("applied ")?.parse::<i64>().ok());
        let told = told.take(told_before_killing).last().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let index = open(folder.path());
        let reached = index.cursor().position;
        assert!(reached >= told, "{reached} is before {told}");
        index.apply(&batch(u16::try_from(reached).unwrap()), at(reached + 1)).unwrap();
        let count = u32::try_from(reached + 1).unwrap();
        assert_eq!(index.search(&question("tea")).unwrap().visible, count * u32::from(BATCH) - (count - 1));
    }
}
