//! `skein completions`: what a shell needs to complete our arguments.

use std::io::Write;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::failure::Failure;

pub(crate) fn run(shell: Shell, out: &mut dyn Write) -> Result<Exit, Failure> {
    // Made in memory, because the generator panics when nobody reads on.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "skein", &mut script);
    out.write_all(&script)?;
    Ok(Exit::Ok)
}
