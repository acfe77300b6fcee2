//! Arguments as they are typed; what they amount to is decided in [`crate::plan`].

mod account;
mod catalog;
mod flow;
mod garden;
mod memory;
mod tree;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use self::account::{
    GrantArguments, GrantCommand, KeyArguments, KeyCommand, SessionArguments, SessionCommand, UserArguments,
    UserCommand,
};
pub(crate) use self::catalog::{
    EndpointArguments, EndpointCommand, FilterArguments, ServiceArguments, ServiceChange, ServiceCommand,
    ServiceCreation, SwitchArguments, TemplateArguments, TemplateCommand, TemplateId, TemplateKind, ToolArguments,
    ToolChange, ToolCommand, ToolCreation, ToolParts, ToolTest, WrittenArguments,
};
pub(crate) use self::flow::{
    ApprovalScope, CallType, ChatArguments, ExecutionArguments, ExecutionBranch, ExecutionCommand, InputArguments,
    ReviewArguments, ReviewCommand, RunArguments, WorkerArguments, WorkerCommand,
};
pub(crate) use self::memory::{
    BroughtSource, EpisodeArguments, EpisodeCommand, IndexArguments, IndexCommand, RecallArguments,
};
pub(crate) use crate::arguments::catalog::secret::{
    KeyRemovalArguments, SecretArguments, SecretCommand, SecretTypeName, ValueArguments, VaultArguments, VaultCommand,
};
pub(crate) use crate::arguments::flow::process::{ProcessArguments, ProcessCommand, ProcessEdit};
pub(crate) use crate::arguments::garden::relation::{RelationArguments, RelationCommand};
pub(crate) use crate::arguments::garden::{HistoryArguments, ItemArguments, ItemCommand, RedactArguments};
pub(crate) use crate::arguments::tree::project::{ProjectArguments, ProjectCommand};
pub(crate) use crate::arguments::tree::{
    ConversationArguments, ConversationChange, ConversationCommand, ConversationContext, ConversationExport,
    ConversationId, ConversationMark, ConversationNew, ConversationShow, ExportFormat, PlaceArguments, WordsArguments,
};
use crate::configuration::{EveryCommand, Serving};
use crate::exit::EXIT_CODES;

const CONFIG_HELP: &str = "Configuration file [default: ~/.config/skein/skein.toml] [env: SKEIN_CONFIG]";

/// Memory and orchestration engine: every fact is kept and can be proved.
///
/// Commands that read or write things go through the server that runs on the directory, or through the one named with
/// --server; without either they work on the directory themselves.
#[derive(Parser)]
#[command(name = "skein", version, after_help = EXIT_CODES, arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[arg(long, global = true, value_name = "FILE", help_heading = "Settings", help = CONFIG_HELP)]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) settings: EveryCommand,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Create the directory, the database and the first user; harmless when they exist
    Init,
    /// Run the server and say how to reach it
    Serve(ServeArguments),
    /// Users: list, add, show, change
    User(UserArguments),
    /// API keys: list, create, revoke
    Key(KeyArguments),
    /// Signed-in browsers: list, end
    Session(SessionArguments),
    /// Access of an administrator to somebody's things: list, create, end
    Grant(GrantArguments),
    /// Facts: add, list, show, undo, correct the time
    Item(ItemArguments),
    /// Typed edges between things: add, list, show, follow, remove
    Relation(RelationArguments),
    /// Conversations, each a tree: list, show, speak, edit, switch, fork, fold, verify, export
    #[command(visible_alias = "conv")]
    Conversation(ConversationArguments),
    /// Find again what was said, by words and by meaning
    Recall(RecallArguments),
    /// What is remembered: list, show, bring from elsewhere
    Episode(EpisodeArguments),
    /// The index that finds it: how far it is, build it again
    Index(IndexArguments),
    /// What conversations belong to: list, make, show, and where everybody is
    Project(ProjectArguments),
    /// Endpoints that tools use: list, create, change, share, look whether they are well
    Service(ServiceArguments),
    /// Credentials, kept encrypted and never shown: list, create, rotate, delete
    Secret(SecretArguments),
    /// Operations on services: list, create, change, share, test
    Tool(ToolArguments),
    /// How work is done, as data: list, define, edit, look whether it would work
    Process(ProcessArguments),
    /// Run a process, and follow it
    Run(RunArguments),
    /// Runs of processes: list, show, pause, cancel, begin again
    #[command(visible_alias = "exec")]
    Execution(ExecutionArguments),
    /// What waits for a decision: list, show, approve, deny, answer
    Review(ReviewArguments),
    /// Talk in the terminal; the answers are made by a process
    Chat(ChatArguments),
    /// Make calls for the servers on a PostgreSQL database, until it is stopped; or list who does
    Worker(WorkerArguments),
    /// What services and tools are made from: list, create, share, archive
    Template(TemplateArguments),
    /// The vault that keeps secrets: its master key
    Vault(VaultArguments),
    /// Addresses on the server's own machine that services may use; for administrators
    Endpoint(EndpointArguments),
    /// How a record came to be what it is
    History(HistoryArguments),
    /// Destroy the payload of an item for ever; that it existed stays provable
    Redact(RedactArguments),
    /// Write everything that can be seen into one file
    Export(ExportArguments),
    /// Take in what an export wrote; what is there already is skipped
    Import(ImportArguments),
    /// Prove that nothing was altered, or say exactly where it was
    Verify(VerifyArguments),
    /// Write a proof that an item is part of the sealed history
    Proof(ProofArguments),
    /// Copy everything into an empty directory, also beside a running server
    Backup(BackupArguments),
    /// Put a backup back into an empty place, then verify it
    Restore(RestoreArguments),
    /// How much room the database and the blobs take; for administrators
    Storage(StorageArguments),
    /// Look for what might keep Skein from working, and say how to mend it
    Doctor(DoctorArguments),
    /// The configuration and where each value comes from
    Config(ConfigArguments),
    /// Print completions for a shell
    Completions(CompletionsArguments),
    /// Print the manual page, or write all of them into a directory
    Man(ManArguments),
}

/// How the answer is written, and under which right it is asked for.
#[derive(Args)]
#[command(next_help_heading = "Answer")]
pub(crate) struct AskingArguments {
    /// Answer as JSON
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Print only the id, or the secret that was made
    #[arg(long, short, global = true, conflicts_with = "json")]
    pub(crate) quiet: bool,
    /// Ask under a grant: its owner's things are seen in place of one's own
    #[arg(long, global = true, value_name = "GRANT")]
    pub(crate) grant: Option<String>,
}

/// How much of a list is wanted.
#[derive(Args, Clone)]
pub(crate) struct AmountArguments {
    /// How many at most
    #[arg(long, value_name = "NUMBER", default_value = "50", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// All there are
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
    /// Go on from here: pagination.next of an earlier answer with --json
    #[arg(long, value_name = "CURSOR")]
    pub(crate) cursor: Option<String>,
}

#[derive(Args)]
pub(crate) struct ServeArguments {
    #[command(flatten)]
    pub(crate) settings: Serving,
}

#[derive(Args)]
pub(crate) struct ExportArguments {
    /// A file that does not exist yet, for example skein.zip; - writes to standard output
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// With the values of one's secrets, sealed under a passphrase
    #[arg(long)]
    pub(crate) with_secrets: bool,
    /// Read the passphrase from a file in place of the terminal or standard input; - is standard input
    #[arg(long, value_name = "FILE", requires = "with_secrets")]
    pub(crate) passphrase_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

#[derive(Args)]
pub(crate) struct ImportArguments {
    /// A file that `skein export` wrote
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Take in the values of secrets too, with the passphrase they were exported under
    #[arg(long)]
    pub(crate) with_secrets: bool,
    /// Read the passphrase from a file in place of the terminal or standard input; - is standard input
    #[arg(long, value_name = "FILE", requires = "with_secrets")]
    pub(crate) passphrase_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
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
    /// Report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct RestoreArguments {
    /// A directory that `skein backup` wrote
    #[arg(value_name = "SOURCE")]
    pub(crate) source: PathBuf,
    /// Report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct StorageArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
}

#[derive(Args)]
pub(crate) struct DoctorArguments {
    /// Report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) command: ConfigCommand,
}

#[derive(Subcommand)]
pub(crate) enum ConfigCommand {
    /// Print every value and where it came from; secrets only as set or not set
    Show {
        /// Report as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a skein.toml with every setting, commented out
    Sample,
}

#[derive(Args)]
pub(crate) struct CompletionsArguments {
    /// The shell they are for
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManArguments {
    /// An existing directory to write one page per command into, for example ~/.local/share/man/man1
    #[arg(value_name = "DIRECTORY")]
    pub(crate) directory: Option<PathBuf>,
}
