//! Defines embedders, and checks every vector that one of them returns.
//!
//! Endpoints, model directories and the built-in table all stand behind [`Embedder`]. Nobody uses their output
//! unchecked: [`embed_checked`] refuses a wrong count, a wrong length, numbers that are none, and nothing at all.

/// Names an embedder for good: vectors of different fingerprints are never compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fingerprint(String);

impl Fingerprint {
    /// Longest fingerprint in bytes; a longer one is cut at a character.
    pub const BYTES_MAX: usize = 128;

    pub fn new(text: &str) -> Self {
        let mut end = text.len().min(Self::BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        Self(text[..end].to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is embedded of an episode: who said it stands before what was said.
pub fn embedded_text(speaker: &str, text: &str) -> String {
    if speaker.is_empty() { text.to_owned() } else { format!("{speaker}: {text}") }
}

/// Makes one vector for each text. Calls block; call from a blocking thread.
pub trait Embedder: Send + Sync {
    /// The same for every build and machine as long as equal texts give equal vectors.
    fn fingerprint(&self) -> Fingerprint;

    /// How many numbers each vector has.
    fn dimensions(&self) -> usize;

    /// One vector per text, in order. Call [`embed_checked`] instead: it checks what comes out of here.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;
}

/// Why texts have no vectors now. Words still answer.
#[derive(Debug, thiserror::Error)]
pub enum EmbedError {
    #[error("{wanted} texts were sent and {found} vectors came back")]
    Count { wanted: usize, found: usize },
    #[error("vector {position} has {found} dimensions instead of {wanted}")]
    Dimensions { position: usize, wanted: usize, found: usize },
    #[error("vector {position} holds a number that is not finite")]
    NotFinite { position: usize },
    #[error("vector {position} is zero and points nowhere")]
    Zero { position: usize },
    #[error("the embedder could not be reached")]
    Unavailable(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("the embedder refused the texts")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl EmbedError {
    /// Whether the same texts may fare better later.
    pub fn is_passing(&self) -> bool {
        !matches!(self, Self::Refused(_))
    }
}

/// A vector of length one, or why this text has none; one bad vector spoils no other.
pub type CheckedVector = Result<Vec<f32>, EmbedError>;

/// The checked vectors of `texts`, in order; an error of the whole when nothing usable came back.
pub fn embed_checked(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<CheckedVector>, EmbedError> {
    check_vectors(embedder.embed(texts)?, texts.len(), embedder.dimensions())
}

/// Checks what came for `texts` texts, wherever it came from.
pub fn check_vectors(
    vectors: Vec<Vec<f32>>,
    texts: usize,
    dimensions: usize,
) -> Result<Vec<CheckedVector>, EmbedError> {
    if vectors.len() != texts {
        return Err(EmbedError::Count { wanted: texts, found: vectors.len() });
    }
    Ok(vectors.into_iter().enumerate().map(|(position, vector)| checked(position, dimensions, vector)).collect())
}

fn checked(position: usize, wanted: usize, mut vector: Vec<f32>) -> CheckedVector {
    if vector.len() != wanted {
        return Err(EmbedError::Dimensions { position, wanted, found: vector.len() });
    }
    if !vector.iter().all(|number| number.is_finite()) {
        return Err(EmbedError::NotFinite { position });
    }
    if !normalise(&mut vector) {
        return Err(EmbedError::Zero { position });
    }
    Ok(vector)
}

/// Brings a vector to length one; false when it has no direction.
pub(crate) fn normalise(vector: &mut [f32]) -> bool {
    let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    if largest == 0.0 || !vector.iter().all(|number| number.is_finite()) {
        return false;
    }
    // Scaled first, so that the squares of very large or small numbers neither overflow nor vanish.
    for number in vector.iter_mut() {
        *number /= largest;
    }
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    for number in vector.iter_mut() {
        *number /= length;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Saying(Vec<Vec<f32>>);

    impl Embedder for Saying {
        fn fingerprint(&self) -> Fingerprint {
            Fingerprint::new("saying")
        }

        fn dimensions(&self) -> usize {
            2
        }

        fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
            Ok(self.0.clone())
        }
    }

    fn answer(vectors: Vec<Vec<f32>>) -> Result<Vec<Vec<f32>>, EmbedError> {
        embed_checked(&Saying(vectors), &["a", "b"])?.into_iter().collect()
    }

    #[test]
    fn good_vectors_come_out_with_length_one() {
        let vectors = answer(vec![vec![3.0, 4.0], vec![1e-30, 0.0]]).unwrap();
        assert!((vectors[0][0] - 0.6).abs() < 1e-6 && (vectors[1][0] - 1.0).abs() < 1e-6);
    }

    #[test]
    fn every_bad_answer_is_refused_by_name() {
        let good = || vec![1.0, 0.0];
        assert!(matches!(answer(vec![]), Err(EmbedError::Count { wanted: 2, found: 0 })));
        assert!(matches!(answer(vec![good(), vec![1.0]]), Err(EmbedError::Dimensions { position: 1, .. })));
        assert!(matches!(answer(vec![good(), vec![f32::NAN, 1.0]]), Err(EmbedError::NotFinite { position: 1 })));
        assert!(matches!(answer(vec![good(), vec![f32::INFINITY, 1.0]]), Err(EmbedError::NotFinite { .. })));
        assert!(matches!(answer(vec![vec![0.0, 0.0], good()]), Err(EmbedError::Zero { position: 0 })));
    }

    #[test]
    fn a_long_fingerprint_is_cut_at_a_character() {
        let long = "é".repeat(Fingerprint::BYTES_MAX);
        assert_eq!(Fingerprint::new(&long).as_str().len(), Fingerprint::BYTES_MAX);
    }
}
