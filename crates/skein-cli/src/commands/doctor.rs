//! `skein doctor`: looks for what might keep Skein from working, and says how to mend it.
//!
//! It changes nothing that stays: the file it writes to see whether writing works is removed again.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, Write};

use serde_json::{Value, json};
use skein_core::{Millis, Viewer};
use skein_store::clock::{Clock as _, SystemClock};
use skein_store::timeline::items::{Direction, ItemQuery};
use skein_store::{SCHEMA_VERSION, Store, StoreError, Tx};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::lock;
use crate::master_key::KeySource;
use crate::plan::ReportForm;
use crate::storage_location::StorageLocation;
use crate::vault_report::{self, VaultReport};

const FREE_BYTES_MIN: u64 = 256 << 20;
const CLOCK_SKEW_MS_MAX: i64 = 5_000;
/// 2025-01-01: a clock before this was never set.
const CLOCK_MIN: Millis = Millis(1_735_689_600_000);
const SYSTEM: Viewer = Viewer::System("doctor");

/// One thing that was looked at.
struct Finding {
    check: &'static str,
    found: String,
    /// What to do about it; `None` when all is well.
    remedy: Option<Cow<'static, str>>,
}

impl Finding {
    fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, found: found.into(), remedy: None }
    }

    fn problem(check: &'static str, found: impl Into<String>, remedy: impl Into<Cow<'static, str>>) -> Self {
        Self { check, found: found.into(), remedy: Some(remedy.into()) }
    }
}

/// `unread` is why the configuration file could not be read.
pub(crate) fn run(
    place: &StorageLocation,
    unread: Option<&Failure>,
    form: ReportForm,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    let mut findings = vec![configuration(unread), directory(place)];
    if place.dir.is_dir() {
        findings.extend(privacy(place));
        findings.extend([writing(place), free_space(place), server(place), master_key(place)]);
    }
    match place.open_read_only() {
        Ok(store) => findings.extend(inside(place, &store)),
        Err(failure) => findings.push(unopened(place, &failure)),
    }
    match form {
        ReportForm::People => tell(&findings, out)?,
        ReportForm::Programs => writeln!(out, "{:#}", as_json(&findings))?,
    }
    let is_well = findings.iter().all(|finding| finding.remedy.is_none());
    Ok(if is_well { Exit::Ok } else { Exit::Problem })
}

/// What else is found is found without the file.
fn configuration(unread: Option<&Failure>) -> Finding {
    match unread {
        None => Finding::ok("configuration", "it can be read"),
        Some(failure) => Finding::problem("configuration", failure.error(), failure.hint()),
    }
}

fn directory(place: &StorageLocation) -> Finding {
    let shown = place.dir.display().to_string();
    if place.dir.is_dir() {
        return Finding::ok("directory", shown);
    }
    Finding::problem("directory", format!("{shown} is not there"), "run skein init, or choose another with --dir")
}

fn privacy(place: &StorageLocation) -> Vec<Finding> {
    let exposures = place.exposures();
    if exposures.is_empty() {
        return vec![Finding::ok(
            "privacy",
            "only their owner can look into the directory and change the configuration",
        )];
    }
    exposures.iter().map(|exposure| Finding::problem("privacy", exposure.to_string(), exposure.remedy())).collect()
}

fn writing(place: &StorageLocation) -> Finding {
    let file = place.dir.join(format!("doctor-{}.tmp", std::process::id()));
    let written = File::create_new(&file).and_then(|mut opened| opened.write_all(b"doctor"));
    let removed = fs::remove_file(&file);
    match written.and(removed) {
        Ok(()) => Finding::ok("writing", "the directory can be written to"),
        Err(error) => Finding::problem("writing", error.to_string(), "mend its permissions, or choose another --dir"),
    }
}

fn free_space(place: &StorageLocation) -> Finding {
    let free = rustix::fs::statvfs(&place.dir).map(|disk| disk.f_bavail.saturating_mul(disk.f_frsize));
    match free {
        Ok(free) if free >= FREE_BYTES_MIN => Finding::ok("free space", format!("{} MiB", free >> 20)),
        Ok(free) => {
            Finding::problem("free space", format!("only {} MiB are left", free >> 20), "free some space on this disk")
        }
        Err(error) => Finding::problem("free space", error.to_string(), "check the disk"),
    }
}

fn server(place: &StorageLocation) -> Finding {
    match lock::holder(&place.dir) {
        Ok(None) => Finding::ok("server", "none is running on this directory"),
        Ok(Some(held)) => Finding::ok("server", held.to_string()),
        Err(error) => Finding::problem("server", error.to_string(), "mend the permissions of skein.lock"),
    }
}

fn master_key(place: &StorageLocation) -> Finding {
    let shown = match &place.master_key {
        KeySource::File(path) => path.display().to_string(),
        KeySource::Environment(_) => "in the environment".to_owned(),
    };
    match place.master_key.read() {
        Ok(keys) if keys.all().len() == 1 => Finding::ok("master key", shown),
        Ok(keys) => Finding::ok("master key", format!("{shown}, with {} older ones", keys.all().len() - 1)),
        Err(failure) => Finding::problem("master key", failure.error(), failure.hint()),
    }
}

fn unopened(place: &StorageLocation, failure: &Failure) -> Finding {
    let found = format!("{}: {}", place.database_shown(), failure.error());
    let remedy = match (failure.exit, place.is_exclusive()) {
        (Exit::Unavailable, true) => "restore a backup into another directory if the file is damaged",
        (Exit::Unavailable, false) => "start PostgreSQL, or correct --database",
        _ => failure.hint(),
    };
    Finding::problem("database", found, remedy)
}

/// What can be asked of a database that opened.
fn inside(place: &StorageLocation, store: &Store) -> Vec<Finding> {
    let opened = Finding::ok("database", format!("{} with schema {SCHEMA_VERSION}", place.database_shown()));
    match store.read_blocking(first_look) {
        Ok(look) => {
            let first = [opened, users(&look), clock(&look, SystemClock.now())];
            first.into_iter().chain(vault(place, store)).collect()
        }
        Err(error) => {
            vec![opened, Finding::problem("reading", error.to_string(), "run skein verify to see what is damaged")]
        }
    }
}

/// Whether every value in the vault opens with the keys that are there, and whether a rotation was interrupted.
fn vault(place: &StorageLocation, store: &Store) -> Vec<Finding> {
    let report = match VaultReport::read(store, &place.master_key) {
        Ok(report) => report,
        Err(error) => {
            return vec![Finding::problem("secrets", error.to_string(), "run skein verify to see what is damaged")];
        }
    };
    let told = report.values_told();
    let values = if report.is_readable() {
        Finding::ok("secrets", told)
    } else {
        Finding::problem("secrets", told, vault_report::REMEDY)
    };
    // Another machine may serve a database that is elsewhere.
    let is_served = !place.is_exclusive() || matches!(lock::holder(&place.dir), Ok(Some(_)));
    let rotation = report.rotation_told(is_served).map(|told| Finding::ok("vault rotation", told));
    let retired = report.retired_told().map(|told| Finding::ok("retired master keys", told));
    std::iter::once(values).chain(rotation).chain(retired).collect()
}

struct Examination {
    has_user: bool,
    newest: Option<Millis>,
    now: Millis,
}

fn first_look(tx: &mut Tx<'_>) -> Result<Examination, StoreError> {
    let user = tx.first_user(&SYSTEM)?;
    let query = ItemQuery { direction: Direction::Backward, limit: 1, ..ItemQuery::default() };
    let items = user.map(|user| tx.items_of(&SYSTEM, user, &query)).transpose()?;
    let newest = items.and_then(|page| page.rows.first().map(|stored| stored.item.header.realized_at));
    Ok(Examination { has_user: user.is_some(), newest, now: tx.now() })
}

fn users(look: &Examination) -> Finding {
    if look.has_user {
        return Finding::ok("first user", "there");
    }
    Finding::problem("first user", "there is none yet", "run skein init or skein serve")
}

fn clock(look: &Examination, here: Millis) -> Finding {
    let remedy = "set the clock of this machine, for example with timedatectl set-ntp true";
    let skew = (look.now.0 - here.0).abs();
    if here < CLOCK_MIN {
        return Finding::problem("clock", format!("it says {here}"), remedy);
    }
    if skew > CLOCK_SKEW_MS_MAX {
        return Finding::problem("clock", format!("the database's differs by {skew} ms"), remedy);
    }
    match look.newest.filter(|newest| newest.0 > here.0 + CLOCK_SKEW_MS_MAX) {
        Some(newest) => Finding::problem("clock", format!("it says {here}, the newest item {newest}"), remedy),
        None => Finding::ok("clock", here.to_string()),
    }
}

fn tell(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    for Finding { check, found, remedy } in findings {
        let verdict = if remedy.is_none() { "ok" } else { "PROBLEM" };
        writeln!(out, "{verdict:8} {check}: {found}")?;
        if let Some(remedy) = remedy {
            writeln!(out, "         to mend it: {remedy}")?;
        }
    }
    Ok(())
}

fn as_json(findings: &[Finding]) -> Value {
    let one = |finding: &Finding| {
        let Finding { check, found, remedy } = finding;
        json!({ "check": check, "ok": remedy.is_none(), "found": found, "remedy": remedy })
    };
    let is_well = findings.iter().all(|finding| finding.remedy.is_none());
    json!({ "ok": is_well, "findings": findings.iter().map(one).collect::<Vec<Value>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_behind_the_newest_item_is_a_problem() {
        let here = CLOCK_MIN.plus(1_000_000);
        let look = |newest, now| Examination { has_user: true, newest: Some(newest), now };
        assert!(clock(&look(here, here), here).remedy.is_none());
        assert!(clock(&look(here.plus(60_000), here), here).remedy.is_some());
        assert!(clock(&look(here, here.plus(60_000)), here).remedy.is_some());
        assert!(clock(&look(Millis(0), Millis(0)), Millis(0)).remedy.is_some());
    }
}
