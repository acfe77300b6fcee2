//! Two programs that make calls, beside one: calls that wait for somebody else must not wait for each other.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ::postgres::{Client, NoTls};
use anyhow::{Context as _, Result, ensure};
use axum::Router;
use axum::routing::get;
use serde_json::json;
use tokio::net::TcpListener;

use crate::Setting;
use crate::appends::{rate, two_threads};
use crate::comparison::Comparison;
use crate::definitions::{Maker, OneStep};
use crate::postgres;
use crate::process::{Server, create_key_for, skein};
use crate::report::{Line, Target, Unit};

const TASKS: usize = 2_000;
const CONCURRENCY: &str = "8";
const WAITS: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(5)];
const TIMES_ONE: f64 = 1.7;
/// A look reads every run there is: more often, it would be a good part of what is measured.
const LOOK_EVERY: Duration = Duration::from_millis(100);

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    WAITS.iter().map(|wait| compare(setting, *wait)).collect()
}

fn compare(setting: &Setting, wait: Duration) -> Result<Line> {
    let what = format!("runs: {TASKS} calls of {} ms, two workers of 8; beside it: one", wait.as_millis());
    let (Some(program), Some(url)) = (skein()?, &setting.postgres) else {
        return Ok(Line::unavailable(&what, "needs skein beside this program and PostgreSQL"));
    };
    let server = postgres::Server { url: url.clone() };
    let runtime = two_threads()?;
    let called = runtime.block_on(patient(wait))?;
    let measure = |workers: usize| {
        let database = server.fresh_database("skein_bench_workers")?;
        let directory = setting.folder.make("workers")?;
        let place = SharedDatabase { program: &program, directory: &directory, database: &database };
        runtime.block_on(place.queue(called))?;
        place.work_off(workers)
    };
    let (mut two, mut one) = (Vec::new(), Vec::new());
    for _ in 0..setting.rounds {
        two.push(measure(2)?);
        one.push(measure(1)?);
    }
    let sides = Comparison { ours: two, theirs: one };
    Ok(Line::compared(&what, Unit::PerSecond, &sides, Target::AtLeast(TIMES_ONE)))
}

/// A service that answers everybody after so long.
async fn patient(wait: Duration) -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let answer = move || async move {
        tokio::time::sleep(wait).await;
        axum::Json(json!({ "word": "done" }))
    };
    let router = Router::new().route("/word", get(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

/// A database, and the programs at it.
struct SharedDatabase<'a> {
    program: &'a Path,
    directory: &'a Path,
    database: &'a str,
}

impl SharedDatabase<'_> {
    fn skein(&self) -> Command {
        let mut command = Command::new(self.program);
        command.env_clear().args(["--database", self.database, "--dir"]).arg(self.directory);
        command
    }

    /// Starts every run at a server that makes no calls itself; then that server goes.
    async fn queue(&self, called: SocketAddr) -> Result<()> {
        let mut serve = Command::new(self.program);
        serve.args(["serve", "--listen", "127.0.0.1:0", "--workers-rest-call=0", "--database", self.database, "--dir"]);
        let server = Server::start({
            serve.arg(self.directory).stderr(Stdio::null());
            serve
        })?;
        let key = create_key_for(self.program, self.directory, Some(self.database), "admin")?;
        let mut maker = Maker::at(&server.address, &key).await?;
        let waiting = OneStep {
            name: "Wait",
            service: "rest_api",
            model: None,
            operation: json!({ "type": "rest_call", "method": "GET", "path": "/word" }),
            output: "{{a.word}}",
        };
        let process = maker.one_step(called, &waiting).await?;
        for _ in 0..TASKS {
            maker.execute(&process).await?;
        }
        server.stop()
    }

    /// Starts workers; runs per second from the first that is done to the last.
    fn work_off(&self, workers: usize) -> Result<f64> {
        let mut client = Client::connect(self.database, NoTls)?;
        let mut done = move || -> Result<usize> {
            let row = client.query_one("SELECT count(*) FROM executions WHERE status <> 'running'", &[])?;
            Ok(usize::try_from(row.get::<_, i64>(0))?)
        };
        let working = (0..workers).map(|_| self.worker()).collect::<Result<Vec<_>>>()?;
        let (mut first, mut before) = (None, 0);
        loop {
            let now = done()?;
            if now > 0 && first.is_none() {
                (first, before) = (Some(Instant::now()), now);
            }
            if let Some(first) = first.filter(|_| now == TASKS) {
                drop(working);
                return Ok(rate(TASKS - before, first.elapsed().as_secs_f64()));
            }
            ensure!(working.iter().all(|worker| worker.0.id() > 0), "a worker ended");
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    fn worker(&self) -> Result<WorkerProcess> {
        let mut command = self.skein();
        command.args(["worker", "--types", "rest_call", "--concurrency", CONCURRENCY]);
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(WorkerProcess(child.context("a worker cannot be started")?))
    }
}

/// A worker; it ends with this.
struct WorkerProcess(Child);

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        // Both fail only when it has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
