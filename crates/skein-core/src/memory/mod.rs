//! Defines memory: episodes, from which recall finds every message again.

pub mod episode;
pub mod recalled_text;
