//! `skein man`: the manual pages, made from the arguments.

use std::io::Write;
use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;
use clap_mangen::Man;

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) fn run(directory: Option<&Path>, out: &mut dyn Write) -> Result<Exit, Failure> {
    match directory {
        None => Man::new(Arguments::command()).render(out)?,
        Some(directory) => {
            let written = clap_mangen::generate_to(Arguments::command(), directory);
            let written = written.with_context(|| format!("cannot write into {}", directory.display()));
            written.map_err(|error| Failure::new(Exit::Failed, error, "name an existing directory of your own"))?;
            writeln!(out, "The pages are in {}; read one with: man {0}/skein.1", directory.display())?;
        }
    }
    Ok(Exit::Ok)
}
