//! A throwaway PostgreSQL for tests: real, private, and gone afterwards.
//!
//! One [`Cluster`] per test run is shared by most tests, each with a [`Database`] of its own cloned
//! from a migrated template. A test that kills the server, or holds a transaction open (the snapshot
//! horizon is cluster-wide), starts its own. Nothing here knows Skein's schema.
//!
//! Start at [`Cluster::shared`] and [`Database::from_template`].

mod database;
mod folder;
mod install;

use std::fs;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

pub use database::{Database, ensure_template};
use folder::Folder;
use install::Binaries;
use rustix::process::Signal;

use crate::process::{Child, DEADLINE, Program, Stream, User, ended_within, open_pidfd};

/// The variable through which a run tells its tests of the shared cluster.
pub const SHARED_URL: &str = "SKEIN_TEST_POSTGRES";

/// The server writes it when it takes connections, after a crash when it has recovered.
const READY: &str = "database system is ready to accept connections";

/// Below the range from which the kernel picks ports for outgoing connections, so that none of them
/// takes the port of a cluster between its kill and its restart.
const PORTS: std::ops::Range<u16> = 15_000..32_000;
const PORT_ATTEMPTS: usize = 10;

/// How long a server may take to shut down before it is killed.
const SHUTDOWN: Duration = Duration::from_secs(10);

/// A PostgreSQL server. Dropping it stops it at once and deletes its data.
#[derive(Debug)]
pub struct Cluster {
    url: String,
    server: Option<Server>,
}

/// How a cluster shall be; made by [`Cluster::builder`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Builder {
    durable: bool,
}

impl Builder {
    /// Whether a commit survives the death of the machine. Off, it is only faster.
    #[must_use]
    pub fn durable(mut self, durable: bool) -> Self {
        self.durable = durable;
        self
    }

    /// Makes and starts the cluster. Panics with the server's own words when that fails.
    pub fn start(self) -> Cluster {
        let (server, password) = Server::start(self.durable);
        let url = format!("postgresql://skein:{password}@127.0.0.1:{}/postgres", server.port);
        Cluster { url, server: Some(server) }
    }
}

impl Cluster {
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A cluster of the test's own that does not wait for the disk.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// The cluster of this test run: the one named by `SKEIN_TEST_POSTGRES` (`make test` sets it),
    /// else one for this process.
    pub fn shared() -> &'static Self {
        static SHARED: LazyLock<Cluster> = LazyLock::new(|| match crate::variable(SHARED_URL) {
            Some(url) => Cluster { url, server: None },
            None => Cluster::start(),
        });
        &SHARED
    }

    /// The address of the database for administration, as a libpq URL with the password in it.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Where a program of PostgreSQL is, such as `pgbench` or `pg_dump`.
    pub fn binary(name: &str) -> PathBuf {
        Binaries::find().path(name)
    }

    /// What the server has written since it was last started.
    pub fn log(&self) -> String {
        let postmaster = self.server.as_ref().and_then(|server| server.postmaster.as_ref());
        postmaster.map(Child::stderr).unwrap_or_default()
    }

    /// Stops the server in order, ending its connections.
    pub fn stop(&mut self) {
        self.ours().shut_down(Signal::INT);
    }

    /// Kills every process of the server at once (SIGKILL), as a crash of the machine would.
    pub fn kill_nine(&mut self) {
        self.ours().kill_nine();
    }

    /// Starts the server again, on the same port and data; one that runs is stopped before.
    pub fn restart(&mut self) {
        self.ours().restart();
    }

    fn ours(&mut self) -> &mut Server {
        self.server.as_mut().expect("a server given from outside is only handed out by reference")
    }
}

/// The process and files behind a cluster that we started.
#[derive(Debug)]
struct Server {
    binaries: Binaries,
    user: Option<User>,
    durable: bool,
    port: u16,
    postmaster: Option<Child>,
    folder: Folder,
}

impl Server {
    /// Gives the server and the password of its user `skein`.
    fn start(durable: bool) -> (Self, String) {
        let user = install::user_instead_of_root();
        let (binaries, folder) = (Binaries::find(), Folder::new(user));
        // Without a password any account of the machine could run programs as the developer.
        let password = format!("{:016x}{:016x}", random(), random());
        init_data(&binaries, &folder, user, &password);
        let mut server = Self { binaries, user, durable, port: 0, postmaster: None, folder };
        server.start_on_a_free_port();
        (server, password)
    }

    fn start_on_a_free_port(&mut self) {
        for _ in 0..PORT_ATTEMPTS {
            self.port = free_port();
            match self.start_postmaster() {
                Ok(()) => return,
                Err(log) if log.contains("could not bind") => {}
                Err(log) => panic!("PostgreSQL did not start:\n{log}"),
            }
        }
        panic!("PostgreSQL found none of {PORT_ATTEMPTS} ports free");
    }

    /// Starts the server on its port; the error is what it wrote. That it is ready is read from its
    /// own output: a connection to the port might reach somebody else's server.
    fn start_postmaster(&mut self) -> Result<(), String> {
        let program = Program::new(self.binaries.path("postgres"))
            .arg("-D")
            .arg(self.folder.data())
            .args(self.settings().iter().flat_map(|setting| ["-c", setting.as_str()]))
            .current_dir(self.folder.path())
            .run_as(self.user)
            .signal_on_our_death("QUIT");
        let child = program.spawn();
        if child.find_line(Stream::Stderr, READY, DEADLINE).is_none() {
            return Err(child.stderr());
        }
        self.postmaster = Some(child);
        Ok(())
    }

    fn settings(&self) -> Vec<String> {
        let wait_for_disk = if self.durable { "on" } else { "off" };
        vec![
            format!("port={}", self.port),
            "listen_addresses=127.0.0.1".to_owned(),
            "unix_socket_directories=".to_owned(),
            "max_connections=200".to_owned(),
            "max_wal_size=1GB".to_owned(),
            // In files, so that a killed server leaves nothing behind in /dev/shm.
            "dynamic_shared_memory_type=mmap".to_owned(),
            format!("fsync={wait_for_disk}"),
            // After a crash one call instead of one for each of a thousand files.
            "recovery_init_sync_method=syncfs".to_owned(),
            format!("synchronous_commit={wait_for_disk}"),
            format!("full_page_writes={wait_for_disk}"),
        ]
    }

    fn restart(&mut self) {
        self.shut_down(Signal::INT);
        // Left by a kill. No process of the cluster runs any more, so it guards nothing.
        let _ = fs::remove_file(self.folder.data().join("postmaster.pid"));
        self.start_postmaster().unwrap_or_else(|log| panic!("no restart of PostgreSQL:\n{log}"));
    }

    fn shut_down(&mut self, signal: Signal) {
        let Some(postmaster) = &mut self.postmaster else { return };
        postmaster.signal(signal);
        if postmaster.wait_within(SHUTDOWN).is_none() {
            self.kill_nine();
        }
        self.postmaster = None;
    }

    fn kill_nine(&mut self) {
        let Some(mut postmaster) = self.postmaster.take() else { return };
        // It holds still first: a postmaster that sees a child die begins to repair.
        postmaster.freeze();
        let children = children_of(postmaster.id());
        for child in &children {
            let _ = rustix::process::pidfd_send_signal(child, Signal::KILL);
        }
        postmaster.kill_nine();
        for child in &children {
            assert!(ended_within(child, DEADLINE), "a process of PostgreSQL survived SIGKILL");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shut_down(Signal::QUIT);
    }
}

fn init_data(binaries: &Binaries, folder: &Folder, user: Option<User>, password: &str) {
    let password_file = folder.write_private("password", password);
    let mut initdb = Program::new(binaries.path("initdb"))
        .arg("-D")
        .arg(folder.data())
        .arg("--pwfile")
        .arg(&password_file)
        .args(["--username=skein", "--auth=password", "--encoding=UTF8", "--locale=C"])
        .args(["--no-sync", "--no-instructions", "--wal-segsize=1"])
        .current_dir(folder.path())
        .run_as(user)
        .spawn();
    let status = initdb.wait();
    let _ = fs::remove_file(password_file);
    assert!(status.success(), "initdb failed:\n{}{}", initdb.stdout(), initdb.stderr());
}

/// Every process of a server is a child of its postmaster.
fn children_of(parent: u32) -> Vec<OwnedFd> {
    let entries = fs::read_dir("/proc").expect("tests run on Linux");
    let ids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|&id| parent_of(id) == Some(parent)).filter_map(open_pidfd).collect()
}

fn parent_of(id: u32) -> Option<u32> {
    let stat = fs::read_to_string(Path::new("/proc").join(id.to_string()).join("stat")).ok()?;
    // The name, in brackets, may hold anything; state and parent follow it.
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_whitespace().nth(1)?.parse().ok()
}

fn free_port() -> u16 {
    let span = u64::from(PORTS.end - PORTS.start);
    for _ in 0..100 {
        let offset = u16::try_from(random() % span).expect("the span is one of ports");
        let port = PORTS.start + offset;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no free port on the loopback interface");
}

/// Unpredictable bits from the standard library's hasher keys, which come from the system.
fn random() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id())
}
