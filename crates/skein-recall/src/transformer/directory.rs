//! Reads the files of a model, and refuses by name what is missing, broken or not known here.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::tokens::Tokens;
use crate::embedder::Fingerprint;

/// Changes whenever the same files give other vectors than before.
const COMPUTED_AS: &str = "transformer-v1";
/// Largest of the small files, in bytes.
const SETTINGS_BYTES_MAX: u64 = 1 << 20;
/// Largest vocabulary, in bytes.
const TOKENIZER_BYTES_MAX: u64 = 64 << 20;
/// Largest weights, in bytes; all of them are read into memory.
const WEIGHTS_BYTES_MAX: u64 = 4 << 30;
/// The longest text where nothing says how long one may be, in tokens.
const TOKENS_USUAL: usize = 512;

/// Why a directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TransformerError {
    #[error("{path} is not the directory of a sentence transformer: it has no {missing}")]
    Missing { path: PathBuf, missing: String },
    #[error("{path} could not be read")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{path} is not understood: {problem}")]
    Malformed { path: PathBuf, problem: String },
    #[error("{path} asks for {what}, which is not known here; known are {known}")]
    Unknown { path: PathBuf, what: String, known: &'static str },
    #[error("the weights in {path} are not those its config.json speaks of")]
    Weights { path: PathBuf, source: Box<dyn std::error::Error + Send + Sync> },
}

/// What `config.json` says of the encoder.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Config {
    pub(super) model_type: String,
    pub(super) vocab_size: usize,
    pub(super) hidden_size: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) num_attention_heads: usize,
    pub(super) intermediate_size: usize,
    pub(super) hidden_act: String,
    pub(super) max_position_embeddings: usize,
    pub(super) type_vocab_size: usize,
    pub(super) layer_norm_eps: f64,
    #[serde(default)]
    pub(super) pad_token_id: usize,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl Config {
    /// The number of the first position: `RoBERTa` leaves out those up to the one of padding.
    pub(super) fn first_position(&self) -> usize {
        if self.model_type == "bert" { 0 } else { self.pad_token_id.saturating_add(1) }
    }

    fn check(&self, path: &Path) -> Result<(), TransformerError> {
        let unknown = |what: String, known| Err(TransformerError::Unknown { path: path.to_owned(), what, known });
        if !["bert", "roberta", "xlm-roberta"].contains(&self.model_type.as_str()) {
            return unknown(format!("a model of type {:?}", self.model_type), "bert, roberta and xlm-roberta");
        }
        if !["gelu", "relu"].contains(&self.hidden_act.as_str()) {
            return unknown(format!("the activation {:?}", self.hidden_act), "gelu and relu");
        }
        if self.position_embedding_type != "absolute" {
            return unknown(format!("positions of type {:?}", self.position_embedding_type), "absolute ones");
        }
        if self.num_attention_heads == 0 || !self.hidden_size.is_multiple_of(self.num_attention_heads) {
            return Err(malformed(path, "its hidden size is no multiple of its attention heads"));
        }
        if self.hidden_size == 0 || self.max_position_embeddings <= self.first_position() {
            return Err(malformed(path, "it has no positions or no numbers at them"));
        }
        Ok(())
    }
}

/// How the states of all tokens become one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    Mean,
    First,
}

/// All that a directory holds.
pub(super) struct Directory {
    pub(super) config: Config,
    pub(super) tokens: Tokens,
    pub(super) pooling: Pooling,
    pub(super) is_normalised: bool,
    pub(super) weights: Vec<u8>,
    pub(super) fingerprint: Fingerprint,
}

#[derive(Deserialize)]
struct Module {
    path: String,
    r#type: String,
}

#[derive(Default, Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
    #[serde(default)]
    do_lower_case: bool,
}

#[derive(Default, Deserialize)]
struct TokenizerConfig {
    do_lower_case: Option<bool>,
}

impl Directory {
    pub(super) fn read(path: &Path) -> Result<Self, TransformerError> {
        let mut files = Files { root: path.to_owned(), hash: Sha256::new() };
        let list = files.settings::<Vec<Module>>("modules.json")?;
        let modules = Modules::of(&path.join("modules.json"), &list)?;
        let inside = |name: &str| modules.encoder.join(name).to_string_lossy().into_owned();
        let config: Config = files.settings(&inside("config.json"))?;
        config.check(&path.join(inside("config.json")))?;
        let pooling_name = modules.pooling.join("config.json").to_string_lossy().into_owned();
        let pooling = pooling_of(&path.join(&pooling_name), &files.settings(&pooling_name)?)?;
        let sentence: SentenceConfig = files.optional(&inside("sentence_bert_config.json"))?.unwrap_or_default();

        let positions = config.max_position_embeddings - config.first_position();
        let longest = sentence.max_seq_length.unwrap_or(TOKENS_USUAL).min(positions);
        let tokens = if path.join(inside("tokenizer.json")).exists() {
            let bytes = files.bytes(&inside("tokenizer.json"), TOKENIZER_BYTES_MAX)?;
            Tokens::from_document(&bytes)
        } else {
            let vocabulary = files.bytes(&inside("vocab.txt"), TOKENIZER_BYTES_MAX)?;
            let settings: TokenizerConfig = files.optional(&inside("tokenizer_config.json"))?.unwrap_or_default();
            Tokens::from_vocabulary(&vocabulary, settings.do_lower_case.unwrap_or(true))
        };
        let tokens = tokens.and_then(|tokens| tokens.bounded(longest, sentence.do_lower_case, config.vocab_size));
        let tokens = tokens.map_err(|problem| malformed(&path.join(&modules.encoder), &problem))?;
        let weights = files.bytes(&inside("model.safetensors"), WEIGHTS_BYTES_MAX)?;
        let fingerprint = files.fingerprint();
        Ok(Self { config, tokens, pooling, is_normalised: modules.is_normalised, weights, fingerprint })
    }
}

/// The parts of a model, in which folders they are.
struct Modules {
    encoder: PathBuf,
    pooling: PathBuf,
    is_normalised: bool,
}

impl Modules {
    fn of(path: &Path, list: &[Module]) -> Result<Self, TransformerError> {
        let kind = |module: &Module| module.r#type.rsplit('.').next().unwrap_or_default().to_owned();
        let kinds: Vec<String> = list.iter().map(kind).collect();
        let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
        let is_normalised = match kinds.as_slice() {
            ["Transformer", "Pooling"] => false,
            ["Transformer", "Pooling", "Normalize"] => true,
            _ => {
                let what = format!("the modules {}", kinds.join(", "));
                let known = "Transformer, Pooling and after them Normalize";
                return Err(TransformerError::Unknown { path: path.to_owned(), what, known });
            }
        };
        let folder = |module: &Module| {
            let folder = PathBuf::from(&module.path);
            let is_inside = folder.components().all(|part| matches!(part, Component::Normal(_)));
            if is_inside { Ok(folder) } else { Err(malformed(path, "a module is outside of it")) }
        };
        Ok(Self { encoder: folder(&list[0])?, pooling: folder(&list[1])?, is_normalised })
    }
}

/// Older libraries wrote a flag for every way, newer ones write its name.
fn pooling_of(path: &Path, settings: &Value) -> Result<Pooling, TransformerError> {
    let named = settings.get("pooling_mode").and_then(Value::as_str).map(|name| vec![name.to_owned()]);
    let flags = settings.as_object().into_iter().flatten().filter(|(_, value)| **value == Value::Bool(true));
    let flagged = flags.filter_map(|(name, _)| name.strip_prefix("pooling_mode_").map(str::to_owned));
    let ways = named.unwrap_or_else(|| flagged.collect());
    match ways.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["mean" | "mean_tokens"] => Ok(Pooling::Mean),
        ["cls" | "cls_token"] => Ok(Pooling::First),
        _ => {
            let what = format!("the pooling {}", ways.join(" and "));
            Err(TransformerError::Unknown { path: path.to_owned(), what, known: "mean_tokens and cls_token" })
        }
    }
}

fn malformed(path: &Path, problem: &str) -> TransformerError {
    TransformerError::Malformed { path: path.to_owned(), problem: problem.to_owned() }
}

/// Reads files and remembers all that was read.
struct Files {
    root: PathBuf,
    hash: Sha256,
}

impl Files {
    fn bytes(&mut self, name: &str, bytes_max: u64) -> Result<Vec<u8>, TransformerError> {
        let path = self.root.join(name);
        let failed = |source: std::io::Error| match source.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => {
                TransformerError::Missing { path: self.root.clone(), missing: name.to_owned() }
            }
            _ => TransformerError::Read { path: path.clone(), source },
        };
        let mut bytes = Vec::new();
        File::open(&path).map_err(failed)?.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > bytes_max {
            return Err(malformed(&path, &format!("it has more than {bytes_max} bytes")));
        }
        for part in [name.as_bytes(), bytes.as_slice()] {
            self.hash.update((part.len() as u64).to_le_bytes());
            self.hash.update(part);
        }
        Ok(bytes)
    }

    fn settings<T: DeserializeOwned>(&mut self, name: &str) -> Result<T, TransformerError> {
        let bytes = self.bytes(name, SETTINGS_BYTES_MAX)?;
        serde_json::from_slice(&bytes).map_err(|error| malformed(&self.root.join(name), &error.to_string()))
    }

    fn optional<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, TransformerError> {
        if self.root.join(name).exists() { self.settings(name).map(Some) } else { Ok(None) }
    }

    fn fingerprint(self) -> Fingerprint {
        let digest = self.hash.finalize();
        let half = |at: usize| u128::from_be_bytes(digest[at..at + 16].try_into().expect("half of 32 bytes are 16"));
        Fingerprint::new(&format!("{COMPUTED_AS}-{:032x}{:032x}", half(0), half(16)))
    }
}
