//! One bit per dimension after a random rotation: a first look at a million vectors in a few milliseconds.
//!
//! The rotation is signs and Hadamard transforms, so it needs no matrix; its signs come from a fixed seed, so sketches
//! made by any build agree. Distances are counts of differing bits.

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

/// How many bits of each sketch differ from the question's, in order.
pub(crate) fn distances(question: &[u8], sketches: &[u8], out: &mut [u16]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
        #[expect(unsafe_code, reason = "the features the function is compiled for were just found on this processor")]
        unsafe {
            distances_avx2(question, sketches, out);
        }
        return;
    }
    distances_any(question, sketches, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,popcnt")]
fn distances_avx2(question: &[u8], sketches: &[u8], out: &mut [u16]) {
    distances_any(question, sketches, out);
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled with the features of its caller")]
fn distances_any(question: &[u8], sketches: &[u8], out: &mut [u16]) {
    match question.len() {
        32 => distances_of::<4>(question, sketches, out),
        64 => distances_of::<8>(question, sketches, out),
        _ => {
            for (sketch, out) in sketches.chunks_exact(question.len()).zip(out) {
                let pairs = sketch.chunks_exact(8).zip(question.chunks_exact(8));
                *out = pairs.map(|(a, b)| differing(a, b)).sum();
            }
        }
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled with the features of its caller")]
#[expect(clippy::cast_possible_truncation, reason = "at most 64 bits in each of at most eight words")]
fn distances_of<const WORDS: usize>(question: &[u8], sketches: &[u8], out: &mut [u16]) {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("chunks have eight bytes"));
    let mut asked = [0; WORDS];
    asked.iter_mut().zip(question.chunks_exact(8)).for_each(|(asked, bytes)| *asked = word(bytes));
    for (sketch, out) in sketches.chunks_exact(WORDS * 8).zip(out) {
        let mut sum = 0;
        for place in 0..WORDS {
            sum += (word(&sketch[place * 8..place * 8 + 8]) ^ asked[place]).count_ones();
        }
        *out = sum as u16;
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "it must be compiled with the features of its caller")]
#[expect(clippy::cast_possible_truncation, reason = "at most 64 bits differ")]
fn differing(a: &[u8], b: &[u8]) -> u16 {
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("chunks have eight bytes"));
    (word(a) ^ word(b)).count_ones() as u16
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
        let mut found = [0; 3];
        let three = [&vector, &near, &far].map(|vector| sketcher.sketch(vector)).concat();
        distances(&sketcher.sketch(&vector), &three, &mut found);
        assert_eq!((found[0], found[2]), (0, 256));
        assert!(found[1] < 40, "{}", found[1]);
    }

    #[test]
    fn every_width_counts_the_same_bits() {
        for dimensions in [3_u16, 64, 256, 384, 1536] {
            let sketcher = Sketcher::new(usize::from(dimensions));
            let vector = |seed: f32| (0..dimensions).map(|place| (f32::from(place) * seed).sin()).collect::<Vec<_>>();
            let (a, b) = (sketcher.sketch(&vector(1.3)), sketcher.sketch(&vector(2.7)));
            let mut found = [0];
            distances(&a, &b, &mut found);
            let bits: u32 = a.iter().zip(&b).map(|(a, b)| (a ^ b).count_ones()).sum();
            assert_eq!(u32::from(found[0]), bits);
        }
    }
}
