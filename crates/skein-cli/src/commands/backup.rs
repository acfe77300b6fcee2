//! `skein backup`: copies everything into an empty directory, also beside a running server.

use std::io::Write;
use std::path::Path;

use serde_json::json;
use skein_core::Digest;
use skein_store::backup::{BackupResult, backup};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::master_key::KeySource;
use crate::plan::ReportForm;
use crate::progress::Bar;
use crate::storage_location::StorageLocation;

pub(crate) fn run(
    place: &StorageLocation,
    target: &Path,
    form: ReportForm,
    out: &mut dyn Write,
) -> Result<Exit, Failure> {
    let store = place.open_read_only()?;
    let blobs = place.blobs()?;
    let bar = Bar::new();
    let BackupResult { items, blobs, lost_blobs } = backup(&store, &blobs, target, &mut |progress| bar.show(progress))?;
    drop(bar);
    let target = target.display();
    if form == ReportForm::Programs {
        let report = json!({ "target": target.to_string(), "items": items, "blobs": blobs, "lostBlobs": lost_blobs });
        writeln!(out, "{report:#}")?;
        return Ok(completeness(&lost_blobs));
    }
    writeln!(out, "Copied {items} items and {blobs} blobs to {target}")?;
    writeln!(out, "Check it with: skein --dir {target} verify --deep")?;
    if let KeySource::File(path) = &place.master_key {
        writeln!(out, "Secrets in it open only with the master key: keep a copy of {} elsewhere", path.display())?;
    }
    tell_lost(&lost_blobs, out)
}

/// Names what could not be copied, which is a problem even though everything else was.
pub(crate) fn tell_lost(lost: &[Digest], out: &mut dyn Write) -> Result<Exit, Failure> {
    for hash in lost {
        writeln!(out, "Lost: the blob {hash} is missing or damaged and was not copied")?;
    }
    Ok(completeness(lost))
}

pub(crate) fn completeness(lost: &[Digest]) -> Exit {
    if lost.is_empty() { Exit::Ok } else { Exit::Problem }
}
