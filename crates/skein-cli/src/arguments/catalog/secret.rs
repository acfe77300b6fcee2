//! `secret` and `vault` as they are typed. A value is never among the arguments: others see them.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use crate::arguments::{AmountArguments, AskingArguments};

#[derive(Args)]
pub(crate) struct SecretArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: SecretCommand,
}

const VALUE_HELP: &str = "\
The value is asked for on a terminal, else read from standard input, or from --from-file:
  api_key      the key itself
  password     with --username the password itself, else {\"username\": …, \"password\": …}
  oauth_token  the access token itself, or {\"accessToken\": …, \"refreshToken\": …, \"tokenUrl\": …,
               \"clientId\": …, \"clientSecret\": …, \"scope\": …}
  certificate  --certificate and --private-key, or {\"certificate\": …, \"privateKey\": …, \"ca\": …} in PEM";

#[derive(Subcommand)]
pub(crate) enum SecretCommand {
    /// List one's secrets; their values are never shown
    List(AmountArguments),
    /// Show what is known of a secret; its value is never shown
    Show(SecretId),
    /// Keep a secret
    #[command(after_help = VALUE_HELP)]
    Create {
        /// What it is called
        #[arg(value_name = "NAME")]
        name: String,
        /// What kind of secret it is
        #[arg(long = "type", value_name = "TYPE", default_value = "api_key")]
        secret_type: SecretTypeName,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        #[command(flatten)]
        value: ValueArguments,
    },
    /// Replace the value of a secret; the old one is destroyed
    #[command(after_help = VALUE_HELP)]
    Rotate {
        #[command(flatten)]
        secret: SecretId,
        #[command(flatten)]
        value: ValueArguments,
    },
    /// Change the name or the description of a secret
    #[command(group = ArgGroup::new("change").args(["name", "description"]).required(true).multiple(true))]
    Rename {
        #[command(flatten)]
        secret: SecretId,
        /// The new name
        #[arg(value_name = "NAME")]
        name: Option<String>,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Destroy a secret that no tool uses
    Delete(SecretId),
}

#[derive(Args)]
pub(crate) struct SecretId {
    /// The secret, as entity_… or by its name
    #[arg(value_name = "SECRET")]
    pub(crate) secret: String,
}

/// Where a value comes from.
#[derive(Args)]
pub(crate) struct ValueArguments {
    /// Read the value from a file; - is standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["certificate", "private_key"])]
    pub(crate) from_file: Option<PathBuf>,
    /// The user name that goes with a password
    #[arg(long, value_name = "NAME")]
    pub(crate) username: Option<String>,
    /// The certificate, in a PEM file
    #[arg(long, value_name = "FILE", requires = "private_key")]
    pub(crate) certificate: Option<PathBuf>,
    /// The private key of the certificate, in a PEM file
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) private_key: Option<PathBuf>,
    /// The authority that signed the server's certificate, in a PEM file, if it is not a public one
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub(crate) ca: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum SecretTypeName {
    ApiKey,
    OauthToken,
    Password,
    Certificate,
}

#[derive(Args)]
pub(crate) struct VaultArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: VaultCommand,
}

#[derive(Subcommand)]
pub(crate) enum VaultCommand {
    /// Show which master key is in use and how many secrets are kept under it
    Show,
    /// Put every secret under a new master key, while the server runs
    Rotate,
    /// Remove master keys from the key file, on the server's machine; skein doctor lists keys that no value is under
    RemoveKeys(KeyRemovalArguments),
}

#[derive(Args)]
pub(crate) struct KeyRemovalArguments {
    /// The keys by their ids, for example 9f86d081884c7d65
    #[arg(value_name = "KEY", required = true)]
    pub(crate) keys: Vec<String>,
    /// Another database that uses the key file: its directory or PostgreSQL URL. It is checked too. Give one for each
    #[arg(long, value_name = "DATABASE")]
    pub(crate) also: Vec<String>,
    /// Do not ask whether other databases or backups need the keys
    #[arg(long)]
    pub(crate) yes: bool,
}
