//! Runs a program beside a test, so that it can be awaited, killed and never forgotten.
//!
//! A program started here sees a cleaned environment (no key of the developer leaks into a test, no
//! setting of theirs changes it) and a home of its own. Its output goes to files; the test waits for
//! a line of it instead of for a time. It ends when its [`Child`] is dropped and, through the
//! kernel's parent-death signal, when the test process is killed.
//!
//! Start at [`Program`].

mod capture;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::Duration;

use capture::Capture;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use crate::scratch::Scratch;

/// How long a program may take to say a line or to end before the test fails.
pub const DEADLINE: Duration = Duration::from_secs(30);

/// The only variables a program inherits. None of them can hold a secret.
const VARIABLES_KEPT: [&str; 7] =
    ["PATH", "LANG", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "LLVM_PROFILE_FILE", "RUST_BACKTRACE"];

/// A program about to be started.
#[derive(Debug)]
pub struct Program {
    path: OsString,
    args: Vec<OsString>,
    variables: Vec<(OsString, OsString)>,
    folder: Option<PathBuf>,
    user: Option<User>,
    signal_on_our_death: &'static str,
}

/// An account a program runs as instead of root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct User {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl Program {
    pub fn new(path: impl Into<OsString>) -> Self {
        Self {
            path: path.into(),
            args: Vec::new(),
            variables: Vec::new(),
            folder: None,
            user: None,
            signal_on_our_death: "KILL",
        }
    }

    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    #[must_use]
    pub fn current_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.folder = Some(folder.into());
        self
    }

    #[must_use]
    pub(crate) fn run_as(mut self, user: Option<User>) -> Self {
        self.user = user;
        self
    }

    /// The signal sent when the test process dies, by its name without `SIG`; `KILL` unless told.
    #[must_use]
    pub(crate) fn signal_on_our_death(mut self, name: &'static str) -> Self {
        self.signal_on_our_death = name;
        self
    }

    /// Starts the program. Panics when it cannot be started.
    pub fn spawn(self) -> Child {
        let home = Scratch::new(0o700);
        let mut inner = spawn_from_lasting_thread(self.command(home.path()))
            .unwrap_or_else(|error| panic!("could not start {}: {error}", self.path.display()));
        let out = inner.stdout.take().expect("stdout is piped");
        let err = inner.stderr.take().expect("stderr is piped");
        Child {
            pidfd: open_pidfd(inner.id()).expect("an unreaped child has a pid"),
            inner,
            status: None,
            stdout: Capture::start(out, home.path().join("stdout")),
            stderr: Capture::start(err, home.path().join("stderr")),
            name: self.path,
            _home: home,
        }
    }

    fn command(&self, home: &Path) -> Command {
        // `setpriv` because setting the death signal from here would need unsafe code. It executes
        // the program in its own place, so the process id stays the same.
        let mut command = Command::new("setpriv");
        if let Some(user) = self.user {
            command.arg(format!("--reuid={}", user.uid)).arg(format!("--regid={}", user.gid));
            command.arg("--clear-groups");
        }
        command.arg(format!("--pdeathsig={}", self.signal_on_our_death)).arg("--");
        command.arg(&self.path).args(&self.args);
        command.env_clear().envs(inherited_variables()).env("HOME", home);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.current_dir(self.folder.as_deref().unwrap_or(home));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0);
        command
    }
}

/// A running program. Dropping it kills it and what it started in its process group.
#[derive(Debug)]
pub struct Child {
    name: OsString,
    inner: std::process::Child,
    pidfd: OwnedFd,
    status: Option<ExitStatus>,
    stdout: Capture,
    stderr: Capture,
    _home: Scratch,
}

/// Which output of a program to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

impl Child {
    pub fn id(&self) -> u32 {
        self.inner.id()
    }

    /// The first line on stdout that contains `marker`. Panics when none comes in time.
    pub fn wait_for_line(&self, marker: &str) -> String {
        self.wait_for_line_on(Stream::Stdout, marker)
    }

    /// The first line on `stream` that contains `marker`. Panics when none comes in time.
    pub fn wait_for_line_on(&self, stream: Stream, marker: &str) -> String {
        let line = self.find_line(stream, marker, DEADLINE);
        line.unwrap_or_else(|| panic!("{marker:?} was not written by {}", self.described()))
    }

    /// What was written to stdout so far; after the end of the program, all of it.
    pub fn stdout(&self) -> String {
        self.stdout.text()
    }

    /// What was written to stderr so far; after the end of the program, all of it.
    pub fn stderr(&self) -> String {
        self.stderr.text()
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.wait_within(Duration::ZERO).is_none()
    }

    /// Waits for its end. Panics when it does not come in time.
    pub fn wait(&mut self) -> ExitStatus {
        self.wait_within(DEADLINE).unwrap_or_else(|| panic!("no end of {}", self.described()))
    }

    /// Waits for its end for at most `limit`.
    pub fn wait_within(&mut self, limit: Duration) -> Option<ExitStatus> {
        if self.status.is_none() && ended_within(&self.pidfd, limit) {
            self.status = Some(self.inner.wait().expect("a child can be reaped once"));
            self.stdout.settle();
            self.stderr.settle();
        }
        self.status
    }

    /// Asks it to stop (SIGTERM) and does not wait.
    pub fn ask_to_stop(&self) {
        self.signal(Signal::TERM);
    }

    /// Asks it to stop (SIGTERM) and waits for its end. Panics when it does not come in time.
    pub fn terminate(&mut self) -> ExitStatus {
        self.ask_to_stop();
        self.wait()
    }

    /// Ends it as a crash would (SIGKILL), and waits until it is gone.
    pub fn kill_nine(&mut self) {
        self.signal(Signal::KILL);
        self.wait();
    }

    pub(crate) fn find_line(&self, stream: Stream, marker: &str, limit: Duration) -> Option<String> {
        match stream {
            Stream::Stdout => self.stdout.find_line(marker, limit),
            Stream::Stderr => self.stderr.find_line(marker, limit),
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        if self.status.is_none() {
            // It fails only for a program that has ended, which the caller is about to notice.
            let _ = rustix::process::pidfd_send_signal(&self.pidfd, signal);
        }
    }

    /// Stops it (SIGSTOP) and waits until it stands still: it then forks no more and notices nothing.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
        let until = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        rustix::process::waitid(WaitId::PidFd(self.pidfd.as_fd()), until).expect("an unreaped child can be waited for");
    }

    fn described(&self) -> String {
        let name = self.name.display();
        format!("{name}\n--- stdout\n{}\n--- stderr\n{}", self.stdout(), self.stderr())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Only while its leader is not reaped is the group's number certain to be ours.
        if self.status.is_none() {
            if let Some(group) = Pid::from_raw(self.inner.id().cast_signed()) {
                let _ = rustix::process::kill_process_group(group, Signal::KILL);
            }
            let _ = self.inner.wait();
        }
    }
}

/// A stable name for a process: unlike its number it is never given to another one.
pub(crate) fn open_pidfd(id: u32) -> Option<OwnedFd> {
    let pid = Pid::from_raw(id.cast_signed())?;
    rustix::process::pidfd_open(pid, PidfdFlags::empty()).ok()
}

/// Whether the process ends within `limit`.
pub(crate) fn ended_within(pidfd: impl AsFd, limit: Duration) -> bool {
    let limit = Timespec::try_from(limit).expect("limits are short");
    loop {
        let mut watched = [PollFd::new(&pidfd, PollFlags::IN)];
        match poll(&mut watched, Some(&limit)) {
            Ok(ready) => return ready > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => panic!("waiting for a process failed: {error}"),
        }
    }
}

fn inherited_variables() -> impl Iterator<Item = (OsString, OsString)> {
    let kept = |name: &OsStr| VARIABLES_KEPT.iter().any(|&kept| name == kept);
    std::env::vars_os().filter(move |(name, _)| kept(name))
}

type Order = (Command, Sender<io::Result<std::process::Child>>);

/// Starts a program from a thread that lives as long as this process.
///
/// The kernel sends the parent-death signal at the end of the *thread* that forked, and a test is a
/// thread that ends while others still use what it started.
fn spawn_from_lasting_thread(command: Command) -> io::Result<std::process::Child> {
    static ORDERS: LazyLock<Sender<Order>> = LazyLock::new(|| {
        let (orders, inbox) = mpsc::channel::<Order>();
        thread::spawn(move || {
            for (mut command, reply) in inbox {
                let _ = reply.send(command.spawn());
            }
        });
        orders
    });
    let (reply, answer) = mpsc::channel();
    ORDERS.send((command, reply)).expect("the thread ends with the process");
    answer.recv().expect("every order is answered")
}

#[cfg(test)]
mod tests;
