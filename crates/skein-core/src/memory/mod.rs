//! What is remembered: episodes, from which everything said is found again.

pub mod episode;
pub mod recalled_text;
