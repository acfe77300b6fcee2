//! `skein backup`: copies everything into an empty directory, also beside a running server.

use std::io::Write;
use std::path::Path;

use skein_store::backup::{Copied, backup};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Place;
use crate::progress::Bar;

pub(crate) fn run(place: &Place, target: &Path, out: &mut dyn Write) -> Result<Exit, Failure> {
    let store = place.open_read_only()?;
    let blobs = place.blobs()?;
    let bar = Bar::new();
    let Copied { items, blobs } = backup(&store, &blobs, target, &mut |progress| bar.show(progress))?;
    drop(bar);
    let target = target.display();
    writeln!(out, "Copied {items} items and {blobs} blobs to {target}")?;
    writeln!(out, "Check it with: skein --dir {target} verify --deep")?;
    Ok(Exit::Ok)
}
