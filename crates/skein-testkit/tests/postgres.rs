//! The throwaway PostgreSQL does what tests rely on: it isolates, survives kills, and goes away.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use postgres::{Client, NoTls};
use skein_testkit::postgres::{Cluster, Database, SHARED_URL, ensure_template};
use skein_testkit::process::{Child, Program};

fn connect(url: &str) -> Client {
    Client::connect(url, NoTls).expect("the server takes connections")
}

fn execute(url: &str, sql: &str) {
    connect(url).batch_execute(sql).expect("the statement is right");
}

fn number(url: &str, sql: &str) -> i64 {
    connect(url).query_one(sql, &[]).expect("one row").get(0)
}

fn text(url: &str, sql: &str) -> String {
    connect(url).query_one(sql, &[]).expect("one row").get(0)
}

#[test]
fn a_cluster_starts_and_goes_away_with_its_data() {
    let cluster = Cluster::start();
    let data = text(cluster.url(), "SHOW data_directory");
    let password_was_needed = Client::connect(&cluster.url().replacen(':', ":wrong", 2), NoTls);
    assert!(Path::new(&data).exists() && password_was_needed.is_err());
    assert!(cluster.log().contains("ready to accept connections"));
    let url = cluster.url().to_owned();
    drop(cluster);
    assert!(!Path::new(&data).exists() && Client::connect(&url, NoTls).is_err());
}

#[test]
fn two_databases_are_isolated() {
    let cluster = Cluster::shared();
    let (one, two) = (Database::fresh(cluster), Database::fresh(cluster));
    execute(one.url(), "CREATE TABLE thing (id bigint)");
    let tables = "SELECT count(*) FROM pg_tables WHERE tablename = 'thing'";
    assert_eq!((number(one.url(), tables), number(two.url(), tables)), (1, 0));
}

#[test]
fn a_dropped_database_takes_its_connections_with_it() {
    let cluster = Cluster::shared();
    let database = Database::fresh(cluster);
    let name = database.name().to_owned();
    let mut left_open = connect(database.url());
    drop(database);
    let left = format!("SELECT count(*) FROM pg_database WHERE datname = '{name}'");
    assert_eq!(number(cluster.url(), &left), 0);
    assert!(left_open.batch_execute("SELECT 1").is_err());
}

#[test]
fn a_template_is_made_once_however_many_ask() {
    let cluster = Cluster::shared();
    let name = format!("once_{}", std::process::id());
    let made = AtomicU32::new(0);
    let migrate = |url: &str| {
        made.fetch_add(1, Ordering::SeqCst);
        execute(url, "CREATE TABLE thing (id bigint); INSERT INTO thing VALUES (7)");
    };
    let copy = || {
        ensure_template(cluster, &name, migrate);
        number(Database::from_template(cluster, &name).url(), "SELECT id FROM thing")
    };
    let seen = std::thread::scope(|scope| {
        let copies: Vec<_> = (0..4).map(|_| scope.spawn(copy)).collect();
        copies.into_iter().map(|copy| copy.join().expect("it is copied")).collect::<Vec<_>>()
    });
    assert_eq!((seen, made.into_inner()), (vec![7; 4], 1));
}

#[test]
fn a_template_whose_migration_failed_is_made_again() {
    let cluster = Cluster::shared();
    let name = format!("again_{}", std::process::id());
    let failed = std::panic::catch_unwind(|| {
        ensure_template(cluster, &name, |_| panic!("a bad migration"));
    });
    assert!(failed.is_err());
    ensure_template(cluster, &name, |url| execute(url, "CREATE TABLE thing (id bigint)"));
    let copy = Database::from_template(cluster, &name);
    assert_eq!(number(copy.url(), "SELECT count(*) FROM thing"), 0);
}

#[test]
fn databases_can_be_made_and_dropped_inside_an_async_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async { drop(Database::fresh(Cluster::shared())) });
}

#[test]
fn kill_nine_and_restart_keep_what_was_committed() {
    let mut cluster = Cluster::builder().durable(true).start();
    let database = Database::fresh(&cluster);
    let data = text(database.url(), "SHOW data_directory");
    execute(database.url(), "CREATE TABLE thing AS SELECT generate_series(1, 1000) AS id");
    let mut open = connect(database.url());
    open.batch_execute("BEGIN; INSERT INTO thing VALUES (0)").expect("the transaction is open");

    cluster.kill_nine();
    assert!(Path::new(&data).join("postmaster.pid").exists(), "it had no time to tidy up");
    assert!(open.batch_execute("COMMIT").is_err());
    assert!(Client::connect(database.url(), NoTls).is_err());

    cluster.restart();
    assert_eq!(number(database.url(), "SELECT count(*) FROM thing"), 1000);
    assert!(cluster.log().contains("was not properly shut down"));
    assert_eq!(text(database.url(), "SHOW fsync"), "on");
}

#[test]
fn a_stopped_cluster_restarts_at_the_same_address() {
    let mut cluster = Cluster::start();
    cluster.stop();
    assert!(Client::connect(cluster.url(), NoTls).is_err());
    cluster.restart();
    cluster.restart();
    assert_eq!(text(cluster.url(), "SHOW fsync"), "off");
}

fn with_postgres(script: &str) -> Child {
    let program = Program::new(env!("CARGO_BIN_EXE_with_postgres"));
    program.args(["--", "sh", "-c", script]).spawn()
}

/// The address its command was given.
fn given_url(run: &Child) -> String {
    run.wait_for_line("postgresql://").trim().to_owned()
}

#[test]
fn with_postgres_gives_a_server_and_returns_the_exit_code() {
    let mut run = with_postgres(&format!("echo ${SHARED_URL}; exit 7"));
    let url = given_url(&run);
    assert_eq!(run.wait().code(), Some(7), "{}", run.stderr());
    assert!(Client::connect(&url, NoTls).is_err());
}

#[test]
fn with_postgres_ends_command_and_server_when_asked_to_stop() {
    let mut run = with_postgres(&format!("echo ${SHARED_URL}; sleep 60; echo awake"));
    let url = given_url(&run);
    connect(&url);
    assert_eq!(run.terminate().code(), Some(128 + 15), "{}", run.stderr());
    assert!(Client::connect(&url, NoTls).is_err() && !run.stdout().contains("awake"));
}

#[test]
fn no_server_is_left_behind_by_a_killed_run() {
    let mut run = with_postgres(&format!("echo ${SHARED_URL}; exec sleep 60"));
    let mut client = connect(&given_url(&run));
    run.kill_nine();
    let outcome = client.batch_execute("SELECT pg_sleep(20)");
    assert!(outcome.is_err(), "the server outlived the run by 20 s");
}
