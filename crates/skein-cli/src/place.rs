//! Where everything is kept: the directory, the database and the blobs, resolved from arguments and environment.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use skein_store::blobs::{Blobs, S3Options};
use skein_store::store::database_file;
use skein_store::{Location, Store, StoreError, StoreOptions};

use crate::arguments::PlaceArguments;
use crate::exit::Exit;
use crate::failure::Failure;

const OWNER_ONLY: u32 = 0o700;
const S3_REGION_DEFAULT: &str = "us-east-1";

/// What the environment says besides the variables that stand for arguments.
#[derive(Debug, Default)]
pub(crate) struct Environment {
    pub(crate) data_home: Option<OsString>,
    pub(crate) home: Option<OsString>,
}

impl Environment {
    pub(crate) fn read() -> Self {
        Self { data_home: std::env::var_os("XDG_DATA_HOME"), home: std::env::var_os("HOME") }
    }

    fn data_directory(&self) -> Option<PathBuf> {
        let given = |value: &Option<OsString>| value.clone().filter(|text| !text.is_empty()).map(PathBuf::from);
        let data_home = given(&self.data_home).or_else(|| Some(given(&self.home)?.join(".local/share")));
        data_home.map(|data_home| data_home.join("skein"))
    }
}

/// A directory, and what is kept elsewhere than in it.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) dir: PathBuf,
    database: Option<String>,
    s3: Option<S3Options>,
}

impl Place {
    pub(crate) fn resolve(arguments: PlaceArguments, environment: &Environment) -> Result<Self, Failure> {
        let s3 = resolve_s3(&arguments)?;
        let dir = arguments.dir.filter(|dir| !dir.is_empty()).map(PathBuf::from);
        let dir = dir.or_else(|| environment.data_directory()).ok_or_else(|| {
            let hint = "give --dir DIR, or set SKEIN_DIR or HOME";
            Failure::usage(anyhow!("there is no home directory to keep things in"), hint)
        })?;
        let database = arguments.database.filter(|url| !url.is_empty());
        if database.as_ref().is_some_and(|url| !is_postgres(url)) {
            let hint = "give --database postgres://user@host/name, or leave it out to use SQLite";
            return Err(Failure::usage(anyhow!("the database is not a PostgreSQL URL"), hint));
        }
        Ok(Self { dir, database, s3 })
    }

    pub(crate) fn location(&self) -> Location {
        match &self.database {
            Some(url) => Location::Postgres(url.clone()),
            None => Location::Directory(self.dir.clone()),
        }
    }

    /// Whether whoever holds the directory's lock has the database to itself.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.database.is_none()
    }

    /// The database in words, without user and password.
    pub(crate) fn database_shown(&self) -> String {
        match &self.database {
            Some(url) => {
                let address = url.split_once("://").map_or(url.as_str(), |(_, address)| address);
                let address = address.rsplit_once('@').map_or(address, |(_, host)| host);
                format!("PostgreSQL at {}", address.split('?').next().unwrap_or_default())
            }
            None => database_file(&self.dir).display().to_string(),
        }
    }

    /// Makes the directory, for its owner alone, unless it is there.
    pub(crate) fn make_directory(&self) -> Result<(), Failure> {
        let made = DirBuilder::new().recursive(true).mode(OWNER_ONLY).create(&self.dir);
        let made = made.with_context(|| format!("cannot make the directory {}", self.dir.display()));
        made.map_err(|error| {
            Failure::new(Exit::Unavailable, error, "choose another with --dir, or mend its permissions")
        })
    }

    /// Opens for reading and writing, making what is missing.
    pub(crate) fn open(&self) -> Result<Store, Failure> {
        Ok(Store::open(StoreOptions::at(self.location()))?)
    }

    /// Opens for reading, also beside a running server; what is missing is not made.
    pub(crate) fn open_read_only(&self) -> Result<Store, Failure> {
        if self.database.is_none() && !database_file(&self.dir).is_file() {
            let error = anyhow!("there is no database in {}", self.dir.display());
            return Err(Failure::new(Exit::Failed, error, "choose the directory with --dir, or run skein init"));
        }
        Ok(Store::open_read_only(self.location())?)
    }

    pub(crate) fn blobs(&self) -> Result<Blobs, StoreError> {
        match &self.s3 {
            Some(options) => Blobs::s3(options),
            None => Blobs::directory(&self.dir.join("blobs")),
        }
    }
}

fn is_postgres(url: &str) -> bool {
    url.starts_with("postgres://") || url.starts_with("postgresql://")
}

fn resolve_s3(arguments: &PlaceArguments) -> Result<Option<S3Options>, Failure> {
    let given = |value: &Option<String>| value.clone().filter(|text| !text.is_empty());
    let Some(bucket) = given(&arguments.s3_bucket) else { return Ok(None) };
    let needed = |value: &Option<String>, name: &str| {
        given(value).ok_or_else(|| {
            let hint = "blobs in a bucket need its endpoint and both keys";
            Failure::usage(anyhow!("{name} is missing"), hint)
        })
    };
    Ok(Some(S3Options {
        bucket,
        endpoint: needed(&arguments.s3_endpoint, "--s3-endpoint")?,
        region: given(&arguments.s3_region).unwrap_or_else(|| S3_REGION_DEFAULT.to_owned()),
        access_key: needed(&arguments.s3_access_key, "SKEIN_S3_ACCESS_KEY")?,
        secret_key: needed(&arguments.s3_secret_key, "SKEIN_S3_SECRET_KEY")?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directory_follows_the_desktop_convention() {
        let directory = |data_home: &str, home: &str| {
            let environment = Environment { data_home: Some(data_home.into()), home: Some(home.into()) };
            environment.data_directory()
        };
        assert_eq!(directory("/data", "/home/a"), Some("/data/skein".into()));
        assert_eq!(directory("", "/home/a"), Some("/home/a/.local/share/skein".into()));
        assert_eq!(directory("", ""), None);
    }

    #[test]
    fn a_database_is_shown_without_its_password() {
        let database = Some("postgres://anna:p@ss@db.example:5432/skein?password=x".to_owned());
        let place = Place { dir: PathBuf::new(), database, s3: None };
        assert_eq!(place.database_shown(), "PostgreSQL at db.example:5432/skein");
    }
}
