//! Arguments as they are typed; what they amount to is decided in [`crate::plan`].

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::exit::EXIT_CODES;

/// Memory and orchestration engine: every fact is kept and can be proved.
#[derive(Parser)]
#[command(name = "skein", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
    #[command(flatten)]
    pub(crate) logging: LoggingArguments,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Where everything is kept.
#[derive(Args)]
pub(crate) struct PlaceArguments {
    /// Directory for the database, blobs and the lock [default: ~/.local/share/skein]
    #[arg(long, global = true, env = "SKEIN_DIR", value_name = "DIR")]
    pub(crate) dir: Option<OsString>,
    /// PostgreSQL in place of the database in DIR, as `postgres://user@host/name`
    #[arg(long, global = true, env = "SKEIN_DATABASE", value_name = "URL", hide_env_values = true)]
    pub(crate) database: Option<String>,
    /// Bucket of an S3-compatible service for blobs, in place of DIR/blobs
    #[arg(long, global = true, env = "SKEIN_S3_BUCKET", value_name = "NAME")]
    pub(crate) s3_bucket: Option<String>,
    /// Where that service is, as `https://host`
    #[arg(long, global = true, env = "SKEIN_S3_ENDPOINT", value_name = "URL")]
    pub(crate) s3_endpoint: Option<String>,
    /// Its region
    #[arg(long, global = true, env = "SKEIN_S3_REGION", value_name = "NAME")]
    pub(crate) s3_region: Option<String>,
    #[arg(long, global = true, env = "SKEIN_S3_ACCESS_KEY", hide = true)]
    pub(crate) s3_access_key: Option<String>,
    #[arg(long, global = true, env = "SKEIN_S3_SECRET_KEY", hide = true)]
    pub(crate) s3_secret_key: Option<String>,
}

/// What is written to standard error while running.
#[derive(Args)]
pub(crate) struct LoggingArguments {
    /// What to log, for example `skein_store=debug` [default: info for serve, else warn]
    #[arg(long, global = true, env = "SKEIN_LOG", value_name = "FILTER")]
    pub(crate) log: Option<String>,
    /// How to log it
    #[arg(long, global = true, env = "SKEIN_LOG_FORMAT", value_name = "FORMAT", default_value = "text")]
    pub(crate) log_format: LogFormat,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create the directory, the database and the first user; harmless when they exist
    Init,
    /// Run the server and print a key for it
    Serve(ServeArguments),
    /// Prove that nothing was altered, or say exactly where it was
    Verify(VerifyArguments),
    /// Write a proof that an item is part of the sealed history
    Proof(ProofArguments),
    /// Copy everything into an empty directory, also beside a running server
    Backup(BackupArguments),
    /// Put a backup back into an empty place, then verify it
    Restore(RestoreArguments),
    /// Look for what might keep Skein from working, and say how to mend it
    Doctor(DoctorArguments),
}

#[derive(Args)]
pub(crate) struct ServeArguments {
    /// Address and port; port 0 takes a free one
    #[arg(long, env = "SKEIN_LISTEN", value_name = "ADDRESS", default_value = "127.0.0.1:7420")]
    pub(crate) listen: SocketAddr,
    /// Another host name the server answers to; can be given several times
    #[arg(long, env = "SKEIN_ALLOW_HOST", value_name = "HOST", value_delimiter = ',')]
    pub(crate) allow_host: Vec<String>,
}

#[derive(Args)]
pub(crate) struct VerifyArguments {
    /// The head noted earlier; a store that does not have it lost or changed its end
    #[arg(long, value_name = "HEAD", conflicts_with = "proof")]
    pub(crate) expect: Option<String>,
    /// Also compare every table made from items, and every blob
    #[arg(long, conflicts_with = "proof")]
    pub(crate) deep: bool,
    /// Check a proof on its own, without any store
    #[arg(long, value_name = "FILE")]
    pub(crate) proof: Option<PathBuf>,
    /// Report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ProofArguments {
    /// The item, as item_…
    #[arg(value_name = "ITEM")]
    pub(crate) item: String,
}

#[derive(Args)]
pub(crate) struct BackupArguments {
    /// A directory that does not exist yet or is empty
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,
}

#[derive(Args)]
pub(crate) struct RestoreArguments {
    /// A directory that `skein backup` wrote
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
}

#[derive(Args)]
pub(crate) struct DoctorArguments {
    /// Report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
