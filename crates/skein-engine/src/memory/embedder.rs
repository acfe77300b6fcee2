//! Selects the embedder of an installation: the built-in table, a model in a directory, or an endpoint.
//!
//! The table makes them on the spot. Whoever else does may be slow, gone or wrong, so words never wait for them: see
//! [`crate::memory::vectors`]. Everything that comes from one is checked, and every question to one has a limit in time.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use skein_connect::credential::Credential;
use skein_connect::embeddings::{Embeddings, EmbeddingsError};
use skein_connect::http::{Limits, Retry};
use skein_core::Digest;
use skein_recall::{CheckedVector, EmbedError, Embedder, Fingerprint, StaticTable, check_vectors};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How many characters of a model's name stand in the name of an endpoint's vectors.
const MODEL_CHARS_MAX: usize = 60;
/// Digits of the hash behind it, which tells apart what the name does not.
const HASH_DIGITS: usize = 12;
/// Says nothing in particular; whoever makes vectors at all makes one of it.
const HARMLESS: &str = "The sky is blue.";
/// So many texts in a row may break an endpoint that takes others; after one more it is the endpoint that is broken.
const BROKEN_MAX: usize = 3;
/// Questions that a model in a directory works at at once.
const ASKED_AT_ONCE: usize = 4;
/// A request is repeated twice; after that it is for whoever asks to wait.
const RETRY: Retry = Retry {
    tries_max: 3,
    pause: Duration::from_millis(500),
    pause_max: Duration::from_secs(5),
    wished_pause_max: Duration::from_secs(5),
};

/// An endpoint that speaks as OpenAI's `POST /embeddings` does.
#[derive(Debug, Clone)]
pub struct EndpointOptions {
    /// Where its API begins, mostly ending in `/v1`.
    pub base_url: String,
    /// Which of its models.
    pub model: String,
    /// How many numbers each vector shall have, for models that let one choose.
    pub dimensions: Option<usize>,
    /// What opens it.
    pub credential: Option<Arc<Credential>>,
    /// How long one request and its repetitions may take.
    pub time_max: Duration,
}

/// Who makes vectors. Clones are the same one.
#[derive(Clone)]
pub enum Embedding {
    /// The table in the program.
    BuiltIn,
    /// A model that is computed in this process.
    Local(Arc<LocalModel>),
    /// A service.
    Endpoint(Arc<Endpoint>),
}

/// A model that is computed in this process.
pub struct LocalModel {
    embedder: Arc<dyn Embedder>,
    time_max: Duration,
    /// Held while texts are worked at, also when nobody waits for them any more.
    making: Arc<Semaphore>,
    asking: Arc<Semaphore>,
}

/// A service, and what its vectors are called.
pub struct Endpoint {
    embeddings: Embeddings,
    fingerprint: Fingerprint,
    time_max: Duration,
}

/// What texts are embedded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EmbeddingPurpose {
    /// To be kept; nobody waits.
    Keeping,
    /// To answer somebody who waits so long at most.
    Asking(Duration),
}

/// Why texts have no vectors now: it is not about the texts.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{said}")]
pub(super) struct EmbedderUnavailable {
    pub(super) said: String,
    /// How long to wait, where somebody says so.
    pub(super) after: Option<Duration>,
    /// Whether it stays so until somebody does something about it.
    pub(super) is_lasting: bool,
}

impl EmbedderUnavailable {
    fn of(error: &impl fmt::Display) -> Self {
        Self { said: error.to_string(), after: None, is_lasting: false }
    }
}

impl fmt::Debug for Embedding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Embedding").field(&self.fingerprint()).finish()
    }
}

impl Embedding {
    /// A model that is computed in this process; one batch of texts may take so long.
    pub fn local(embedder: Arc<dyn Embedder>, time_max: Duration) -> Self {
        let (making, asking) = (Arc::new(Semaphore::new(1)), Arc::new(Semaphore::new(ASKED_AT_ONCE)));
        Self::Local(Arc::new(LocalModel { embedder, time_max, making, asking }))
    }

    /// A service. Nobody is reached yet; what cannot be an address is refused.
    pub fn endpoint(options: EndpointOptions) -> Result<Self, EmbeddingsError> {
        let EndpointOptions { base_url, model, dimensions, credential, time_max } = options;
        let embeddings = Embeddings::configured(&base_url, &model, credential)?;
        let limits = Limits { first_byte: time_max, idle: time_max, total: time_max, ..embeddings.limits };
        let embeddings = Embeddings { dimensions, limits, retry: RETRY, ..embeddings };
        let whole = format!("{}\n{model}\n{dimensions:?}", base_url.trim_end_matches('/'));
        let hash = Digest::of(whole.as_bytes()).to_string();
        let model: String = model.chars().take(MODEL_CHARS_MAX).collect();
        let fingerprint = Fingerprint::new(&format!("endpoint {model} {}", &hash[..HASH_DIGITS]));
        Ok(Self::Endpoint(Arc::new(Endpoint { embeddings, fingerprint, time_max })))
    }

    /// What its vectors are called: those of different names are never compared.
    pub fn fingerprint(&self) -> Fingerprint {
        match self {
            Self::BuiltIn => StaticTable.fingerprint(),
            Self::Local(local) => local.embedder.fingerprint(),
            Self::Endpoint(endpoint) => endpoint.fingerprint.clone(),
        }
    }

    pub(super) fn is_built_in(&self) -> bool {
        matches!(self, Self::BuiltIn)
    }

    /// How many numbers its vectors have; it is asked for one, so that it is known that it makes any.
    pub(super) async fn learn_dimensions(&self) -> Result<usize, EmbedderUnavailable> {
        let harmless = [HARMLESS.to_owned()];
        let (checked, dimensions) = match self {
            Self::BuiltIn => return Ok(StaticTable.dimensions()),
            Self::Local(local) => {
                (local.vectors(&harmless, EmbeddingPurpose::Keeping).await?, local.embedder.dimensions())
            }
            Self::Endpoint(endpoint) => {
                let came = endpoint.ask(&harmless, endpoint.time_max).await?;
                let came = came.map_err(|error| EmbedderUnavailable::of(&error))?;
                let wished = endpoint.embeddings.dimensions;
                let found = came.first().map(Vec::len).unwrap_or_default();
                let dimensions = wished.unwrap_or(found);
                if found != dimensions && found > 0 {
                    return Err(endpoint.otherwise(dimensions, found));
                }
                (check_vectors(came, 1, dimensions).map_err(|error| EmbedderUnavailable::of(&error))?, dimensions)
            }
        };
        checked.into_iter().collect::<Result<Vec<_>, _>>().map_err(|error| EmbedderUnavailable::of(&error))?;
        Ok(dimensions)
    }

    /// For each text its vector, or why this text has none while others would; an error when it is not about the texts.
    pub(super) async fn vectors(
        &self,
        texts: &[String],
        dimensions: usize,
        purpose: EmbeddingPurpose,
    ) -> Result<Vec<CheckedVector>, EmbedderUnavailable> {
        match self {
            Self::BuiltIn => of_embedder(&StaticTable, texts),
            Self::Local(local) => local.vectors(texts, purpose).await,
            Self::Endpoint(endpoint) => match purpose {
                EmbeddingPurpose::Keeping => endpoint.vectors(texts, dimensions).await,
                EmbeddingPurpose::Asking(patience) => {
                    let checked = endpoint.checked(texts, dimensions, patience).await??;
                    match checked.first() {
                        Some(Err(EmbedError::Dimensions { wanted, found, .. })) if *found > 0 => {
                            Err(endpoint.otherwise(*wanted, *found))
                        }
                        _ => Ok(checked),
                    }
                }
            },
        }
    }
}

fn of_embedder(embedder: &dyn Embedder, texts: &[String]) -> Result<Vec<CheckedVector>, EmbedderUnavailable> {
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    skein_recall::embed_checked(embedder, &texts).map_err(|error| EmbedderUnavailable::of(&error))
}

impl LocalModel {
    async fn vectors(
        &self,
        texts: &[String],
        purpose: EmbeddingPurpose,
    ) -> Result<Vec<CheckedVector>, EmbedderUnavailable> {
        let (held, patience) = match purpose {
            EmbeddingPurpose::Keeping => (&self.making, self.time_max),
            EmbeddingPurpose::Asking(patience) => (&self.asking, patience),
        };
        let (held, embedder, texts) = (Arc::clone(held), Arc::clone(&self.embedder), texts.to_vec());
        let work = async move {
            let held = held.acquire_owned().await.map_err(|error| EmbedderUnavailable::of(&error))?;
            let work = move || {
                let vectors = of_embedder(&*embedder, &texts);
                drop(held);
                vectors
            };
            tokio::task::spawn_blocking(work).await.map_err(|error| EmbedderUnavailable::of(&error))?
        };
        timeout(patience, work).await.unwrap_or_else(|_| Err(late(patience)))
    }
}

fn late(patience: Duration) -> EmbedderUnavailable {
    EmbedderUnavailable::of(&format!("no vectors came within {} ms", patience.as_millis()))
}

impl Endpoint {
    /// As they came; the inner error may be about the texts.
    async fn ask(
        &self,
        texts: &[String],
        patience: Duration,
    ) -> Result<Result<Vec<Vec<f32>>, EmbeddingsError>, EmbedderUnavailable> {
        match timeout(patience, self.embeddings.embed(texts)).await {
            Ok(Ok(embedded)) => Ok(Ok(embedded.vectors)),
            // Operators read this, and it is logged: what people said has no place there.
            Ok(Err(error)) if error.is_about_texts() => Ok(Err(error.unquoted())),
            Ok(Err(error)) => {
                Err(EmbedderUnavailable { after: error.retry_after(), ..EmbedderUnavailable::of(&error.unquoted()) })
            }
            Err(_) => Err(late(patience)),
        }
    }

    async fn checked(
        &self,
        texts: &[String],
        dimensions: usize,
        patience: Duration,
    ) -> Result<Result<Vec<CheckedVector>, EmbedderUnavailable>, EmbedderUnavailable> {
        let vectors = match self.ask(texts, patience).await? {
            Ok(vectors) => vectors,
            Err(error) => return Ok(Err(EmbedderUnavailable::of(&error))),
        };
        check_vectors(vectors, texts.len(), dimensions).map(Ok).map_err(|error| EmbedderUnavailable::of(&error))
    }

    /// All at once; where that fails, each for itself: some servers break at a text that others refuse. When none of them
    /// passes, something that says nothing in particular is tried, to tell bad texts from an endpoint that takes none.
    async fn vectors(&self, texts: &[String], dimensions: usize) -> Result<Vec<CheckedVector>, EmbedderUnavailable> {
        let refused = match self.checked(texts, dimensions, self.time_max).await {
            Ok(Ok(checked)) if checked.iter().any(Result::is_ok) => return Ok(checked),
            Ok(Ok(checked)) => return self.prove(dimensions, checked).await,
            Err(busy) if busy.after.is_some() => return Err(busy),
            Ok(Err(refused)) | Err(refused) => refused,
        };
        if let [_] = texts {
            return self.prove(dimensions, vec![Err(EmbedError::Refused(Box::new(refused)))]).await;
        }
        self.prove(dimensions, Vec::new()).await?;
        let (mut all, mut broken) = (Vec::with_capacity(texts.len()), 0);
        for text in texts {
            let refused = match self.checked(std::slice::from_ref(text), dimensions, self.time_max).await {
                Ok(Ok(checked)) => {
                    broken = 0;
                    all.extend(checked);
                    continue;
                }
                Ok(Err(refused)) => refused,
                Err(failed) if failed.after.is_some() || broken == BROKEN_MAX => return Err(failed),
                Err(failed) => {
                    broken += 1;
                    failed
                }
            };
            all.push(Err(EmbedError::Refused(Box::new(refused))));
        }
        Ok(all)
    }

    /// Another model answers under the same name, or one that does not let the length be chosen.
    fn otherwise(&self, wanted: usize, found: usize) -> EmbedderUnavailable {
        let remedy = match self.embeddings.dimensions {
            Some(_) => "the model does not keep to embedder.dimensions: leave that out or correct it",
            None => {
                "another model answers under the same name: bring the former one back, or have every vector made anew \
                 with skein index rebuild --anew"
            }
        };
        let said = format!("the endpoint gives vectors of {found} numbers where {wanted} are wanted; {remedy}");
        EmbedderUnavailable { said, after: None, is_lasting: true }
    }

    /// What came of some texts, if the endpoint makes vectors at all.
    async fn prove(
        &self,
        dimensions: usize,
        came: Vec<CheckedVector>,
    ) -> Result<Vec<CheckedVector>, EmbedderUnavailable> {
        let harmless = [HARMLESS.to_owned()];
        let mut proof = self.checked(&harmless, dimensions, self.time_max).await??;
        match proof.swap_remove(0) {
            Ok(_) => Ok(came),
            Err(EmbedError::Dimensions { wanted, found, .. }) if found > 0 => Err(self.otherwise(wanted, found)),
            Err(error) => Err(EmbedderUnavailable::of(&error)),
        }
    }
}

/// A sentence-transformer directory, as far as this program can read one.
#[cfg(feature = "transformer")]
pub fn open_transformer(directory: &std::path::Path) -> Result<Arc<dyn Embedder>, String> {
    let opened = skein_recall::Transformer::open(directory).map_err(|error| error.to_string())?;
    Ok(Arc::new(opened))
}

/// A sentence-transformer directory, as far as this program can read one.
#[cfg(not(feature = "transformer"))]
pub fn open_transformer(_: &std::path::Path) -> Result<Arc<dyn Embedder>, String> {
    Err("this program was built without the feature that reads models; \
         build one that has it: cargo build --release -p skein-cli --features transformer"
        .to_owned())
}
