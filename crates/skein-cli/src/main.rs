//! The binary `skein`: takes arguments, runs one command, ends with a documented exit code.
//!
//! Everything about terminals, environment variables and processes is in this crate and in no other. A command is
//! read in two stages: [`arguments`] as they were typed, then a [`plan`] in which nothing is missing. Exit codes are
//! in [`exit`], what people are told about errors in [`failure`], one file per command in [`commands`].

mod arguments;
mod commands;
mod exit;
mod failure;
mod lock;
mod logging;
mod place;
mod plan;
mod progress;
mod signals;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::Arguments;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::place::Environment;
use crate::plan::Plan;

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(exit) => exit.into(),
        // Whoever read the output has enough of it.
        Err(failure) if failure.is_closed_pipe() => Exit::Ok.into(),
        Err(failure) => {
            eprintln!("{failure}");
            failure.exit.into()
        }
    }
}

fn run(arguments: Arguments) -> Result<Exit, Failure> {
    logging::start(&arguments)?;
    let plan = Plan::resolve(arguments, &Environment::read())?;
    commands::run(plan, &mut std::io::stdout().lock())
}
