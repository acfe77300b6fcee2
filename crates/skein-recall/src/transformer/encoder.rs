//! The encoder of BERT and `RoBERTa`: from tokens to a state for each of them.
//!
//! Our own two pages over candle's tensors: the crate that has all models takes longer to build than everything else of
//! this feature.

use candle_core::{DType, Device, Module as _, Result, Tensor};
use candle_nn::ops::softmax_last_dim;
use candle_nn::{Embedding, LayerNorm, Linear, VarBuilder, embedding, layer_norm, linear};

use super::directory::Config;

/// Added to the score of what is padding, so that its share is nothing.
const MASKED: f64 = -1e30;

pub(super) struct Encoder {
    words: Embedding,
    positions: Tensor,
    /// What every token of a single text is given.
    segment: Tensor,
    norm: LayerNorm,
    layers: Vec<Layer>,
}

impl Encoder {
    pub(super) fn new(config: &Config, weights: Vec<u8>) -> Result<Self> {
        let all = VarBuilder::from_buffered_safetensors(weights, DType::F32, &Device::Cpu)?;
        // A model that was trained for another end keeps its encoder below its own name.
        let is_there = |at: &VarBuilder<'_>| at.contains_tensor("embeddings.word_embeddings.weight");
        let below = ["bert", "roberta"].map(|prefix| all.pp(prefix)).into_iter().find(is_there);
        let root = if is_there(&all) { all } else { below.unwrap_or(all) };
        let (size, at) = (config.hidden_size, root.pp("embeddings"));
        let positions = config.max_position_embeddings;
        let table = at.pp("position_embeddings").get((positions, size), "weight")?;
        let first = config.first_position();
        let segments = at.pp("token_type_embeddings").get((config.type_vocab_size, size), "weight")?;
        let layer = |number: usize| Layer::new(config, &root.pp("encoder.layer").pp(number));
        Ok(Self {
            words: embedding(config.vocab_size, size, at.pp("word_embeddings"))?,
            positions: table.narrow(0, first, positions - first)?,
            segment: segments.get(0)?,
            norm: layer_norm(size, config.layer_norm_eps, at.pp("LayerNorm"))?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Result<_>>()?,
        })
    }

    /// The states of texts that were padded to one length; the mask is one where a token is and zero where none is.
    pub(super) fn states(&self, ids: &Tensor, mask: &Tensor) -> Result<Tensor> {
        let (_, length) = ids.dims2()?;
        let words = self.words.forward(ids)?;
        let placed = words.broadcast_add(&self.positions.narrow(0, 0, length)?)?.broadcast_add(&self.segment)?;
        let hidden = mask.affine(-MASKED, MASKED)?.unsqueeze(1)?.unsqueeze(1)?;
        self.layers.iter().try_fold(self.norm.forward(&placed)?, |states, layer| layer.forward(&states, &hidden))
    }
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    heard: Linear,
    heard_norm: LayerNorm,
    inner: Linear,
    outer: Linear,
    outer_norm: LayerNorm,
    heads: usize,
    is_relu: bool,
}

impl Layer {
    fn new(config: &Config, at: &VarBuilder<'_>) -> Result<Self> {
        let (size, inner, eps) = (config.hidden_size, config.intermediate_size, config.layer_norm_eps);
        let own = at.pp("attention.self");
        Ok(Self {
            query: linear(size, size, own.pp("query"))?,
            key: linear(size, size, own.pp("key"))?,
            value: linear(size, size, own.pp("value"))?,
            heard: linear(size, size, at.pp("attention.output.dense"))?,
            heard_norm: layer_norm(size, eps, at.pp("attention.output.LayerNorm"))?,
            inner: linear(size, inner, at.pp("intermediate.dense"))?,
            outer: linear(inner, size, at.pp("output.dense"))?,
            outer_norm: layer_norm(size, eps, at.pp("output.LayerNorm"))?,
            heads: config.num_attention_heads,
            is_relu: config.hidden_act == "relu",
        })
    }

    fn forward(&self, states: &Tensor, hidden: &Tensor) -> Result<Tensor> {
        let heard = self.heard.forward(&self.attention(states, hidden)?)?;
        let states = self.heard_norm.forward(&(heard + states)?)?;
        let inner = self.inner.forward(&states)?;
        let inner = if self.is_relu { inner.relu()? } else { inner.gelu_erf()? };
        self.outer_norm.forward(&(self.outer.forward(&inner)? + states)?)
    }

    fn attention(&self, states: &Tensor, hidden: &Tensor) -> Result<Tensor> {
        let (texts, length, size) = states.dims3()?;
        let width = size / self.heads;
        let of_heads = |part: &Linear| -> Result<Tensor> {
            part.forward(states)?.reshape((texts, length, self.heads, width))?.transpose(1, 2)?.contiguous()
        };
        let (query, key, value) = (of_heads(&self.query)?, of_heads(&self.key)?, of_heads(&self.value)?);
        #[expect(clippy::cast_precision_loss, reason = "the width of a head is a small number")]
        let scale = 1.0 / (width as f64).sqrt();
        let scores = (query.matmul(&key.transpose(2, 3)?.contiguous()?)? * scale)?.broadcast_add(hidden)?;
        let heard = softmax_last_dim(&scores)?.matmul(&value)?;
        heard.transpose(1, 2)?.contiguous()?.reshape((texts, length, size))
    }
}
