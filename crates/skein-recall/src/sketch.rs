//! One bit per dimension after a random rotation: a first look at a million vectors in a few milliseconds.
//!
//! The rotation is signs and Hadamard transforms, so it needs no matrix; its signs come from a fixed seed, so sketches
//! made by any build agree. Distances are counts of differing bits.

use crate::simd::widened;

/// Rotates vectors of one length and keeps the signs.
#[derive(Debug, Clone)]
pub(crate) struct Sketcher {
    signs: [Vec<f32>; ROUNDS],
}

const ROUNDS: usize = 2;
const SEED: u64 = 0x5eed_0f5c_e1a5_7001;

impl Sketcher {
    pub(crate) fn new(dimensions: usize) -> Self {
        let width = dimensions.next_power_of_two().max(64);
        let mut state = SEED;
        let mut sign = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            if state.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
        };
        Self { signs: std::array::from_fn(|_| (0..width).map(|_| sign()).collect()) }
    }

    /// Bytes of one sketch.
    pub(crate) fn bytes(&self) -> usize {
        self.signs[0].len() / 8
    }

    pub(crate) fn sketch(&self, vector: &[f32]) -> Vec<u8> {
        let mut turned = vec![0.0; self.signs[0].len()];
        turned[..vector.len()].copy_from_slice(vector);
        for signs in &self.signs {
            turned.iter_mut().zip(signs).for_each(|(number, sign)| *number *= sign);
            hadamard(&mut turned);
        }
        let bits = turned.chunks_exact(8);
        bits.map(|eight| (0..8).fold(0, |byte, bit| byte | u8::from(eight[bit] > 0.0) << bit)).collect()
    }
}

fn hadamard(numbers: &mut [f32]) {
    let mut half = 1;
    while half < numbers.len() {
        for block in numbers.chunks_exact_mut(half * 2) {
            let (left, right) = block.split_at_mut(half);
            for (a, b) in left.iter_mut().zip(right) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}

widened!(
    /// Tells the place of every sketch of which no more than `limit` bits differ from the question's, and how many do.
    near, near_any, (question: &[u8], sketches: &[u8], limit: u16, tell: &mut impl FnMut(usize, u16))
);

#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled with the features of its caller")]
fn near_any(question: &[u8], sketches: &[u8], limit: u16, tell: &mut impl FnMut(usize, u16)) {
    match question.len() {
        32 => near_of::<4>(question, sketches, limit, tell),
        64 => near_of::<8>(question, sketches, limit, tell),
        width => {
            for (place, sketch) in sketches.chunks_exact(width).enumerate() {
                let distance = distance(question, sketch);
                if distance <= limit {
                    tell(place, distance);
                }
            }
        }
    }
}

/// How many bits of two sketches differ.
#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled with the features of its caller")]
#[expect(clippy::cast_possible_truncation, reason = "sketches have far fewer bits than 16 bits count")]
pub(crate) fn distance(a: &[u8], b: &[u8]) -> u16 {
    let pairs = a.chunks_exact(8).zip(b.chunks_exact(8));
    pairs.map(|(a, b)| (word(a) ^ word(b)).count_ones()).sum::<u32>() as u16
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled with the features of its caller")]
fn near_of<const WORDS: usize>(question: &[u8], sketches: &[u8], limit: u16, tell: &mut impl FnMut(usize, u16)) {
    let mut asked = [0; WORDS];
    asked.iter_mut().zip(question.chunks_exact(8)).for_each(|(asked, bytes)| *asked = word(bytes));
    for (place, sketch) in sketches.chunks_exact(WORDS * 8).enumerate() {
        let mut sum = 0;
        for at in 0..WORDS {
            sum += (word(&sketch[at * 8..at * 8 + 8]) ^ asked[at]).count_ones();
        }
        if sum <= u32::from(limit) {
            #[expect(clippy::cast_possible_truncation, reason = "it is no more than the limit")]
            tell(place, sum as u16);
        }
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled with the features of its caller")]
fn word(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes.try_into().expect("chunks have eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_vectors_have_near_sketches() {
        let sketcher = Sketcher::new(256);
        let vector: Vec<f32> = (0_u8..=255).map(|place| f32::from(place).sin()).collect();
        let near: Vec<f32> =
            vector.iter().zip(0_u16..).map(|(number, place)| number + f32::from(place % 3) * 0.05).collect();
        let far: Vec<f32> = vector.iter().map(|number| -number).collect();
        let asked = sketcher.sketch(&vector);
        let found = [&vector, &near, &far].map(|vector| distance(&asked, &sketcher.sketch(vector)));
        assert_eq!((found[0], found[2]), (0, 256));
        assert!(found[1] < 40, "{}", found[1]);
    }

    #[test]
    fn every_width_tells_the_same_as_bits_that_are_counted_one_by_one() {
        for dimensions in [3_u16, 64, 256, 384, 512, 1536] {
            let sketcher = Sketcher::new(usize::from(dimensions));
            let vector =
                |seed: u16| (0..dimensions).map(move |place| f32::from(place * 3 + seed * 7).sin()).collect::<Vec<_>>();
            let asked = sketcher.sketch(&vector(0));
            let kept: Vec<Vec<u8>> = (0..50).map(|seed| sketcher.sketch(&vector(seed))).collect();
            let bits = |sketch: &Vec<u8>| asked.iter().zip(sketch).map(|(a, b)| (a ^ b).count_ones()).sum::<u32>();
            for limit in [0, 10, dimensions / 2, u16::MAX] {
                let mut found = Vec::new();
                near(&asked, &kept.concat(), limit, &mut |place, far| found.push((place, u32::from(far))));
                let counted = kept.iter().map(bits).enumerate().filter(|(_, far)| *far <= u32::from(limit));
                assert_eq!(found, counted.collect::<Vec<_>>(), "{dimensions} and {limit}");
            }
        }
    }
}
