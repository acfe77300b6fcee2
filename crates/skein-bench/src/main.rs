//! `skein-bench`: what the store and the server cost beside bare programs that do the same work, measured in one run.
//!
//! Absolute rates swing with the machine and its other load, so every figure has its counterpart from the same
//! minute and what is judged is their ratio. Each benchmark is one module with a `run`; start at [`Benchmark::run`].
#![expect(clippy::print_stdout, reason = "the tables are what this program is for")]

mod appends;
mod bare;
mod bare_server;
mod batch;
mod chain;
mod client;
mod comparison;
mod definitions;
mod executions;
mod executions_alone;
mod first_byte;
mod folder;
mod guard;
mod http_get;
mod http_post;
mod http_tool;
mod idempotency;
mod idle_server;
mod locomo;
mod machine;
mod million;
mod notes;
mod pages;
mod postgres;
mod postgres_turns;
mod process;
mod queue;
mod recall;
mod recall_bare;
mod recall_fixture;
mod recall_served;
mod recall_texts;
mod report;
mod start;
mod stream;
mod tree;
mod tree_bare;
mod tree_fixture;
mod turns_counted;
mod two_workers;
mod verify;
mod wal;
mod whole_tree;

use std::path::PathBuf;

use anyhow::Result;
use clap::{Parser, Subcommand, ValueEnum};

use folder::Folder;
use machine::Machine;
use million::Million;
use report::{Line, Report};

/// As in `skein`: both sides of a comparison, and the store measured by itself, allocate alike.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measures the store and the server against bare programs doing the same work, and prints a table.
#[derive(Parser)]
#[command(name = "skein-bench", version)]
struct Options {
    /// Run only this benchmark; can be given several times
    #[arg(long, value_name = "NAME")]
    only: Vec<Benchmark>,
    /// Items in the large store, nodes in the large tree, episodes that are remembered
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    items: usize,
    /// Where to write; what is written there is deleted afterwards [default: the temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// How often each side is measured
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// A throwaway PostgreSQL that waits for the disk; without it that benchmark is left out
    #[arg(long, value_name = "URL", env = "SKEIN_BENCH_POSTGRES", hide_env_values = true)]
    postgres: Option<String>,
    /// Where `make bench` says its PostgreSQL is
    #[arg(long, env = "SKEIN_TEST_POSTGRES", hide = true, hide_env_values = true)]
    test_postgres: Option<String>,
    /// Where the scripts are that measure other engines; without them those benchmarks are left out
    #[arg(long, value_name = "DIR", env = "SKEIN_BENCH_PEERS", default_value = "../shared/bench")]
    peers: PathBuf,
    /// A Python that has `LangGraph` and DBOS
    #[arg(long, value_name = "FILE", env = "SKEIN_BENCH_PEERS_PYTHON")]
    peers_python: Option<PathBuf>,
    #[command(subcommand)]
    part: Option<Part>,
}

/// What else this program does; most of it when it starts itself.
#[derive(Subcommand)]
enum Part {
    /// Serve a file from memory until standard input ends
    #[command(hide = true)]
    BareServer { body: PathBuf },
    /// How much of `LoCoMo`'s evidence recall finds
    Locomo {
        /// `LoCoMo`'s samples
        data: PathBuf,
        /// Where to write the rankings
        out: PathBuf,
    },
    /// Run a process over and over, and say how fast
    #[command(hide = true)]
    RunsAlone(executions_alone::Alone),
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Benchmark {
    /// Single durable appends from many callers at once
    Appends,
    /// 100,000 items in large transactions
    Batch,
    /// A relation chain of 10,000 steps
    Chain,
    /// A large store: opening, paging, idle memory
    Million,
    /// Proving a large store unaltered
    Verify,
    /// 32 writers on PostgreSQL
    Postgres,
    /// Turns on PostgreSQL, beside items
    PostgresTurns,
    /// One item, and many in turn, read by 32 clients over HTTP
    HttpGet,
    /// Items written by 32 clients over HTTP
    HttpPost,
    /// One tool of the catalogue read by 32 clients over HTTP
    HttpTool,
    /// What a server needs until it is ready
    Start,
    /// What it costs that every request is carried out once
    Idempotency,
    /// How long a token of a language model's answer takes through us
    Stream,
    /// What a guarded call costs over a bare one
    Guard,
    /// Conversations: appending, switching, reading
    Tree,
    /// Claiming jobs where very many wait
    Queue,
    /// Runs of processes, beside other engines
    Runs,
    /// The first words of a run's answer
    FirstByte,
    /// Two programs that make calls, beside one
    TwoWorkers,
    /// Finding again what was said, among very many episodes
    Recall,
}

/// What every benchmark needs to know.
struct Setting {
    folder: Folder,
    rounds: u32,
    items: usize,
    postgres: Option<String>,
    peers: Option<executions::Peers>,
    million: Option<Million>,
}

impl Benchmark {
    fn run(self, setting: &mut Setting) -> Result<Vec<Line>> {
        match self {
            Self::Appends => appends::run(setting),
            Self::Batch => batch::run(setting),
            Self::Chain => chain::run(setting),
            Self::Million => million::run(setting),
            Self::Verify => verify::run(setting),
            Self::Postgres => postgres::run(setting),
            Self::PostgresTurns => postgres_turns::run(setting),
            Self::HttpGet => http_get::run(setting),
            Self::HttpPost => http_post::run(setting),
            Self::HttpTool => http_tool::run(setting),
            Self::Start => start::run(setting),
            Self::Idempotency => idempotency::run(setting),
            Self::Stream => stream::run(setting),
            Self::Guard => guard::run(setting),
            Self::Tree => tree::run(setting),
            Self::Queue => queue::run(setting),
            Self::Runs => executions::run(setting),
            Self::FirstByte => first_byte::run(setting),
            Self::TwoWorkers => two_workers::run(setting),
            Self::Recall => recall::run(setting),
        }
    }
}

impl Setting {
    /// The large store, filled when it is first asked for.
    fn million(&mut self) -> Result<&Million> {
        if self.million.is_none() {
            let directory = self.folder.make("million")?;
            self.million = Some(Million::fill(directory, self.items)?);
        }
        Ok(self.million.as_ref().expect("filled just above"))
    }
}

fn main() -> Result<()> {
    let options = Options::parse();
    match &options.part {
        Some(Part::BareServer { body }) => return bare_server::run(body),
        Some(Part::RunsAlone(alone)) => {
            println!("{}", alone.run()?);
            return Ok(());
        }
        Some(Part::Locomo { .. }) | None => {}
    }
    let folder = Folder::new(options.dir)?;
    folder.remove_when_interrupted();
    if let Some(Part::Locomo { data, out }) = &options.part {
        return locomo::run(folder.path(), data, out);
    }
    if cfg!(debug_assertions) {
        println!("This is a debug build: its figures mean little. Use make bench.\n");
    }
    let machine = Machine::look(folder.path())?;
    let mut setting = Setting {
        folder,
        rounds: options.rounds,
        items: options.items,
        postgres: options.postgres.or(options.test_postgres).filter(|url| !url.is_empty()),
        peers: options.peers_python.and_then(|python| executions::Peers::find(&options.peers, &python)),
        million: None,
    };
    let mut report = Report::default();
    for benchmark in chosen(&options.only) {
        for line in benchmark.run(&mut setting)? {
            println!("{line}");
            report.add(line);
        }
    }
    println!("\n{}\n{report}", machine.markdown(options.rounds)?);
    Ok(())
}

fn chosen(only: &[Benchmark]) -> Vec<Benchmark> {
    let is_chosen = |benchmark: &Benchmark| only.is_empty() || only.contains(benchmark);
    Benchmark::value_variants().iter().copied().filter(is_chosen).collect()
}
