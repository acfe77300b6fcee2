//! How much memory a server holds that has a large store and nothing to do.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::million::Million;
use crate::report::{Line, Target, Unit};

const WHAT: &str = "resident memory of an idle server on that store";
const READY: &str = "Skein is listening on";
const START: Duration = Duration::from_secs(30);
/// Longer than it takes until the server's sealer has come by and sealed what filling the store left open.
const IDLE: Duration = Duration::from_secs(20);
const MEGABYTES_MAX: f64 = 150.0;

pub(crate) fn run(million: &Million) -> Result<Line> {
    let Some(program) = server_program()? else {
        return Ok(Line::unavailable(WHAT, "no skein beside this program"));
    };
    let server = match Server::start(&program, &million.directory) {
        Ok(server) => server,
        Err(error) => return Ok(Line::unavailable(WHAT, &error.to_string())),
    };
    let megabytes = server.resident_megabytes_when_idle()?;
    server.stop()?;
    Ok(Line::limited(WHAT, Unit::Megabytes, &[megabytes], Target::AtMost(MEGABYTES_MAX)))
}

fn server_program() -> Result<Option<PathBuf>> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    Ok(Some(program.with_file_name("skein")).filter(|path| path.is_file()))
}

/// A running server; killed when it is dropped without having been stopped.
struct Server {
    child: Child,
    lines: Receiver<String>,
}

impl Server {
    fn start(program: &Path, directory: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--dir"])
            .arg(directory)
            // Nothing the developer has set for a server of their own.
            .env_clear()
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("it cannot be started")?;
        let output = child.stdout.take().context("its output was piped")?;
        let server = Self { child, lines: lines_of(output) };
        server.await_ready()?;
        Ok(server)
    }

    fn await_ready(&self) -> Result<()> {
        loop {
            match self.lines.recv_timeout(START) {
                Ok(line) if line.starts_with(READY) => return Ok(()),
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) => bail!("it did not come up"),
                Err(RecvTimeoutError::Disconnected) => bail!("it ended without serving"),
            }
        }
    }

    fn resident_megabytes_when_idle(&self) -> Result<f64> {
        while self.lines.recv_timeout(IDLE).is_ok() {}
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))
            .context("the server ended while it was idle")?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = resident.and_then(|value| value.split_whitespace().next());
        let kibibytes: f64 = kibibytes.context("the kernel names no memory")?.parse()?;
        Ok(kibibytes * 1024.0 / 1e6)
    }

    fn stop(mut self) -> Result<()> {
        let id = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        kill_process(id.context("a child has an id")?, Signal::TERM)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "the server did not stop in order: {status}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(output: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let lines = BufReader::new(output).lines().map_while(Result::ok);
        lines.map_while(|line| sender.send(line).ok()).for_each(drop);
    });
    receiver
}
