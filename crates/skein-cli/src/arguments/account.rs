//! `user`, `key` and `grant` as they are typed.

use clap::{Args, Subcommand, ValueEnum};

use crate::arguments::{AmountArguments, AskingArguments};

#[derive(Args)]
pub(crate) struct UserArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: UserCommand,
}

#[derive(Subcommand)]
pub(crate) enum UserCommand {
    /// List the users
    List(AmountArguments),
    /// Add a user; the sign-in link is shown once
    Add {
        name: String,
        /// What the user may do to the installation
        #[arg(long, default_value = "user")]
        role: RoleName,
    },
    /// Make a one-time sign-in link for a user who cannot get in
    Link {
        /// The user, as user_…
        #[arg(value_name = "USER")]
        id: String,
    },
    /// Show a user
    Show {
        /// The user, as user_…
        #[arg(value_name = "USER")]
        id: String,
    },
    /// Change the name or the role of a user
    #[command(group = clap::ArgGroup::new("change").args(["name", "role"]).required(true).multiple(true))]
    Change {
        /// The user, as user_…
        #[arg(value_name = "USER")]
        id: String,
        /// The new name
        #[arg(long)]
        name: Option<String>,
        /// The new role
        #[arg(long)]
        role: Option<RoleName>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RoleName {
    User,
    Admin,
}

#[derive(Args)]
pub(crate) struct KeyArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: KeyCommand,
}

#[derive(Subcommand)]
pub(crate) enum KeyCommand {
    /// List the keys
    List(AmountArguments),
    /// Create a key; it is shown once
    Create {
        name: String,
        /// What the key may be used for
        #[arg(long)]
        scope: ScopeName,
        /// When the key stops working, for example 2027-01-31T12:00:00Z [default: never]
        #[arg(long, value_name = "TIME")]
        expires: Option<String>,
    },
    /// End a key at once
    Revoke {
        /// The key's id, as key_…
        #[arg(value_name = "KEY_ID")]
        id: String,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ScopeName {
    Read,
    Write,
    Admin,
}

#[derive(Args)]
pub(crate) struct SessionArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: SessionCommand,
}

#[derive(Subcommand)]
pub(crate) enum SessionCommand {
    /// List the browsers that are signed in
    List(AmountArguments),
    /// Sign a browser out, wherever it is
    End {
        /// The session's id, as session_…
        #[arg(value_name = "SESSION_ID")]
        id: String,
    },
}

#[derive(Args)]
pub(crate) struct GrantArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: GrantCommand,
}

#[derive(Subcommand)]
pub(crate) enum GrantCommand {
    /// List the grants
    List(AmountArguments),
    /// Give oneself, as an administrator, access to a user's things for a while
    Create {
        /// Whose things, as user_…
        #[arg(value_name = "OWNER")]
        owner: String,
        /// A short name for it
        #[arg(long)]
        name: String,
        /// Why; the owner sees it
        #[arg(long)]
        reason: String,
        /// When it ends, for example 2026-01-31T12:00:00Z
        #[arg(long, value_name = "TIME")]
        until: String,
    },
    /// End a grant before its time
    End {
        /// The grant, as item_…
        #[arg(value_name = "GRANT_ID")]
        id: String,
    },
}
