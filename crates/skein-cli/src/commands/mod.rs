//! One file per command; each takes its plan and writes what was asked for to standard output.

mod api_command;
mod backup;
mod bundle;
mod catalog;
mod completions;
mod config;
mod doctor;
mod flow;
mod init;
mod manual;
mod memory;
mod proof;
mod redact;
mod remove_keys;
mod restore;
mod serve;
mod tree;
mod verify;
mod worker;

use std::io::Write;

pub(crate) use self::serve::runtime;

use crate::api_client::ServerAddress;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::plan::{ApiRequest, FlowTask, MemoryTask, Plan};
use crate::session::Session;
use crate::storage_location::StorageLocation;

pub(crate) fn run(plan: Plan, out: &mut dyn Write) -> Result<Exit, Failure> {
    match plan {
        Plan::Init(place) => init::run(&place, out),
        Plan::Serve(serve) => serve::run(serve, out),
        Plan::Work { place, pools } => worker::run(&place, &pools, out),
        Plan::Errand { reach, grant, form, task } => {
            if let (ApiRequest::Flow(FlowTask::Chat(_)), ServerAddress::Place { place, .. }) = (&task, &reach) {
                make_ready(place)?;
            }
            if let (ApiRequest::Memory(MemoryTask::Rebuild { anew }), ServerAddress::Place { place, .. }) =
                (&task, &reach)
                && let Some(lock) = memory::free(place)?
            {
                return memory::rebuild_here(place, lock, *anew, out);
            }
            api_command::run(task, Session::new(reach, grant, form, out))
        }
        Plan::Verify { place, options, report } => verify::run(&place, &options, report, out),
        Plan::CheckProof { file, report } => proof::check(&file, report, out),
        Plan::Proof { place, item } => proof::make(&place, item, out),
        Plan::Backup { place, target, report } => backup::run(&place, &target, report, out),
        Plan::Restore { place, source, report } => restore::run(&place, &source, report, out),
        Plan::Doctor { place, unread, report } => doctor::run(&place, unread.as_ref(), report, out),
        Plan::RemoveKeys(removal) => remove_keys::run(&removal, out),
        Plan::ShowConfiguration { configuration, report } => config::show(&configuration, report, out),
        Plan::SampleConfiguration => config::print_sample(out),
        Plan::Completions(shell) => completions::run(shell, out),
        Plan::Manual { directory } => manual::run(directory.as_deref(), out),
    }
}

/// Whoever wants to talk need not know of `init`.
fn make_ready(place: &StorageLocation) -> Result<(), Failure> {
    if place.require_made().is_err() {
        init::run(place, &mut std::io::sink())?;
        eprintln!("Skein is ready: {}", place.database_shown());
    }
    Ok(())
}
