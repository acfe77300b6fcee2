//! `conversation` as it is typed.

pub(crate) mod project;

use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand, ValueEnum};

use crate::arguments::{AmountArguments, AskingArguments};

#[derive(Args)]
pub(crate) struct ConversationArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: ConversationCommand,
}

#[derive(Subcommand)]
pub(crate) enum ConversationCommand {
    /// List conversations, the one last spoken in first
    List {
        /// Those that were archived, in place of the active ones
        #[arg(long)]
        archived: bool,
        /// Only those of this project, as entity_… or by its name
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Draw the tree of a conversation, or read the path one stands on
    Show(ConversationShow),
    /// Begin a conversation
    New(ConversationNew),
    /// Change how a conversation is called and what every model is told in it
    Change(ConversationChange),
    /// Say something; it goes on where you stand, unless --after says otherwise
    Append {
        #[command(flatten)]
        conversation: ConversationId,
        #[command(flatten)]
        words: WordsArguments,
        /// The node it answers [default: where you stand]
        #[arg(long, value_name = "NODE")]
        after: Option<String>,
        /// A node that led to it besides the one it answers; can be given several times
        #[arg(long, value_name = "NODE")]
        source: Vec<String>,
    },
    /// Say a node differently: the edit stands beside it, nothing is lost, and you go on from the edit
    Edit {
        #[command(flatten)]
        place: PlaceArguments,
        #[command(flatten)]
        words: WordsArguments,
        /// Stay where you are
        #[arg(long)]
        stay: bool,
    },
    /// Turn to a node and everything that leads to it
    Switch(PlaceArguments),
    /// List what could have been said in place of a node
    Alternatives(PlaceArguments),
    /// Show what is known of one node
    Node(PlaceArguments),
    #[command(
        about = "List nodes of all conversations: what one said, or what is bookmarked, has a tag or another author"
    )]
    #[command(group = ArgGroup::new("which").args(["bookmarked", "tag", "author"]))]
    Nodes {
        /// Those that were bookmarked
        #[arg(long)]
        bookmarked: bool,
        /// Those with this tag
        #[arg(long)]
        tag: Option<String>,
        /// Those of this author, as user_… or entity_…
        #[arg(long)]
        author: Option<String>,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Remark on a node, beside the course of the conversation
    Annotate {
        #[command(flatten)]
        place: PlaceArguments,
        #[command(flatten)]
        words: WordsArguments,
    },
    /// Bookmark, prune, exclude or tag a node
    Mark(ConversationMark),
    /// Bookmark a node, with a label or without
    Bookmark {
        #[command(flatten)]
        place: PlaceArguments,
        /// What to call it
        #[arg(value_name = "LABEL")]
        label: Option<String>,
        /// Take the bookmark away
        #[arg(long, conflicts_with = "label")]
        remove: bool,
    },
    /// Grow another conversation from a node of this one
    Fork {
        #[command(flatten)]
        conversation: ConversationId,
        #[command(flatten)]
        node: NodeArgument,
        /// How the fork is called
        #[arg(long)]
        title: Option<String>,
    },
    /// List the forks of a conversation
    Forks {
        #[command(flatten)]
        conversation: ConversationId,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Close a conversation with a summary of what came of it; from then on it takes nothing more
    Fold {
        #[command(flatten)]
        conversation: ConversationId,
        #[command(flatten)]
        words: WordsArguments,
        /// A node the summary came from; can be given several times
        #[arg(long, value_name = "NODE")]
        cite: Vec<String>,
    },
    /// Go on with a folded conversation, in a new one that sees it
    Reopen(ConversationId),
    /// Put a conversation away; speaking in it takes it out again
    Archive(ConversationId),
    /// Take an archived conversation out again
    Restore(ConversationId),
    /// Put a conversation into another project
    Move {
        #[command(flatten)]
        conversation: ConversationId,
        /// The project, as entity_… or by its name
        #[arg(value_name = "PROJECT")]
        project: String,
    },
    /// Prove that nothing in the tree was altered, or say which node was; ends with 1 when one was
    Verify {
        #[command(flatten)]
        conversation: ConversationId,
        /// Only the path to this node: its id, its local id, or . for where you stand
        #[arg(long, value_name = "NODE")]
        node: Option<String>,
    },
    /// Show how a node came to be: the chain to the root with hashes and authors
    Provenance {
        #[command(flatten)]
        place: PlaceArguments,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show what a conversation is about in two sentences, or a node in one; made now if it was not yet
    Summary {
        #[command(flatten)]
        conversation: ConversationId,
        /// Of this node: its id, its local id, or . for where you stand
        #[arg(long, value_name = "NODE")]
        node: Option<String>,
        /// Have it made anew
        #[arg(long)]
        renew: bool,
    },
    /// Show what a model would be shown of a conversation, and what is left out
    Context(ConversationContext),
    /// Say in which words two nodes, or the paths to them, differ
    Compare {
        #[command(flatten)]
        conversation: ConversationId,
        /// One node: its id, its local id, or . for where you stand
        #[arg(value_name = "LEFT")]
        left: String,
        /// The other
        #[arg(value_name = "RIGHT")]
        right: String,
        /// Compare the whole paths that lead to them
        #[arg(long)]
        paths: bool,
    },
    /// Write a conversation down, all branches of it: to read, or as a bundle that can be taken in again
    Export(ConversationExport),
}

#[derive(Args)]
pub(crate) struct ConversationId {
    /// The conversation, as entity_… or by the beginning of its title
    #[arg(value_name = "CONVERSATION")]
    pub(crate) conversation: String,
}

#[derive(Args)]
pub(crate) struct PlaceArguments {
    #[command(flatten)]
    pub(crate) conversation: ConversationId,
    /// The node: its id, its local id, or . for where you stand
    #[arg(value_name = "NODE")]
    pub(crate) node: String,
}

#[derive(Args)]
pub(crate) struct NodeArgument {
    /// The node: its id, its local id, or . for where you stand [default: where you stand]
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Option<String>,
}

/// What is said.
#[derive(Args)]
pub(crate) struct WordsArguments {
    /// The words; - reads them from standard input
    #[arg(value_name = "TEXT", required_unless_present = "file")]
    pub(crate) text: Option<String>,
    /// Read the words from a file
    #[arg(long, value_name = "FILE", conflicts_with = "text")]
    pub(crate) file: Option<PathBuf>,
}

#[derive(Args)]
pub(crate) struct ConversationShow {
    #[command(flatten)]
    pub(crate) conversation: ConversationId,
    /// Read the path as a dialogue, in place of the tree
    #[arg(long)]
    pub(crate) path: bool,
    /// With --path, the path that leads to this node: its id, its local id, or . for where you stand
    #[arg(long, value_name = "NODE", requires = "path")]
    pub(crate) node: Option<String>,
    /// How many nodes at most; of a path the last ones
    #[arg(long, value_name = "NUMBER", default_value = "200", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
    /// All there are
    #[arg(long, conflicts_with = "limit")]
    pub(crate) all: bool,
}

#[derive(Args)]
pub(crate) struct ConversationNew {
    /// How it is called [default: by the first words said]
    #[arg(value_name = "TITLE")]
    pub(crate) title: Option<String>,
    /// What it is about
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// What every model is told in it
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Of a buffer: whether a model is told that; true unless it is said
    #[arg(long, value_name = "BOOL")]
    pub(crate) buffer_system: Option<bool>,
    /// How it is written in
    #[arg(long, default_value = "dialogue")]
    pub(crate) mode: ModeName,
    /// How many tokens a model may be shown of it
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u32>,
    /// The project it belongs to, as entity_… or by its name [default: the first one]
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
}

#[derive(Args)]
#[command(group = ArgGroup::new("change").multiple(true).required(true)
    .args(["title", "description", "system", "buffer_system", "budget"]))]
pub(crate) struct ConversationChange {
    #[command(flatten)]
    pub(crate) conversation: ConversationId,
    /// The new title
    #[arg(long)]
    pub(crate) title: Option<String>,
    /// What it is about
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// What every model is told in it
    #[arg(long, value_name = "TEXT")]
    pub(crate) system: Option<String>,
    /// Of a buffer: whether a model is told that; true unless it is said
    #[arg(long, value_name = "BOOL")]
    pub(crate) buffer_system: Option<bool>,
    /// How many tokens a model may be shown of it
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u32>,
}

#[derive(Args)]
#[command(group = ArgGroup::new("change").multiple(true).required(true).args([
    "bookmark", "unbookmark", "label", "prune", "unprune", "exclude", "include", "tag", "untag",
]))]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag that is typed")]
pub(crate) struct ConversationMark {
    #[command(flatten)]
    pub(crate) place: PlaceArguments,
    /// Remember it
    #[arg(long)]
    pub(crate) bookmark: bool,
    /// Forget that it was bookmarked
    #[arg(long, conflicts_with = "bookmark")]
    pub(crate) unbookmark: bool,
    /// What to call the bookmark
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
    /// Hide it and all that follows it
    #[arg(long)]
    pub(crate) prune: bool,
    /// Show it again
    #[arg(long, conflicts_with = "prune")]
    pub(crate) unprune: bool,
    /// Keep it from being shown to models
    #[arg(long)]
    pub(crate) exclude: bool,
    /// Let models see it again
    #[arg(long, conflicts_with = "exclude")]
    pub(crate) include: bool,
    /// A tag to add; can be given several times
    #[arg(long)]
    pub(crate) tag: Vec<String>,
    /// A tag to take away; can be given several times
    #[arg(long, value_name = "TAG")]
    pub(crate) untag: Vec<String>,
}

#[derive(Args)]
pub(crate) struct ConversationContext {
    #[command(flatten)]
    pub(crate) conversation: ConversationId,
    #[command(flatten)]
    pub(crate) node: NodeArgument,
    /// How many tokens there are [default: what the conversation says]
    #[arg(long, value_name = "TOKENS")]
    pub(crate) budget: Option<u32>,
    /// What is left out when there are too few [default: truncateMiddle]
    #[arg(long)]
    pub(crate) strategy: Option<StrategyName>,
    /// The process that would answer, as entity_…: shows what its model is sent
    #[arg(long, value_name = "PROCESS")]
    pub(crate) process: Option<String>,
}

#[derive(Args)]
pub(crate) struct ConversationExport {
    #[command(flatten)]
    pub(crate) conversation: ConversationId,
    /// A file that does not exist yet; - writes to standard output
    #[arg(value_name = "FILE", default_value = "-")]
    pub(crate) file: PathBuf,
    /// How it is written
    #[arg(long, default_value = "markdown")]
    pub(crate) format: ExportFormat,
    /// Only the path to this node: its id, its local id, or . for where you stand
    #[arg(long, value_name = "NODE")]
    pub(crate) node: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    Dialogue,
    Buffer,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "camelCase")]
pub(crate) enum StrategyName {
    /// Keep the beginning and the end
    TruncateMiddle,
    /// Keep the end
    RollingWindow,
    /// Refuse
    StopAtLimit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Markdown,
    Html,
    /// A file that skein import takes in again, with the conversations it was forked from
    Bundle,
}
