//! `skein restore`: puts a backup back into an empty place, then verifies it.

use std::io::Write;
use std::path::Path;

use anyhow::anyhow;
use serde_json::json;
use skein_store::backup::{BackupResult, restore};
use skein_store::store::database_file;
use skein_store::timeline::sealer::seal_all;
use skein_store::verify::{VerifyOptions, verify};

use super::backup::{completeness, tell_lost};
use super::verify::{tell, verdict};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::lock::Lock;
use crate::master_key::KeySource;
use crate::plan::ReportForm;
use crate::progress::Bar;
use crate::storage_location::StorageLocation;

pub(crate) fn run(
    place: &StorageLocation,
    source: &Path,
    form: ReportForm,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    if !database_file(source).is_file() {
        let error = anyhow!("there is no backup in {}", source.display());
        return Err(Failure::new(Exit::Failed, error, "give the directory that skein backup wrote"));
    }
    place.make_directory()?;
    let _lock = Lock::take(&place.dir)?;
    let blobs = place.blobs()?;
    let bar = Bar::new();
    let BackupResult { items, blobs: copied, lost_blobs } =
        restore(source, &place.location(), &blobs, &mut |progress| bar.show(progress))?;
    let store = place.open()?;
    let options = VerifyOptions { deep: true, expect: None };
    let report = verify(&store, &blobs, &options, &mut |progress| bar.show(progress))?;
    drop(bar);
    seal_all(&store, "restore")?;
    if form == ReportForm::Programs {
        let shown = json!({
            "items": items, "blobs": copied, "lostBlobs": lost_blobs, "verification": report.to_json(),
        });
        writeln!(out, "{shown:#}")?;
        return Ok(worst(completeness(&lost_blobs), verdict(&report)));
    }
    writeln!(out, "Restored {items} items and {copied} blobs to {}", place.database_shown())?;
    tell(&report, out)?;
    if let KeySource::File(path) = &place.master_key
        && !path.exists()
    {
        writeln!(out, "Secrets in it open only with the master key of its source: put that at {}", path.display())?;
        writeln!(out, "before the server starts, which makes a new one where there is none.")?;
    }
    Ok(worst(tell_lost(&lost_blobs, out)?, verdict(&report)))
}

fn worst(complete: Exit, verified: Exit) -> Exit {
    if complete == Exit::Ok { verified } else { complete }
}
