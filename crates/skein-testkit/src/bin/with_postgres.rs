//! Runs a command with a throwaway PostgreSQL: `with_postgres [--] command argument…`.
//!
//! Test processes cannot share a server that one of them owns, so the run owns it. The address is in
//! `SKEIN_TEST_POSTGRES`; the exit code is the command's. However the run ends (the command returns,
//! Ctrl-C, SIGTERM, the death of our parent), command and server end with it.
//!
//! With `SKEIN_TEST_POSTGRES_DURABLE` set the server waits for the disk, as benchmarks need it.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use skein_testkit::postgres::{Cluster, SHARED_URL};
use tokio::signal::unix::{SignalKind, signal};

/// How long the command may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(10);
const DURABLE: &str = "SKEIN_TEST_POSTGRES_DURABLE";

enum Event {
    Ended(ExitStatus),
    Asked(Signal),
}

fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1).peekable();
    words.next_if(|word| word == "--");
    let Some(program) = words.next() else {
        eprintln!("usage: with_postgres [--] command argument…");
        return ExitCode::from(2);
    };
    rustix::process::set_parent_process_death_signal(Some(Signal::TERM)).expect("SIGTERM is a legal signal");
    let (events, inbox) = mpsc::channel();
    listen_for_signals(events.clone());

    let durable = std::env::var_os(DURABLE).is_some_and(|value| !value.is_empty());
    let cluster = Cluster::builder().durable(durable).start();
    let status = run(&program, words, &cluster, events, &inbox);
    drop(cluster);
    exit_code(status)
}

fn run(
    program: &OsString,
    args: impl Iterator<Item = OsString>,
    cluster: &Cluster,
    events: Sender<Event>,
    inbox: &Receiver<Event>,
) -> ExitStatus {
    let mut command = Command::new("setpriv");
    command.arg("--pdeathsig=TERM").arg("--").arg(program).args(args);
    // A group of its own, so that a signal reaches the tests below cargo too; no terminal to read,
    // for which such a group would be stopped.
    command.env(SHARED_URL, cluster.url()).stdin(Stdio::null()).process_group(0);
    let mut child = command.spawn().expect("setpriv is part of every Debian");
    let group = Pid::from_raw(child.id().cast_signed()).expect("a child has a pid");
    thread::spawn(move || {
        let status = child.wait().expect("a child can be reaped once");
        let _ = events.send(Event::Ended(status));
    });
    await_end(group, inbox)
}

/// Passes the first request to stop on to the command, and ends it when it does not follow.
fn await_end(group: Pid, inbox: &Receiver<Event>) -> ExitStatus {
    let mut next = inbox.recv().ok();
    let mut signal = None;
    loop {
        signal = match (next, signal) {
            (Some(Event::Ended(status)), _) => return status,
            (Some(Event::Asked(asked)), None) => Some(asked),
            (Some(Event::Asked(_)) | None, _) => Some(Signal::KILL),
        };
        if let Some(signal) = signal {
            // It fails only when the group is gone, which the next event says.
            let _ = rustix::process::kill_process_group(group, signal);
        }
        next = inbox.recv_timeout(GRACE).ok();
    }
}

fn listen_for_signals(events: Sender<Event>) {
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime can be made").block_on(forward_signals(&events));
    });
}

async fn forward_signals(events: &Sender<Event>) {
    let stream = |kind| signal(kind).expect("the signal can be caught");
    let mut interrupt = stream(SignalKind::interrupt());
    let mut terminate = stream(SignalKind::terminate());
    let mut hangup = stream(SignalKind::hangup());
    loop {
        let asked = tokio::select! {
            _ = interrupt.recv() => Signal::INT,
            _ = terminate.recv() => Signal::TERM,
            _ = hangup.recv() => Signal::HUP,
        };
        if events.send(Event::Asked(asked)).is_err() {
            return;
        }
    }
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}
