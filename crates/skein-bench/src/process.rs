//! Programs that are measured from outside: started, asked, and gone however the measuring ends.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

const START: Duration = Duration::from_secs(30);
/// What every server of ours says first, before its address.
pub(crate) const LISTENING: &str = "Skein is listening on http://";

/// `skein`, as it was built together with this program.
pub(crate) fn skein() -> Result<Option<PathBuf>> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    Ok(Some(program.with_file_name("skein")).filter(|path| path.is_file()))
}

/// A running server; killed when it is dropped without having been stopped.
pub(crate) struct Server {
    child: Child,
    lines: Receiver<String>,
    /// Where it listens, as `host:port`.
    pub(crate) address: String,
}

impl Server {
    /// `skein serve` on a directory. Its log goes to a file beside that, as it would for whoever runs one.
    pub(crate) fn skein(program: &Path, directory: &Path) -> Result<Self> {
        let log = File::create(directory.with_extension("log")).context("its log cannot be written")?;
        let mut command = Command::new(program);
        command.args(["serve", "--listen", "127.0.0.1:0", "--dir"]).arg(directory).stderr(log);
        Self::start(command)
    }

    /// Waits until the server says where it listens.
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command
            // Nothing the developer has set for a server of their own.
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("it cannot be started")?;
        let output = child.stdout.take().context("its output was piped")?;
        let mut server = Self { child, lines: lines_of(output), address: String::new() };
        server.address = server.announced_address()?;
        Ok(server)
    }

    fn announced_address(&self) -> Result<String> {
        loop {
            match self.lines.recv_timeout(START) {
                Ok(line) => {
                    if let Some(address) = line.strip_prefix(LISTENING) {
                        return Ok(address.trim().to_owned());
                    }
                }
                Err(RecvTimeoutError::Timeout) => bail!("it did not come up"),
                Err(RecvTimeoutError::Disconnected) => bail!("it ended without serving"),
            }
        }
    }

    /// Waits until it has said nothing for so long.
    pub(crate) fn rest(&self, silence: Duration) {
        while self.lines.recv_timeout(silence).is_ok() {}
    }

    pub(crate) fn resident_megabytes(&self) -> Result<f64> {
        self.megabytes("VmRSS:")
    }

    /// The most it ever had.
    pub(crate) fn most_megabytes(&self) -> Result<f64> {
        self.megabytes("VmHWM:")
    }

    fn megabytes(&self, name: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.context("the server ended while it was measured")?;
        let named = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = named.and_then(|value| value.split_whitespace().next());
        let kibibytes: f64 = kibibytes.context("the kernel names no memory")?.parse()?;
        Ok(kibibytes * 1024.0 / 1e6)
    }

    pub(crate) fn stop(mut self) -> Result<()> {
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

/// A key for programs that may write, made as anybody would make one.
pub(crate) fn create_key(program: &Path, directory: &Path) -> Result<String> {
    create_key_for(program, directory, None, "write")
}

pub(crate) fn create_key_for(program: &Path, directory: &Path, database: Option<&str>, scope: &str) -> Result<String> {
    let mut command = Command::new(program);
    command.args(["key", "create", "bench", "--scope", scope, "--quiet", "--dir"]).arg(directory).env_clear();
    if let Some(database) = database {
        command.args(["--database", database]);
    }
    let made = command.output().context("a key cannot be made")?;
    ensure!(made.status.success(), "a key cannot be made: {}", String::from_utf8_lossy(&made.stderr));
    Ok(String::from_utf8(made.stdout)?.trim().to_owned())
}
