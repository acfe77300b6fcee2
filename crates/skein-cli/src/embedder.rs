//! Resolves the embedder of an installation from the configuration.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use skein_connect::credential::Credential;
use skein_core::catalog::secret::SecretType;
use skein_engine::memory::embedder::open_transformer;
use skein_engine::memory::{Embedding, EndpointOptions};

use crate::configuration::Configuration;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::settings::Name;

const SECONDS_DEFAULT: u64 = 60;
const DIMENSIONS_MAX: usize = 65_536;
/// What only an endpoint is asked with.
const OF_ENDPOINTS: [Name; 4] =
    [Name::EmbedderModel, Name::EmbedderDimensions, Name::EmbedderKey, Name::EmbedderKeyFile];

/// Who makes vectors.
#[derive(Debug, Clone)]
pub(crate) enum EmbedderChoice {
    BuiltIn,
    Directory(PathBuf, Duration),
    Endpoint(EndpointOptions),
}

impl EmbedderChoice {
    pub(crate) fn resolve(configuration: &Configuration) -> Result<Self, Failure> {
        let seconds = "give embedder.seconds as a whole number, 1 or more";
        let time_max = configuration.parsed(Name::EmbedderSeconds, seconds)?.unwrap_or(SECONDS_DEFAULT);
        if time_max == 0 {
            return Err(Failure::usage(anyhow!("embedder.seconds cannot be 0"), seconds));
        }
        let time_max = Duration::from_secs(time_max);
        match (configuration.text(Name::EmbedderUrl), configuration.path(Name::EmbedderDirectory)) {
            (Some(_), Some(_)) => {
                let error = anyhow!("embedder.url and embedder.directory are both given");
                Err(Failure::usage(error, "vectors are made by one of them; leave the other out"))
            }
            (None, Some(directory)) => {
                configuration.refuse_without("embedder.url", &OF_ENDPOINTS)?;
                Ok(Self::Directory(directory.to_owned(), time_max))
            }
            (Some(url), None) => endpoint(configuration, url, time_max).map(Self::Endpoint),
            (None, None) => {
                configuration.refuse_without("embedder.url", &OF_ENDPOINTS)?;
                let needed = "embedder.url or embedder.directory";
                configuration.refuse_without(needed, &[Name::EmbedderSeconds])?;
                Ok(Self::BuiltIn)
            }
        }
    }

    /// What an engine is given. No endpoint is reached by that; a model in a directory is read.
    pub(crate) fn open(&self) -> Result<Embedding, Failure> {
        match self {
            Self::BuiltIn => Ok(Embedding::BuiltIn),
            Self::Directory(directory, time_max) => {
                let opened = open_transformer(directory).map_err(|problem| {
                    let error = anyhow!("the model in {} cannot be used: {problem}", directory.display());
                    Failure::usage(error, "correct embedder.directory, or leave it out to use the built-in table")
                })?;
                Ok(Embedding::local(opened, *time_max))
            }
            Self::Endpoint(options) => Embedding::endpoint(options.clone()).map_err(|bad| {
                let error = anyhow!("embedder.url cannot be used: {bad}");
                Failure::usage(error, "give it as https://host/v1, or leave it out to use the built-in table")
            }),
        }
    }
}

fn endpoint(configuration: &Configuration, url: &str, time_max: Duration) -> Result<EndpointOptions, Failure> {
    let model = configuration.text(Name::EmbedderModel).ok_or_else(|| {
        let hint = "name the model with embedder.model (SKEIN_EMBEDDER_MODEL)";
        Failure::usage(anyhow!("embedder.url is given, but no model"), hint)
    })?;
    let hint = "give embedder.dimensions as a whole number between 1 and 65536, or leave it out";
    let dimensions: Option<usize> = configuration.parsed(Name::EmbedderDimensions, hint)?;
    if dimensions.is_some_and(|dimensions| !(1..=DIMENSIONS_MAX).contains(&dimensions)) {
        return Err(Failure::usage(anyhow!("embedder.dimensions is out of range"), hint));
    }
    let credential = key(configuration)?.map(|key| {
        let made = Credential::new(SecretType::ApiKey, key.as_bytes(), None);
        made.map(Arc::new).map_err(|bad| Failure::usage(anyhow!("the key to the embedder: {bad}"), "correct the key"))
    });
    let (base_url, model, credential) = (url.to_owned(), model.to_owned(), credential.transpose()?);
    Ok(EndpointOptions { base_url, model, dimensions, credential, time_max })
}

/// From the environment, else from the file.
fn key(configuration: &Configuration) -> Result<Option<String>, Failure> {
    if let Some(key) = configuration.text(Name::EmbedderKey) {
        return Ok(Some(key.to_owned()));
    }
    let Some(path) = configuration.path(Name::EmbedderKeyFile) else { return Ok(None) };
    let read = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()));
    let read = read.map_err(|error| {
        Failure::new(Exit::Failed, error, "embedder.key_file names the file with the key to the embedder")
    })?;
    Ok(Some(read.trim().to_owned()))
}
