//! Vectors from a sentence-transformer model in a directory, computed here: no server, no Python.
//!
//! Compiled with the feature `transformer` alone: its dependencies take minutes to build. Encoders of the families of
//! BERT and `RoBERTa` are known, with weights in `model.safetensors`. Start at [`Transformer::open`].

mod directory;
mod encoder;
mod tokens;

use std::path::Path;

use candle_core::{Device, Tensor};

use crate::embedder::{EmbedError, Embedder, Fingerprint, normalise};
use directory::{Directory, Pooling};
use encoder::Encoder;
use tokens::Tokens;

pub use directory::TransformerError;

/// Texts that are passed through the model at once; of nearly equal length, so that little is padded.
const BATCH_TEXTS: usize = 16;

/// A model in memory.
pub struct Transformer {
    tokens: Tokens,
    encoder: Encoder,
    pooling: Pooling,
    is_normalised: bool,
    dimensions: usize,
    fingerprint: Fingerprint,
}

impl std::fmt::Debug for Transformer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Transformer").field(&self.fingerprint).finish()
    }
}

impl Transformer {
    /// Reads a directory as the sentence-transformers library writes it.
    pub fn open(directory: &Path) -> Result<Self, TransformerError> {
        let read = Directory::read(directory)?;
        let encoder = Encoder::new(&read.config, read.weights)
            .map_err(|source| TransformerError::Weights { path: directory.to_owned(), source: Box::new(source) })?;
        Ok(Self {
            tokens: read.tokens,
            encoder,
            pooling: read.pooling,
            is_normalised: read.is_normalised,
            dimensions: read.config.hidden_size,
            fingerprint: read.fingerprint,
        })
    }

    fn vectors(&self, batch: &[(usize, Vec<u32>)]) -> candle_core::Result<Vec<Vec<f32>>> {
        let longest = batch.iter().map(|(_, ids)| ids.len()).max().unwrap_or(0);
        let (mut ids, mut mask) = (Vec::new(), Vec::new());
        for (_, text) in batch {
            let padding = longest - text.len();
            ids.extend(text.iter().copied().chain(std::iter::repeat_n(0, padding)));
            mask.extend(std::iter::repeat_n(1.0_f32, text.len()).chain(std::iter::repeat_n(0.0, padding)));
        }
        let ids = Tensor::from_vec(ids, (batch.len(), longest), &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, (batch.len(), longest), &Device::Cpu)?;
        let states = self.encoder.states(&ids, &mask)?;
        let pooled = match self.pooling {
            Pooling::First => states.narrow(1, 0, 1)?.squeeze(1)?,
            Pooling::Mean => {
                let sums = states.broadcast_mul(&mask.unsqueeze(2)?)?.sum(1)?;
                sums.broadcast_div(&mask.sum_keepdim(1)?)?
            }
        };
        pooled.to_vec2()
    }
}

impl Embedder for Transformer {
    fn fingerprint(&self) -> Fingerprint {
        self.fingerprint.clone()
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let ids = texts.iter().map(|text| self.tokens.ids(text)).collect::<Result<Vec<_>, _>>();
        let mut ids: Vec<_> = ids.map_err(EmbedError::Refused)?.into_iter().enumerate().collect();
        ids.sort_by_key(|(_, ids)| ids.len());
        let mut vectors = vec![Vec::new(); texts.len()];
        for batch in ids.chunks(BATCH_TEXTS) {
            let found = self.vectors(batch).map_err(|error| EmbedError::Refused(Box::new(error)))?;
            for ((place, _), mut vector) in batch.iter().zip(found) {
                if self.is_normalised {
                    normalise(&mut vector);
                }
                vectors[*place] = vector;
            }
        }
        Ok(vectors)
    }
}
