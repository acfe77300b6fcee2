//! `relation` as it is typed.

use clap::{Args, Subcommand, ValueEnum};

use crate::arguments::{AmountArguments, AskingArguments};

#[derive(Args)]
pub(crate) struct RelationArguments {
    #[command(flatten)]
    pub(crate) asking: AskingArguments,
    #[command(subcommand)]
    pub(crate) command: RelationCommand,
}

#[derive(Subcommand)]
pub(crate) enum RelationCommand {
    /// Relate two things
    Add {
        /// How they are related, for example triggers
        kind: String,
        /// Where it starts, as item_… or entity_…
        source: String,
        /// Where it ends
        target: String,
        /// How sure it is, from 0 to 1; for what was inferred, with {"inferred": true} in its metadata
        #[arg(long, value_name = "NUMBER")]
        confidence: Option<f64>,
        /// More about it, as a JSON object
        #[arg(long, value_name = "JSON")]
        metadata: Option<String>,
    },
    /// List the relations that a thing has
    List {
        /// The thing, as item_… or entity_…
        of: String,
        /// Only of this kind, for example triggers
        #[arg(long)]
        kind: Option<String>,
        /// Which end of them it is
        #[arg(long, default_value = "source")]
        side: Side,
        #[command(flatten)]
        amount: AmountArguments,
    },
    /// Show a relation
    Show(RelationId),
    /// Follow relations of one kind from an item, step by step
    Chain {
        /// Where to start, as item_…
        from: String,
        /// Along which kind
        #[arg(long)]
        kind: String,
        /// To what followed, or back to what came before
        #[arg(long, default_value = "forward")]
        direction: Direction,
        /// How many steps at most [default: as many as the server gives at once]
        #[arg(long, value_name = "STEPS")]
        limit: Option<u32>,
    },
    /// Remove a relation; that it was there stays on the timeline
    Remove {
        #[command(flatten)]
        relation: RelationId,
        /// Why
        #[arg(long)]
        reason: String,
    },
}

#[derive(Args)]
pub(crate) struct RelationId {
    /// The relation, as rel_…
    #[arg(value_name = "RELATION")]
    pub(crate) id: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    Source,
    Target,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Direction {
    Forward,
    Backward,
}
