//! One file per command; each takes its plan and writes what was asked for to standard output.

mod backup;
mod bundle;
mod catalog;
mod completions;
mod config;
mod conversation;
mod doctor;
mod errand;
mod init;
mod manual;
mod proof;
mod redact;
mod restore;
mod serve;
mod verify;

use std::io::Write;

pub(crate) use self::serve::runtime;

use crate::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::Plan;

pub(crate) fn run(plan: Plan, out: &mut dyn Write) -> Result<Exit, Failure> {
    match plan {
        Plan::Init(place) => init::run(&place, out),
        Plan::Serve(serve) => serve::run(serve, out),
        Plan::Errand { reach, grant, form, task } => errand::run(task, Desk::new(reach, grant, form, out)),
        Plan::Verify { place, options, report } => verify::run(&place, &options, report, out),
        Plan::CheckProof { file, report } => proof::check(&file, report, out),
        Plan::Proof { place, item } => proof::make(&place, item, out),
        Plan::Backup { place, target, report } => backup::run(&place, &target, report, out),
        Plan::Restore { place, source, report } => restore::run(&place, &source, report, out),
        Plan::Doctor { place, unread, report } => doctor::run(&place, unread.as_ref(), report, out),
        Plan::ShowConfiguration { configuration, report } => config::show(&configuration, report, out),
        Plan::SampleConfiguration => config::print_sample(out),
        Plan::Completions(shell) => completions::run(shell, out),
        Plan::Manual { directory } => manual::run(directory.as_deref(), out),
    }
}
