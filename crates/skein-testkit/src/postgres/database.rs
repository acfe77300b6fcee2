//! A database per test, cloned from a template that was migrated once per run.
//!
//! Cloning takes a third of the time of migrating, and a test that owns its database needs no
//! clean-up and cannot see another's rows. Every statement runs on a thread of its own: the
//! synchronous client must not be used or dropped inside an asynchronous test.

use std::thread;

use ::postgres::{Client, Error, NoTls};

use super::{Cluster, random};

/// A database of one test. Dropping it drops the database and its open connections.
#[derive(Debug)]
pub struct Database {
    name: String,
    url: String,
    admin_url: String,
}

impl Database {
    /// An empty database.
    pub fn fresh(cluster: &Cluster) -> Self {
        Self::from_template(cluster, "template0")
    }

    /// A copy of `template`, which nobody may be connected to; see [`ensure_template`].
    pub fn from_template(cluster: &Cluster, template: &str) -> Self {
        let name = format!("test_{:016x}", random());
        let admin_url = cluster.url().to_owned();
        with_client(&admin_url, |client| create(client, &name, template))
            .unwrap_or_else(|error| panic!("no database from {template}: {error:?}"));
        Self { url: with_database(&admin_url, &name), name, admin_url }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its address as a libpq URL, with the password in it.
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        // The cluster may be stopped or killed already, and the database gone with it.
        let _ = with_client(&self.admin_url, |client| client.batch_execute(&drop));
    }
}

/// Makes the template database `name` by calling `migrate` with its URL, once per cluster.
///
/// A process waits while another one is at it. Half a template, left by a failed migration,
/// is made again. On a server that outlives the run an old template stays: let the name change with
/// the migrations.
pub fn ensure_template(cluster: &Cluster, name: &str, migrate: impl FnOnce(&str) + Send) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    assert!(!name.is_empty() && name.chars().all(is_plain), "not a plain name: {name:?}");
    let url = with_database(cluster.url(), name);
    with_client(cluster.url(), |client| make_template(client, name, || migrate(&url)))
        .unwrap_or_else(|error| panic!("no template {name}: {error:?}"));
}

/// The lock ends with the connection, so also when `migrate` panics.
fn make_template(client: &mut Client, name: &str, migrate: impl FnOnce()) -> Result<(), Error> {
    client.execute("SELECT pg_advisory_lock(hashtextextended($1, 0))", &[&name])?;
    let finished = "SELECT 1 FROM pg_database WHERE datname = $1 AND datistemplate";
    if client.query_opt(finished, &[&name])?.is_some() {
        return Ok(());
    }
    client.batch_execute(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"))?;
    create(client, name, "template0")?;
    migrate();
    // A connection to a template would make cloning it fail.
    let finish = format!("ALTER DATABASE {name} WITH IS_TEMPLATE true ALLOW_CONNECTIONS false");
    client.batch_execute(&finish)
}

/// Copied as files: where nothing is synced that takes half the time of writing every page to the log.
fn create(client: &mut Client, name: &str, template: &str) -> Result<(), Error> {
    let asked = "SELECT current_setting('server_version_num')::int >= 150000";
    let strategy = if client.query_one(asked, &[])?.get(0) { " STRATEGY file_copy" } else { "" };
    client.batch_execute(&format!("CREATE DATABASE {name} TEMPLATE {template}{strategy}"))
}

fn with_client<T: Send>(url: &str, work: impl FnOnce(&mut Client) -> Result<T, Error> + Send) -> Result<T, Error> {
    let connect_and_work = || work(&mut Client::connect(url, NoTls)?);
    let finished = thread::scope(|scope| scope.spawn(connect_and_work).join());
    finished.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// The same server, another database: `postgresql://host/HERE?options`.
fn with_database(url: &str, name: &str) -> String {
    let (scheme, rest) = url.split_once("://").expect("a libpq URL has a scheme");
    let (address, options) = rest.split_once('?').map_or((rest, None), |(a, o)| (a, Some(o)));
    let host = address.split_once('/').map_or(address, |(host, _)| host);
    let options = options.map(|options| format!("?{options}")).unwrap_or_default();
    format!("{scheme}://{host}/{name}{options}")
}

#[cfg(test)]
mod tests {
    use super::with_database;

    #[test]
    fn only_the_database_of_a_url_changes() {
        let check = |url, expected| assert_eq!(with_database(url, "mine"), expected);
        check("postgresql://me:pw@127.0.0.1:5432/postgres", "postgresql://me:pw@127.0.0.1:5432/mine");
        check("postgres://me@host", "postgres://me@host/mine");
        check("postgresql:///postgres?host=/run/x", "postgresql:///mine?host=/run/x");
        check("postgresql://host?user=me", "postgresql://host/mine?user=me");
    }
}
