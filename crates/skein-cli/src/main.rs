//! The binary `skein`: takes arguments, runs one command, ends with a documented exit code.
//!
//! Everything about terminals, environment variables and processes is in this crate and in no other. A command is
//! read in two stages: [`arguments`] as they were typed, then, with the [`configuration`], a [`plan`] in which nothing
//! is missing. Exit codes are in [`exit`], what people are told about errors in [`failure`], one file per command in
//! [`commands`].

mod api_client;
mod arguments;
mod commands;
mod configuration;
mod definition;
mod embedder;
mod exit;
mod failure;
mod lock;
mod log_line;
mod logging;
mod master_key;
mod output;
mod passphrase;
mod plan;
mod privacy;
mod progress;
mod prompt;
mod secret_value;
mod session;
mod settings;
mod signals;
mod storage_location;
mod vault_report;
mod views;

use std::process::ExitCode;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::configuration::{Configuration, Environment};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Paint;
use crate::plan::Plan;

/// A request allocates often and little, for a moment, on whatever thread it is on.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let outcome = run(Arguments::parse());
    logging::finish();
    match outcome {
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
    let Arguments { config, settings, mut command } = arguments;
    let mut flags = settings.0;
    if let Command::Serve(serve) = &mut command {
        flags.append(&mut serve.settings.0);
    }
    let environment = Environment::read();
    for name in environment.unknown() {
        eprintln!("warning: {name} is no setting; skein config show lists them");
    }
    let configuration = match &command {
        Command::Doctor(_) => Configuration::forgiving(config, flags, &environment),
        _ => Configuration::resolve(config, flags, &environment),
    }?;
    let is_server = match &command {
        Command::Serve(_) => true,
        Command::Worker(worker) => worker.command.is_none(),
        _ => false,
    };
    logging::start(&configuration, is_server)?;
    let plan = Plan::resolve(command, configuration, Paint::of_stdout(&environment))?;
    commands::run(plan, &mut std::io::stdout().lock())
}
