//! Resolves arguments and configuration once into a complete plan, before anything happens.

mod api_request;
mod catalog;
mod flow;
mod memory;
mod tree;

use std::net::SocketAddr;
use std::path::PathBuf;

use anyhow::anyhow;
use clap_complete::Shell;
use skein_connect::vault::KeyId;
use skein_core::{Digest, ItemId};
use skein_engine::flow::PoolSizes;
use skein_store::Location;
use skein_store::verify::VerifyOptions;

pub(crate) use self::catalog::{
    CatalogTask, Change, Collection, DefaultChoice, EntryName, NamedEntry, UnresolvedCatalogRequest, difference,
    each_target, resolve_targets,
};
pub(crate) use self::flow::{ChatTask, FlowTask, Verdict, json_of};
pub(crate) use self::memory::MemoryTask;
use crate::api_client::ServerAddress;
use crate::arguments::{
    AskingArguments, Command, ConfigCommand, IndexArguments, KeyRemovalArguments, StorageArguments, VerifyArguments,
    WorkerCommand,
};
use crate::configuration::{Configuration, without_credentials};
use crate::definition::Source;
use crate::failure::Failure;
use crate::output::Paint;
use crate::passphrase::PassphraseSource;
pub(crate) use crate::plan::api_request::{ApiRequest, Content, object};
pub(crate) use crate::plan::tree::{
    ConversationTask, NodeLocation, NodeName, NodeSlot, Resolver, TextSource, UnresolvedTreeRequest,
};
use crate::session::OutputFormat;
use crate::settings::Name;
use crate::storage_location::{self, StorageLocation};

/// One command, ready to run.
#[derive(Debug)]
pub(crate) enum Plan {
    Init(StorageLocation),
    Serve(Serve),
    /// Makes calls for others.
    Work {
        place: StorageLocation,
        pools: PoolSizes,
    },
    Errand {
        reach: ServerAddress,
        grant: Option<ItemId>,
        form: OutputFormat,
        task: ApiRequest,
    },
    Verify {
        place: StorageLocation,
        options: VerifyOptions,
        report: ReportForm,
    },
    CheckProof {
        file: PathBuf,
        report: ReportForm,
    },
    Proof {
        place: StorageLocation,
        item: ItemId,
    },
    Backup {
        place: StorageLocation,
        target: PathBuf,
        report: ReportForm,
    },
    Restore {
        place: StorageLocation,
        source: PathBuf,
        report: ReportForm,
    },
    Doctor {
        place: StorageLocation,
        unread: Option<Failure>,
        report: ReportForm,
    },
    RemoveKeys(KeyRemoval),
    ShowConfiguration {
        configuration: Configuration,
        report: ReportForm,
    },
    SampleConfiguration,
    Completions(Shell),
    Manual {
        directory: Option<PathBuf>,
    },
}

#[derive(Debug)]
pub(crate) struct Serve {
    pub(crate) place: StorageLocation,
    pub(crate) listen: SocketAddr,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) public_url: Option<String>,
    pub(crate) tokens: Option<TokenIssuer>,
    pub(crate) pools: PoolSizes,
}

/// Master keys to be removed from the key file of a place.
#[derive(Debug)]
pub(crate) struct KeyRemoval {
    pub(crate) place: StorageLocation,
    pub(crate) keys: Vec<KeyId>,
    /// Other databases that use the key file.
    pub(crate) others: Vec<Location>,
    pub(crate) is_sure: bool,
}

impl KeyRemoval {
    fn resolve(arguments: &KeyRemovalArguments, place: StorageLocation) -> Self {
        let KeyRemovalArguments { keys, also, yes: is_sure } = arguments;
        let keys = keys.iter().map(KeyId::stored).collect();
        let others = also.iter().map(|text| storage_location::location_named(text)).collect();
        Self { place, keys, others, is_sure: *is_sure }
    }
}

/// Whose bearer tokens (JWT) are accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TokenIssuer {
    pub(crate) issuer: String,
    pub(crate) audience: String,
    pub(crate) jwks_url: String,
}

/// Where the passphrase for secrets comes from, when they are wanted.
fn passphrase(with_secrets: bool, file: Option<PathBuf>, is_new: bool) -> Option<PassphraseSource> {
    with_secrets.then(|| PassphraseSource { file: file.map(Source::named), is_new })
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
    pub(crate) fn resolve(command: Command, mut configuration: Configuration, paint: Paint) -> Result<Self, Failure> {
        let unread = configuration.unread.take();
        let errand = |asking, task| Self::errand(asking, task, &configuration, paint);
        let complete = |(asking, task)| errand(asking, task);
        // Whoever named a server must not be answered by this machine's own directory.
        let place = || {
            refuse_server(&configuration)?;
            StorageLocation::resolve(&configuration)
        };
        Ok(match command {
            Command::Init => Self::Init(place()?),
            Command::Serve(_) => Self::Serve(Serve::resolve(&configuration)?),
            Command::User(user) => errand(user.asking, ApiRequest::of_user(user.command)?)?,
            Command::Key(key) => errand(key.asking, ApiRequest::of_key(key.command)?)?,
            Command::Session(session) => errand(session.asking, ApiRequest::of_session(session.command)?)?,
            Command::Grant(grant) => errand(grant.asking, ApiRequest::of_grant(grant.command)?)?,
            Command::Item(item) => errand(item.asking, ApiRequest::of_item(item.command)?)?,
            Command::Relation(relation) => errand(relation.asking, ApiRequest::of_relation(relation.command)?)?,
            Command::Conversation(conversation) => {
                errand(conversation.asking, ConversationTask::of_conversation(conversation.command)?.into())?
            }
            Command::Recall(recall) => complete(MemoryTask::of_recall(recall)?)?,
            Command::Episode(episode) => errand(episode.asking, MemoryTask::of_episode(episode.command)?)?,
            Command::Index(IndexArguments { command }) => complete(MemoryTask::of_index(command))?,
            Command::Project(project) => errand(project.asking, ConversationTask::of_project(project.command)?.into())?,
            Command::Service(service) => errand(service.asking, CatalogTask::of_service(service.command)?.into())?,
            Command::Tool(tool) => errand(tool.asking, CatalogTask::of_tool(tool.command)?.into())?,
            Command::Process(process) => errand(process.asking, CatalogTask::of_process(process.command)?.into())?,
            Command::Run(run) => complete(FlowTask::of_run(run)?)?,
            Command::Execution(execution) => complete(FlowTask::of_execution(execution)?)?,
            Command::Review(review) => complete(FlowTask::of_review(review)?)?,
            Command::Chat(chat) => complete(FlowTask::of_chat(chat)?)?,
            Command::Worker(worker) => match worker.command {
                Some(WorkerCommand::List { asking }) => errand(asking, flow::list_workers())?,
                Some(WorkerCommand::Dead { asking, amount }) => errand(asking, flow::list_dead_jobs(amount))?,
                None => Self::Work { pools: flow::pools_of(&worker), place: flow::shared(place()?)? },
            },
            Command::Template(template) => errand(template.asking, CatalogTask::of_template(template.command)?.into())?,
            Command::Secret(secret) => errand(secret.asking, CatalogTask::of_secret(secret.command)?.into())?,
            Command::Vault(vault) => match ApiRequest::of_vault(&vault.command) {
                Ok(task) => errand(vault.asking, task)?,
                Err(removal) => Self::RemoveKeys(KeyRemoval::resolve(removal, place()?)),
            },
            Command::Endpoint(endpoint) => errand(endpoint.asking, CatalogTask::of_endpoint(endpoint.command)?.into())?,
            Command::History(history) => complete(ApiRequest::of_history(history)?)?,
            Command::Redact(redact) => complete(ApiRequest::of_redact(redact)?)?,
            Command::Export(export) => complete(ApiRequest::of_export(export))?,
            Command::Import(import) => complete(ApiRequest::of_import(import))?,
            Command::Verify(verify) => return Self::verify(verify, place),
            Command::Proof(proof) => Self::Proof { item: parse_item(&proof.item)?, place: place()? },
            Command::Backup(backup) => {
                let report = ReportForm::json(backup.json);
                Self::Backup { place: place()?, target: backup.target, report }
            }
            Command::Restore(restore) => {
                let report = ReportForm::json(restore.json);
                Self::Restore { place: place()?, source: restore.source, report }
            }
            Command::Storage(StorageArguments { asking }) => errand(asking, ApiRequest::storage())?,
            Command::Doctor(doctor) => Self::Doctor { place: place()?, unread, report: ReportForm::json(doctor.json) },
            Command::Config(config) => match config.command {
                ConfigCommand::Show { json } => {
                    Self::ShowConfiguration { configuration, report: ReportForm::json(json) }
                }
                ConfigCommand::Sample => Self::SampleConfiguration,
            },
            Command::Completions(completions) => Self::Completions(completions.shell),
            Command::Man(man) => Self::Manual { directory: man.directory },
        })
    }

    fn errand(
        asking: AskingArguments,
        task: ApiRequest,
        configuration: &Configuration,
        paint: Paint,
    ) -> Result<Self, Failure> {
        let AskingArguments { json, quiet, grant } = asking;
        let form = match (json, quiet) {
            (true, _) => OutputFormat::Json,
            (false, true) => OutputFormat::Quiet,
            (false, false) => OutputFormat::People(paint),
        };
        let grant = grant.as_deref().map(parse_item).transpose()?;
        Ok(Self::Errand { reach: resolve_reach(configuration)?, grant, form, task })
    }

    fn verify(
        arguments: VerifyArguments,
        place: impl FnOnce() -> Result<StorageLocation, Failure>,
    ) -> Result<Self, Failure> {
        let report = ReportForm::json(arguments.json);
        if let Some(file) = arguments.proof {
            return Ok(Self::CheckProof { file, report });
        }
        let expect = arguments.expect.as_deref().map(parse_head).transpose()?;
        let options = VerifyOptions { deep: arguments.deep, expect };
        Ok(Self::Verify { place: place()?, options, report })
    }
}

impl Serve {
    fn resolve(configuration: &Configuration) -> Result<Self, Failure> {
        let listen = configuration.parsed(Name::Listen, "give an address and a port, for example 127.0.0.1:7420")?;
        let public_url = configuration.text(Name::PublicUrl).map(str::to_owned);
        if public_url.as_ref().is_some_and(|url| !url.starts_with("http://") && !url.starts_with("https://")) {
            let hint = "give --public-url as browsers will ask for it: https://skein.example";
            return Err(Failure::usage(anyhow!("the public URL begins with neither http:// nor https://"), hint));
        }
        Ok(Self {
            place: StorageLocation::resolve(configuration)?,
            listen: listen.expect("a default is compiled in"),
            allowed_hosts: configuration.list(Name::AllowHosts).to_vec(),
            public_url,
            tokens: TokenIssuer::resolve(configuration)?,
            pools: flow::pools_of_server(configuration)?,
        })
    }
}

impl TokenIssuer {
    /// All three settings, or none: with a part of them nothing could be checked.
    fn resolve(configuration: &Configuration) -> Result<Option<Self>, Failure> {
        let given = |name| configuration.text(name).map(str::to_owned);
        match (given(Name::JwtIssuer), given(Name::JwtAudience), given(Name::JwtJwksUrl)) {
            (None, None, None) => Ok(None),
            (Some(issuer), Some(audience), Some(jwks_url)) => Ok(Some(Self { issuer, audience, jwks_url })),
            _ => {
                let error = anyhow!("only a part of jwt.issuer, jwt.audience and jwt.jwks_url is set");
                Err(Failure::usage(
                    error,
                    "set all three to accept bearer tokens, or none; skein config show lists them",
                ))
            }
        }
    }
}

/// A server that was named needs a key; on a directory the lock file or this process has one.
fn resolve_reach(configuration: &Configuration) -> Result<ServerAddress, Failure> {
    let key = configuration.text(Name::Key).map(str::to_owned);
    let Some(address) = configuration.text(Name::Server) else {
        return Ok(ServerAddress::Place { place: Box::new(StorageLocation::resolve(configuration)?), key });
    };
    let address = address.trim_end_matches('/');
    if !(address.starts_with("http://") || address.starts_with("https://")) {
        let error = anyhow!("{} is not the address of a server", without_credentials(address));
        return Err(Failure::usage(error, "give --server http://host:port or https://host"));
    }
    let key = key.ok_or_else(|| {
        let error = anyhow!("there is no key for {}", without_credentials(address));
        Failure::usage(error, "set SKEIN_KEY, or key in skein.toml; skein key create on the server's machine makes one")
    })?;
    Ok(ServerAddress::Server { address: address.to_owned(), key })
}

/// For commands that work on a directory and nothing else. Who names one means it, whatever a file says of servers.
fn refuse_server(configuration: &Configuration) -> Result<(), Failure> {
    let Some(address) = configuration.text(Name::Server) else { return Ok(()) };
    if configuration.is_nearer(Name::Dir, Name::Server) {
        return Ok(());
    }
    let error = anyhow!("this command works on a directory, not through {}", without_credentials(address));
    let hint = "on the server's machine, name the directory with --dir and leave out --server";
    Err(Failure::usage(error, hint))
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
    use crate::arguments::Arguments;
    use crate::configuration::Environment;
    use crate::exit::Exit;

    fn resolve(line: &str) -> Result<Plan, Failure> {
        let Arguments { config, settings, mut command } = Arguments::try_parse_from(line.split(' ')).unwrap();
        let mut flags = settings.0;
        if let Command::Serve(serve) = &mut command {
            flags.append(&mut serve.settings.0);
        }
        Plan::resolve(command, Configuration::resolve(config, flags, &Environment::default())?, Paint::Plain)
    }

    #[test]
    fn the_arguments_do_not_contradict_each_other() {
        <Arguments as clap::CommandFactory>::command().debug_assert();
    }

    #[test]
    fn a_proof_is_checked_without_any_directory() {
        assert!(matches!(resolve("skein verify --proof p.json"), Ok(Plan::CheckProof { .. })));
        assert_eq!(resolve("skein verify").unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn what_cannot_be_meant_is_a_usage_error() {
        for line in
            ["skein --dir d proof entity_1", "skein --dir d verify --expect 12", "skein --dir d serve --public-url foo"]
        {
            assert_eq!(resolve(line).unwrap_err().exit, Exit::Usage, "{line}");
        }
    }

    #[test]
    fn flags_of_serve_become_its_settings() {
        let line = "skein serve --dir d --listen 127.0.0.1:0 --allow-host a,b --allow-host c --public-url https://s";
        let Ok(Plan::Serve(serve)) = resolve(line) else { panic!("not a plan to serve") };
        assert_eq!(serve.listen.port(), 0);
        assert_eq!(serve.allowed_hosts, ["a", "b", "c"]);
    }

    #[test]
    fn a_named_server_is_refused_where_only_a_directory_is_looked_at() {
        for line in ["init", "verify", "proof ITEM", "backup d", "restore d", "doctor"] {
            let line = line.replace("ITEM", "item_01HQ3K4N7Y8M2P5R6T9W0X1Z2A");
            let refused = resolve(&format!("skein {line} --dir d --server http://s --key k")).unwrap_err();
            assert_eq!(refused.exit, Exit::Usage, "{line}");
            assert!(refused.to_string().contains("not through http://s"), "{refused}");
        }
        assert!(matches!(resolve("skein verify --proof p.json --server http://s"), Ok(Plan::CheckProof { .. })));
    }

    #[test]
    fn a_directory_that_was_named_counts_more_than_a_server_named_further_away() {
        let doctor = |variables: &[(&str, &str)], flags: &str| {
            let line = format!("skein doctor{flags}");
            let Arguments { settings, command, .. } = Arguments::try_parse_from(line.split(' ')).unwrap();
            let environment = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
            Plan::resolve(command, Configuration::resolve(None, settings.0, &environment)?, Paint::Plain)
        };
        let server = ("SKEIN_SERVER", "http://s");
        assert!(matches!(doctor(&[server], " --dir d"), Ok(Plan::Doctor { .. })));
        for (variables, flags) in
            [(&[server][..], ""), (&[server, ("SKEIN_DIR", "d")], ""), (&[("SKEIN_DIR", "d")], " --server http://s")]
        {
            assert_eq!(doctor(variables, flags).unwrap_err().exit, Exit::Usage, "{variables:?}{flags}");
        }
    }

    #[test]
    fn tokens_are_configured_whole_or_not_at_all() {
        let all = "skein serve --dir d --jwt-issuer i --jwt-audience a --jwt-jwks-url u";
        assert!(matches!(resolve(all), Ok(Plan::Serve(_))));
        assert_eq!(resolve("skein serve --dir d --jwt-issuer i").unwrap_err().exit, Exit::Usage);
    }

    #[test]
    fn a_named_server_needs_a_key_and_an_address() {
        let line = "skein item list --server http://127.0.0.1:1/ --key sk_x";
        let Ok(Plan::Errand { reach: ServerAddress::Server { address, key }, .. }) = resolve(line) else {
            panic!("not remote")
        };
        assert_eq!((address.as_str(), key.as_str()), ("http://127.0.0.1:1", "sk_x"));
        for line in ["skein item list --server http://127.0.0.1:1", "skein item list --server 127.0.0.1:1 --key k"] {
            assert_eq!(resolve(line).unwrap_err().exit, Exit::Usage, "{line}");
        }
        assert!(matches!(
            resolve("skein item list --dir d"),
            Ok(Plan::Errand { reach: ServerAddress::Place { .. }, .. })
        ));
    }

    #[test]
    fn the_form_of_an_answer_is_as_asked_before_or_after_the_command() {
        let form = |line: &str| match resolve(line) {
            Ok(Plan::Errand { form, .. }) => form,
            other => panic!("{other:?}"),
        };
        assert_eq!(form("skein item list --dir d"), OutputFormat::People(Paint::Plain));
        assert_eq!(form("skein item --json list --dir d"), OutputFormat::Json);
        assert_eq!(form("skein item list -q --dir d"), OutputFormat::Quiet);
    }
}
