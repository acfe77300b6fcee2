//! What is to be done, with nothing missing: arguments and environment resolved once, before anything happens.

use std::net::SocketAddr;
use std::path::PathBuf;

use skein_core::{Digest, ItemId};
use skein_store::verify::VerifyOptions;

use crate::arguments::{Arguments, Command, VerifyArguments};
use crate::failure::Failure;
use crate::place::{Environment, Place};

/// One command, ready to run.
#[derive(Debug)]
pub(crate) enum Plan {
    Init(Place),
    Serve(Serve),
    Verify { place: Place, options: VerifyOptions, report: ReportForm },
    CheckProof { file: PathBuf, report: ReportForm },
    Proof { place: Place, item: ItemId },
    Backup { place: Place, target: PathBuf },
    Restore { place: Place, source: PathBuf },
    Doctor { place: Place, report: ReportForm },
}

#[derive(Debug)]
pub(crate) struct Serve {
    pub(crate) place: Place,
    pub(crate) listen: SocketAddr,
    pub(crate) allowed_hosts: Vec<String>,
}

/// For whom a report is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReportForm {
    People,
    Programs,
}

impl ReportForm {
    fn json(asked: bool) -> Self {
        if asked { Self::Programs } else { Self::People }
    }
}

impl Plan {
    pub(crate) fn resolve(arguments: Arguments, environment: &Environment) -> Result<Self, Failure> {
        let Arguments { place, command, logging: _ } = arguments;
        let place = || Place::resolve(place, environment);
        Ok(match command {
            Command::Init => Self::Init(place()?),
            Command::Serve(serve) => {
                let (listen, allowed_hosts) = (serve.listen, serve.allow_host);
                Self::Serve(Serve { place: place()?, listen, allowed_hosts })
            }
            Command::Verify(verify) => return Self::verify(verify, place),
            Command::Proof(proof) => Self::Proof { item: parse_item(&proof.item)?, place: place()? },
            Command::Backup(backup) => Self::Backup { place: place()?, target: backup.target },
            Command::Restore(restore) => Self::Restore { place: place()?, source: restore.source },
            Command::Doctor(doctor) => Self::Doctor { place: place()?, report: ReportForm::json(doctor.json) },
        })
    }

    fn verify(arguments: VerifyArguments, place: impl FnOnce() -> Result<Place, Failure>) -> Result<Self, Failure> {
        let report = ReportForm::json(arguments.json);
        if let Some(file) = arguments.proof {
            return Ok(Self::CheckProof { file, report });
        }
        let expect = arguments.expect.as_deref().map(parse_head).transpose()?;
        let options = VerifyOptions { deep: arguments.deep, expect };
        Ok(Self::Verify { place: place()?, options, report })
    }
}

fn parse_item(text: &str) -> Result<ItemId, Failure> {
    text.parse().map_err(|bad| Failure::usage(bad, "give the id as the server shows it: item_…"))
}

fn parse_head(text: &str) -> Result<Digest, Failure> {
    let hint = "give --expect the head that an earlier skein verify printed";
    text.parse().map_err(|bad| Failure::usage(bad, hint))
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::exit::Exit;

    fn resolve(line: &str) -> Result<Plan, Failure> {
        let arguments = Arguments::try_parse_from(line.split(' ')).unwrap();
        Plan::resolve(arguments, &Environment::default())
    }

    #[test]
    fn a_proof_is_checked_without_any_directory() {
        assert!(matches!(resolve("skein verify --proof p.json"), Ok(Plan::CheckProof { .. })));
        assert_eq!(resolve("skein verify").unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn what_cannot_be_meant_is_a_usage_error() {
        for line in ["skein --dir d proof entity_1", "skein --dir d verify --expect 12"] {
            assert_eq!(resolve(line).unwrap_err().exit, Exit::Usage, "{line}");
        }
    }
}
