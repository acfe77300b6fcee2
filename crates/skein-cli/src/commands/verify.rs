//! `skein verify`: proves that nothing was altered, or says exactly where it was.

use std::io::{self, Write};

use skein_store::verify::{IntegrityBreak, VerifyOptions, VerifyReport, verify};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::lock;
use crate::plan::ReportForm;
use crate::progress::Bar;
use crate::storage_location::StorageLocation;
use crate::vault_report::{self, VaultReport};

pub(crate) fn run(
    place: &StorageLocation,
    options: &VerifyOptions,
    form: ReportForm,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    let store = place.open_read_only()?;
    let blobs = place.blobs()?;
    let bar = Bar::new();
    let report = verify(&store, &blobs, options, &mut |progress| bar.show(progress))?;
    drop(bar);
    let vault = VaultReport::read(&store, &place.master_key)?;
    match form {
        ReportForm::People => {
            tell(&report, out)?;
            tell_vault(&vault, place, out)?;
        }
        ReportForm::Programs => {
            let mut told = report.to_json();
            told["vault"] = vault.to_json();
            writeln!(out, "{told:#}")?;
        }
    }
    Ok(if vault.has_lost_values() { Exit::Problem } else { verdict(&report) })
}

/// Values are not part of the timeline: that they open is told beside it.
fn tell_vault(vault: &VaultReport, place: &StorageLocation, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "Secrets: {}", vault.values_told())?;
    if vault.has_lost_values() {
        writeln!(out, "  to mend it: {}", vault_report::REMEDY)?;
    }
    let is_served = !place.is_exclusive() || matches!(lock::holder(&place.dir), Ok(Some(_)));
    vault.rotation_told(is_served).map_or(Ok(()), |told| writeln!(out, "Vault rotation: {told}"))
}

/// More owners than these are listed only for programs.
const SEALS_SHOWN_MAX: usize = 10;

pub(crate) fn verdict(report: &VerifyReport) -> Exit {
    if report.breaks.is_empty() { Exit::Ok } else { Exit::Problem }
}

/// The report in words, the first break first.
pub(crate) fn tell(report: &VerifyReport, out: &mut dyn Write) -> io::Result<()> {
    let VerifyReport { items, sealed, unsealed, redacted, owners, head, seals, breaks, not_proven } = report;
    writeln!(out, "Items: {items} of {owners} owners; {sealed} sealed, {unsealed} not yet, {redacted} redacted")?;
    writeln!(out, "Head:  {head}")?;
    for (owner, seal) in seals.iter().take(SEALS_SHOWN_MAX) {
        writeln!(out, "Seal:  {seal} is the last of {owner}")?;
    }
    for (number, found) in breaks.iter().enumerate() {
        tell_break(number + 1, found, out)?;
    }
    match breaks.len() {
        0 => writeln!(out, "Nothing was altered.")?,
        1 => writeln!(out, "1 break was found.")?,
        many => writeln!(out, "{many} breaks were found; mend the first and verify again.")?,
    }
    writeln!(out, "Not proven:")?;
    not_proven.iter().try_for_each(|open| writeln!(out, "  - {open}"))
}

fn tell_break(number: usize, found: &IntegrityBreak, out: &mut dyn Write) -> io::Result<()> {
    let IntegrityBreak { table, row, problem, expected, found, last_good } = found;
    writeln!(out, "Break {number}: {row} in {table}: {problem}")?;
    for (name, value) in [("expected", expected), ("found", found), ("last good", last_good)] {
        if let Some(value) = value {
            writeln!(out, "  {name:<10} {value}")?;
        }
    }
    Ok(())
}
