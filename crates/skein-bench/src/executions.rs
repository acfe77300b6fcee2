//! Runs of five steps that do nothing, beside what others need for the same: `LangGraph` on SQLite, DBOS on PostgreSQL.
//!
//! Every side is a program of its own. What the disk is asked for is counted by `strace`: that figure does not swing.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};

use crate::Setting;
use crate::appends::rate;
use crate::comparison::Comparison;
use crate::executions_alone::{Alone, Ran, STEPS};
use crate::postgres::Server;
use crate::report::{Line, Target, Unit};

const SERIAL_RUNS: usize = 200;
/// Being watched by `strace` is slow.
const WATCHED_RUNS: usize = 640;
const RUNS: usize = 4_000;
const AT_ONCE: usize = 64;
const WORKERS: usize = 8;
const SYNCS_PER_STEP: f64 = 0.15;
const TIMES_PEER: f64 = 10.0;
const PEER_RUNS: &str = "300";
const LANGGRAPH: &str = "runs: steps, 64 at once; beside it: LangGraph with its SQLite checkpointer";
const DBOS: &str = "runs on PostgreSQL: steps, 64 at once, 8 workers; beside it: DBOS with 8 threads";
const SYNCS: &str = "runs: times the disk is waited for per step";

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let mut lines = vec![serial(setting)?];
    lines.extend(synced(setting)?);
    lines.push(beside_langgraph(setting)?);
    lines.push(beside_dbos(setting)?);
    Ok(lines)
}

/// One run after the other: how many commits a step costs.
fn serial(setting: &Setting) -> Result<Line> {
    let ran = ours(&on_sqlite(setting, SERIAL_RUNS, 1)?)?;
    let what = format!("runs: commits per run of {STEPS} steps, one after the other");
    let commits = ran.commits_per_step * rate(STEPS, 1.0);
    Ok(Line::limited(&what, Unit::Each, &[commits], Target::AtMost(rate(STEPS + 1, 1.0))))
}

/// How often the disk is waited for, by the kernel's own count.
fn synced(setting: &Setting) -> Result<Vec<Line>> {
    if Command::new("strace").arg("-V").stdout(Stdio::null()).status().is_err() {
        return Ok(vec![Line::unavailable(SYNCS, "no strace here")]);
    }
    let watched = |runs: usize, at_once: usize| {
        let alone = on_sqlite(setting, runs, at_once)?;
        let log = setting.folder.path().join("syncs.log");
        let mut command = Command::new("strace");
        command.args(["-f", "-c", "-e", "trace=fsync,fdatasync", "-o"]).arg(&log).arg(std::env::current_exe()?);
        said(arguments(&mut command, &alone))?;
        Ok::<_, anyhow::Error>(calls(&std::fs::read_to_string(log)?))
    };
    // Opening, warming up and closing are the same without a run.
    let count = |runs: usize, at_once: usize| {
        let syncs = watched(runs, at_once)?.saturating_sub(watched(0, at_once)?);
        Ok::<_, anyhow::Error>(rate(syncs, rate(runs * STEPS, 1.0)))
    };
    let one = count(SERIAL_RUNS, 1)?;
    let many = count(WATCHED_RUNS, AT_ONCE)?;
    Ok(vec![
        Line::limited(&format!("{SYNCS}, one run after the other"), Unit::Each, &[one], Target::None),
        Line::limited(&format!("{SYNCS}, 64 runs at once"), Unit::Each, &[many], Target::AtMost(SYNCS_PER_STEP)),
    ])
}

fn beside_langgraph(setting: &Setting) -> Result<Line> {
    let Some(peers) = &setting.peers else { return Ok(Line::unavailable(LANGGRAPH, NO_PEERS)) };
    let sides = Comparison::alternate(
        setting.rounds,
        || Ok(ours(&on_sqlite(setting, RUNS, AT_ONCE)?)?.steps_per_second),
        || {
            let said = said(&mut peers.python("langgraph_sqlite.py"))?;
            let durable = said.lines().find(|line| line.contains("durability=sync pragma=PRAGMA synchronous=FULL"));
            figure(durable.context("LangGraph said nothing of its durable runs")?)
        },
    )?;
    Ok(Line::compared(LANGGRAPH, Unit::PerSecond, &sides, Target::AtLeast(TIMES_PEER)))
}

fn beside_dbos(setting: &Setting) -> Result<Line> {
    let (Some(peers), Some(url)) = (&setting.peers, &setting.postgres) else {
        return Ok(Line::unavailable(DBOS, NO_PEERS));
    };
    let server = Server { url: url.clone() };
    let sides = Comparison::alternate(
        setting.rounds,
        || {
            let database = Some(server.fresh_database("skein_bench_runs")?);
            let directory = setting.folder.make("runs")?;
            let alone = Alone { directory, database, runs: RUNS, at_once: AT_ONCE, places: WORKERS };
            Ok(ours(&alone)?.steps_per_second)
        },
        || {
            let url = server.fresh_database("skein_bench_dbos")?;
            figure(&said(peers.python("dbos.py").arg(url).args([PEER_RUNS, &WORKERS.to_string()]))?)
        },
    )?;
    Ok(Line::compared(DBOS, Unit::PerSecond, &sides, Target::AtLeast(TIMES_PEER)))
}

const NO_PEERS: &str = "needs the peers' scripts (--peers), a Python that has them (--peers-python) and PostgreSQL";

/// What others are measured with.
pub(crate) struct Peers {
    pub(crate) scripts: PathBuf,
    pub(crate) python: PathBuf,
}

impl Peers {
    /// A script is told to a Python that does not look for modules beside it, where others of the same name are.
    fn python(&self, script: &str) -> Command {
        let mut command = Command::new(&self.python);
        command.arg("-P").arg(self.scripts.join(script));
        command
    }

    /// Both, if both are there.
    pub(crate) fn find(scripts: &Path, python: &Path) -> Option<Self> {
        let is_there = scripts.join("dbos.py").is_file() && python.is_file();
        is_there.then(|| Self { scripts: scripts.to_owned(), python: python.to_owned() })
    }
}

fn on_sqlite(setting: &Setting, runs: usize, at_once: usize) -> Result<Alone> {
    Ok(Alone { directory: setting.folder.make("runs")?, database: None, runs, at_once, places: AT_ONCE })
}

fn ours(alone: &Alone) -> Result<Ran> {
    Ran::read(&said(arguments(&mut Command::new(std::env::current_exe()?), alone))?)
}

/// How this program is told to be the measured one.
fn arguments<'a>(command: &'a mut Command, alone: &Alone) -> &'a mut Command {
    command.arg("runs-alone").arg(&alone.directory);
    for (name, count) in [("--runs", alone.runs), ("--at-once", alone.at_once), ("--places", alone.places)] {
        command.args([name, &count.to_string()]);
    }
    if let Some(database) = &alone.database {
        command.args(["--database", database]);
    }
    command
}

fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{} cannot be started", command.get_program().display()))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} failed: {complaint}", command.get_program().display());
    Ok(String::from_utf8(output.stdout)?)
}

/// The steps per second in a peer's line.
fn figure(line: &str) -> Result<f64> {
    let figure = line.split("steps/s=").nth(1).and_then(|rest| rest.split_whitespace().next());
    Ok(figure.with_context(|| format!("no rate in {line:?}"))?.parse()?)
}

/// All calls in strace's table.
fn calls(table: &str) -> usize {
    let is_sync = |line: &&str| line.trim_end().ends_with("sync");
    table.lines().filter(is_sync).filter_map(|line| line.split_whitespace().nth(3)?.parse::<usize>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::{calls, figure};

    #[test]
    fn what_peers_say_is_read() {
        let line = "saver=True durability=sync pragma=None runs=300 steps/s=412 runs/s=82.4";
        assert!((figure(line).unwrap() - 412.0).abs() < 1e-9);
        assert!(figure("nothing").is_err());
    }

    #[test]
    fn what_strace_counts_is_added_up() {
        let table = "% time     seconds  usecs/call     calls    errors syscall\n\
                     ------ ----------- ----------- --------- --------- ----------------\n \
                     99.01    0.100000         100      1000           fdatasync\n  \
                     0.99    0.001000         100        10           fsync\n\
                     100.00    0.101000         100      1010           total\n";
        assert_eq!(calls(table), 1_010);
    }
}
