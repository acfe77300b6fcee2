//! Cuts texts into the tokens of a model, by its `tokenizer.json` or, as BERT did first, by its `vocab.txt`.

use std::borrow::Cow;

use tokenizers::models::wordpiece::WordPiece;
use tokenizers::normalizers::BertNormalizer;
use tokenizers::pre_tokenizers::bert::BertPreTokenizer;
use tokenizers::processors::bert::BertProcessing;
use tokenizers::{Tokenizer, TruncationParams};

const UNKNOWN: &str = "[UNK]";
/// Bytes of a text that are looked at for each token that counts; what is beyond would be cut anyway.
const BYTES_PER_TOKEN: usize = 64;

pub(super) struct Tokens {
    tokenizer: Tokenizer,
    /// Longest text in tokens, with those that mark its ends.
    longest: usize,
    in_lower_case: bool,
}

impl Tokens {
    pub(super) fn from_document(bytes: &[u8]) -> Result<Self, String> {
        Tokenizer::from_bytes(bytes).map(Self::of).map_err(|error| format!("tokenizer.json: {error}"))
    }

    pub(super) fn from_vocabulary(bytes: &[u8], in_lower_case: bool) -> Result<Self, String> {
        let wrong = |error: tokenizers::Error| format!("vocab.txt: {error}");
        let vocabulary = WordPiece::read_bytes(bytes).map_err(wrong)?;
        let mark = |name: &str| match vocabulary.get(name) {
            Some(id) => Ok((name.to_owned(), *id)),
            None => Err(format!("vocab.txt: it has no {name}")),
        };
        let (first, last, _) = (mark("[CLS]")?, mark("[SEP]")?, mark(UNKNOWN)?);
        let model = WordPiece::builder().vocab(vocabulary).unk_token(UNKNOWN.to_owned()).build().map_err(wrong)?;
        let mut tokenizer = Tokenizer::new(model);
        let normalizer = BertNormalizer::new(true, true, None, in_lower_case);
        tokenizer.with_normalizer(Some(normalizer)).map_err(wrong)?;
        tokenizer.with_pre_tokenizer(Some(BertPreTokenizer));
        tokenizer.with_post_processor(Some(BertProcessing::new(last, first)));
        Ok(Self::of(tokenizer))
    }

    fn of(tokenizer: Tokenizer) -> Self {
        Self { tokenizer, longest: 0, in_lower_case: false }
    }

    /// Sets how long a text may be, whatever the tokenizer's own document says, and checks that the model knows all tokens.
    pub(super) fn bounded(mut self, longest: usize, in_lower_case: bool, known: usize) -> Result<Self, String> {
        let unbounded = self.tokenizer.with_padding(None).with_truncation(None);
        unbounded.map_err(|error| error.to_string())?;
        let marks = self.tokenizer.encode("", true).map_err(|error| error.to_string())?.len();
        if longest <= marks {
            return Err(format!("texts of {longest} tokens have no room for words"));
        }
        let largest = self.tokenizer.get_vocab(true).into_values().max().unwrap_or(0);
        if largest as usize >= known {
            return Err(format!("its tokenizer has a token {largest} and its model knows {known}"));
        }
        let limit = TruncationParams { max_length: longest, ..TruncationParams::default() };
        self.tokenizer.with_truncation(Some(limit)).map_err(|error| error.to_string())?;
        Ok(Self { longest, in_lower_case, ..self })
    }

    /// Never empty: the marks of the ends are among them.
    pub(super) fn ids(&self, text: &str) -> Result<Vec<u32>, tokenizers::Error> {
        let mut end = text.len().min(self.longest.saturating_mul(BYTES_PER_TOKEN));
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text =
            if self.in_lower_case { Cow::Owned(text[..end].to_lowercase()) } else { Cow::Borrowed(&text[..end]) };
        Ok(self.tokenizer.encode(text, true)?.get_ids().to_vec())
    }
}
