//! Resolves the directory, the database and the blob store from the configuration.

use std::fs::DirBuilder;
use std::net::SocketAddr;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use axum::http::Uri;
use skein_connect::guard::{BadNetwork, Endpoint, Guard, Network, Policy};
use skein_connect::http::HttpOptions;
use skein_connect::telemetry::Collector;
use skein_core::Viewer;
use skein_core::flow::telemetry::TracedContent;
use skein_engine::Engine;
use skein_engine::catalog::Gateway;
use skein_engine::flow::Telemetry;
use skein_store::blobs::{Blobs, S3Options};
use skein_store::clock::{Clock, ClockAhead};
use skein_store::store::database_file;
use skein_store::{Location, Store, StoreError, StoreOptions};

use crate::configuration::{Configuration, without_credentials};
use crate::embedder::EmbedderChoice;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::master_key::KeySource;
use crate::privacy::{ConfigurationFile, Exposure};
use crate::settings::{Name, Setting};

const OWNER_ONLY: u32 = 0o700;
const SYSTEM: Viewer = Viewer::System("looking for secrets");

/// A directory, and what is kept elsewhere than in it.
#[derive(Debug, Clone)]
pub(crate) struct StorageLocation {
    pub(crate) dir: PathBuf,
    database: Option<String>,
    s3: Option<S3Options>,
    pub(crate) master_key: KeySource,
    private_networks: Vec<Network>,
    collector: Option<Box<(Collector, TracedContent)>>,
    embedder: EmbedderChoice,
    configuration_file: Option<ConfigurationFile>,
}

impl StorageLocation {
    pub(crate) fn resolve(configuration: &Configuration) -> Result<Self, Failure> {
        let s3 = resolve_s3(configuration)?;
        let dir = configuration.path(Name::Dir).ok_or_else(|| {
            let hint = "give --dir DIR, or set SKEIN_DIR or HOME";
            Failure::usage(anyhow!("there is no home directory to keep things in"), hint)
        })?;
        let database = configuration.text(Name::Database);
        if database.is_some_and(|url| !is_postgres(url)) {
            let hint = "give --database postgres://user@host/name, or leave it out to use SQLite";
            return Err(Failure::usage(anyhow!("the database is not a PostgreSQL URL"), hint));
        }
        let master_key = KeySource::resolve(configuration, dir)?;
        let private_networks = resolve_networks(configuration)?;
        let collector = resolve_collector(configuration)?;
        let embedder = EmbedderChoice::resolve(configuration)?;
        let (dir, database) = (dir.to_owned(), database.map(str::to_owned));
        let configuration_file = configuration.file();
        Ok(Self { dir, database, s3, master_key, private_networks, collector, embedder, configuration_file })
    }

    pub(crate) fn location(&self) -> Location {
        match &self.database {
            Some(url) => Location::Postgres(url.clone()),
            None => Location::Directory(self.dir.clone()),
        }
    }

    /// Whether the database is elsewhere than in the directory.
    pub(crate) fn names_database(&self) -> bool {
        self.database.is_some()
    }

    /// Whether whoever holds the directory's lock has the database to itself.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.database.is_none()
    }

    /// The database in words, without user and password.
    pub(crate) fn database_shown(&self) -> String {
        location_shown(&self.location())
    }

    /// Makes the directory, for its owner alone, unless it is there.
    pub(crate) fn make_directory(&self) -> Result<(), Failure> {
        let made = DirBuilder::new().recursive(true).mode(OWNER_ONLY).create(&self.dir);
        let made = made.with_context(|| format!("cannot make the directory {}", self.dir.display()));
        made.map_err(|error| {
            Failure::new(Exit::Unavailable, error, "choose another with --dir, or mend its permissions")
        })
    }

    /// What others can look into or change, of the directory and the configuration; what is missing is passed over.
    pub(crate) fn exposures(&self) -> Vec<Exposure> {
        let directory = Exposure::of_directory(&self.dir).ok().flatten();
        let of_file = |file| Exposure::of_configuration(file).ok().flatten();
        directory.into_iter().chain(self.configuration_file.as_ref().and_then(of_file)).collect()
    }

    /// Says so to the log.
    pub(crate) fn warn_of_exposures(&self) {
        for exposure in self.exposures() {
            tracing::warn!(remedy = exposure.remedy(), "{exposure}");
        }
    }

    /// Opens for reading and writing, making what is missing.
    pub(crate) fn open(&self) -> Result<Store, Failure> {
        Ok(Store::open(StoreOptions { clock: clock_ahead(), ..StoreOptions::at(self.location()) })?)
    }

    /// Opens for reading, also beside a running server; what is missing is not made.
    pub(crate) fn open_read_only(&self) -> Result<Store, Failure> {
        open_read_only(self.location())
    }

    /// Refuses where nothing was ever kept: most likely it is a typing error.
    pub(crate) fn require_made(&self) -> Result<(), Failure> {
        require_made(&self.location())
    }

    /// The way out, for a server found at `own` and at `public_url`. Makes the master key, unless something is kept under
    /// one that is missing.
    pub(crate) async fn gateway(
        &self,
        store: &Store,
        own: Option<SocketAddr>,
        public_url: Option<&str>,
    ) -> Result<Gateway, Failure> {
        if self.master_key.is_missing() && store.read(|tx| tx.count_sealed(&SYSTEM, "")).await?.0 > 0 {
            let error = anyhow!(
                "secrets are kept in {}, but the master key they are kept under is missing",
                self.database_shown()
            );
            let hint = "put master.key back from where a copy was kept, or name it with --vault-key-file";
            return Err(Failure::new(Exit::Failed, error, hint));
        }
        self.master_key.ensure()?;
        let policy = Policy {
            own_addresses: own.into_iter().collect(),
            own_names: public_url.and_then(named).into_iter().collect(),
            private: self.private_networks.clone(),
            ..Policy::default()
        };
        let gateway = Gateway::new(Box::new(self.master_key.clone()), Guard::new(policy), HttpOptions::default());
        let gateway =
            gateway.map_err(|problem| Failure::usage(anyhow!(problem), "put the master key back where it was kept"))?;
        let telemetry = self.collector.as_deref().cloned();
        let telemetry = telemetry.map(|(collector, content)| Telemetry::new(collector, content));
        Ok(gateway.telling(telemetry))
    }

    pub(crate) fn blobs(&self) -> Result<Blobs, StoreError> {
        match &self.s3 {
            Some(options) => Blobs::s3(options),
            None => Blobs::directory(&self.dir.join("blobs")),
        }
    }

    /// Has an engine remember in the index of this server, which can be deleted and is built again.
    pub(crate) fn remember(&self, engine: &Engine) -> Result<(), Failure> {
        engine.remember_with(self.dir.join("index"), self.embedder.open()?);
        Ok(())
    }
}

/// For stories that go on a year later; only in builds for developers.
fn clock_ahead() -> Option<Arc<dyn Clock>> {
    let ahead = std::env::var_os("DEBUG_SKEIN_AHEAD_MS").filter(|_| cfg!(debug_assertions))?;
    ahead.to_str()?.parse().ok().map(|ahead| Arc::new(ClockAhead(ahead)) as Arc<dyn Clock>)
}

/// The host and port that a URL names.
fn named(url: &str) -> Option<Endpoint> {
    let uri: Uri = url.parse().ok()?;
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    Some(Endpoint::new(uri.host()?, port))
}

fn resolve_networks(configuration: &Configuration) -> Result<Vec<Network>, Failure> {
    let networks = configuration.list(Name::NetworkAllowPrivate).iter().map(|text| text.parse());
    networks.collect::<Result<_, _>>().map_err(|bad: BadNetwork| {
        Failure::usage(anyhow!("network.allow_private: {bad}"), "give networks such as 10.1.0.0/16 or fd00:1::/64")
    })
}

fn resolve_collector(configuration: &Configuration) -> Result<Option<Box<(Collector, TracedContent)>>, Failure> {
    let Some(endpoint) = configuration.text(Name::TelemetryEndpoint) else {
        let idle = [Name::TelemetryHeaders, Name::TelemetryContent];
        return configuration.refuse_without("telemetry.endpoint", &idle).map(|()| None);
    };
    let headers = configuration.list(Name::TelemetryHeaders);
    let content = match configuration.text(Name::TelemetryContent) {
        Some("on") => TracedContent::Told,
        _ => TracedContent::LeftOut,
    };
    let collector = Collector::new(endpoint, headers, env!("CARGO_PKG_VERSION")).map_err(|bad| {
        let hint = "give telemetry.endpoint as http://host:4318, and SKEIN_TELEMETRY_HEADERS as name=value";
        Failure::usage(anyhow!("the collector cannot be told: {bad}"), hint)
    })?;
    Ok(Some(Box::new((collector, content))))
}

/// Opens for reading, also beside a running server; what is missing is not made.
pub(crate) fn open_read_only(location: Location) -> Result<Store, Failure> {
    require_made(&location)?;
    Ok(Store::open_read_only(location)?)
}

fn require_made(location: &Location) -> Result<(), Failure> {
    match location {
        Location::Directory(dir) if !database_file(dir).is_file() => {
            let error = anyhow!("there is no database in {}", dir.display());
            Err(Failure::new(Exit::Failed, error, "choose the directory with --dir, or run skein init"))
        }
        Location::Directory(_) | Location::Postgres(_) => Ok(()),
    }
}

/// A database in words, without user and password.
pub(crate) fn location_shown(location: &Location) -> String {
    match location {
        Location::Postgres(url) => {
            let address = without_credentials(url);
            format!("PostgreSQL at {}", address.split_once("://").map_or(address.as_str(), |(_, rest)| rest))
        }
        Location::Directory(dir) => database_file(dir).display().to_string(),
    }
}

/// A database named by its directory or by its PostgreSQL URL.
pub(crate) fn location_named(text: &str) -> Location {
    if is_postgres(text) { Location::Postgres(text.to_owned()) } else { Location::Directory(text.into()) }
}

fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

fn resolve_s3(configuration: &Configuration) -> Result<Option<S3Options>, Failure> {
    let given = |name| configuration.text(name).map(str::to_owned);
    let Some(bucket) = given(Name::S3Bucket) else { return Ok(None) };
    let needed = |name: Name| {
        given(name).ok_or_else(|| {
            let Setting { key, variable, .. } = name.setting();
            let hint = "blobs in a bucket need its endpoint, region and both keys";
            Failure::usage(anyhow!("{key} ({variable}) is missing"), hint)
        })
    };
    Ok(Some(S3Options {
        bucket,
        endpoint: needed(Name::S3Endpoint)?,
        region: needed(Name::S3Region)?,
        access_key: needed(Name::S3AccessKey)?,
        secret_key: needed(Name::S3SecretKey)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_shown_without_its_password() {
        let database = Some("postgres://anna:p@ss@db.example:5432/skein?password=x".to_owned());
        let master_key = KeySource::File(PathBuf::new());
        let (dir, private_networks, embedder) = (PathBuf::new(), Vec::new(), EmbedderChoice::BuiltIn);
        let configuration_file = None;
        let place = StorageLocation {
            dir,
            database,
            s3: None,
            master_key,
            private_networks,
            collector: None,
            embedder,
            configuration_file,
        };
        assert_eq!(place.database_shown(), "PostgreSQL at db.example:5432/skein");
    }
}
