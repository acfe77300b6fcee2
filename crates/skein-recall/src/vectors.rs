//! The vectors of one owner: a row of int8 each, and its sketch in a file of its own so that scanning touches little.

use std::ops::Range;
use std::path::Path;

use crate::append_file::{AppendFile, Kind, Mapped};
use crate::embedder::Fingerprint;
use crate::error::OpenError;
use crate::simd::{both, product};
use crate::sketch::{Sketcher, distance, near};
use crate::visible_rows::RowSet;

/// Sketches by which it is guessed how near the nearest are, and how many times as many as are wanted to be sure of.
const GUESSED_BY: usize = 1_024;
const GUESSED_TIMES: usize = 4;
/// Up to so many rows every vector is compared; above, only those with the nearest sketches.
const SCANNED_WHOLE_MAX: u32 = 16_384;

/// The files, at their growing end.
pub(crate) struct VectorFiles {
    rows: AppendFile,
    sketches: AppendFile,
    sketcher: Sketcher,
    dimensions: usize,
}

/// The vectors at one moment.
#[derive(Clone)]
pub(crate) struct Vectors {
    rows: Mapped,
    sketches: Mapped,
    sketcher: Sketcher,
    dimensions: usize,
}

/// A question's vector, quantised like the rows it is compared with.
pub(crate) struct QueryVector {
    numbers: Vec<u8>,
    scale: f32,
    sketch: Vec<u8>,
}

impl VectorFiles {
    fn kinds(fingerprint: &Fingerprint, dimensions: usize) -> [Kind; 2] {
        ["vectors 2", "sketches 2"].map(|name| Kind { name, make: format!("{dimensions} {}", fingerprint.as_str()) })
    }

    pub(crate) fn create(folder: &Path, fingerprint: &Fingerprint, dimensions: usize) -> Result<Self, OpenError> {
        let [rows, sketches] = Self::kinds(fingerprint, dimensions);
        Ok(Self {
            rows: AppendFile::create(&folder.join("vectors"), &rows)?,
            sketches: AppendFile::create(&folder.join("sketches"), &sketches)?,
            sketcher: Sketcher::new(dimensions),
            dimensions,
        })
    }

    /// Opens both files with `count` rows; what stands behind is cut.
    pub(crate) fn open(
        folder: &Path,
        fingerprint: &Fingerprint,
        dimensions: usize,
        count: u32,
    ) -> Result<Self, OpenError> {
        let [row_kind, sketch_kind] = Self::kinds(fingerprint, dimensions);
        let sketcher = Sketcher::new(dimensions);
        let bytes = |stride: usize| u64::from(count) * stride as u64;
        Ok(Self {
            rows: AppendFile::open(&folder.join("vectors"), &row_kind, bytes(stride(dimensions)))?,
            sketches: AppendFile::open(&folder.join("sketches"), &sketch_kind, bytes(sketcher.bytes()))?,
            sketcher,
            dimensions,
        })
    }

    /// Adds rows in order; a row without a vector takes its place with zeros.
    pub(crate) fn append(&mut self, vectors: &[Option<&[f32]>]) -> std::io::Result<()> {
        let mut rows = Vec::with_capacity(vectors.len() * stride(self.dimensions));
        let mut sketches = Vec::with_capacity(vectors.len() * self.sketcher.bytes());
        for vector in vectors {
            if let Some(vector) = vector {
                let (numbers, scale) = quantised(vector);
                sketches.extend(self.sketcher.sketch(&steps(&numbers).collect::<Vec<_>>()));
                rows.extend(scale.to_le_bytes());
                rows.extend(numbers);
            } else {
                rows.resize(rows.len() + 4 + self.dimensions, 0);
                sketches.resize(sketches.len() + self.sketcher.bytes(), 0);
            }
            rows.resize(rows.len().next_multiple_of(4), 0);
        }
        self.rows.append(&rows)?;
        self.sketches.append(&sketches)
    }

    pub(crate) fn sync(&self) -> std::io::Result<()> {
        self.rows.sync()?;
        self.sketches.sync()
    }

    pub(crate) fn rest(&mut self) {
        self.rows.rest();
        self.sketches.rest();
    }

    pub(crate) fn map(&self) -> Result<Vectors, OpenError> {
        let (sketcher, dimensions) = (self.sketcher.clone(), self.dimensions);
        Ok(Vectors { rows: self.rows.map()?, sketches: self.sketches.map()?, sketcher, dimensions })
    }
}

impl Vectors {
    pub(crate) fn asked(&self, vector: &[f32]) -> QueryVector {
        let (numbers, scale) = quantised(vector);
        let sketch = self.sketcher.sketch(&steps(&numbers).collect::<Vec<_>>());
        QueryVector { numbers, scale, sketch }
    }

    /// The cosine of a row and the question.
    #[expect(clippy::cast_precision_loss, reason = "far finer than the steps of the numbers")]
    pub(crate) fn similarity(&self, asked: &QueryVector, row: u32) -> f32 {
        let (scale, numbers) = self.row(row);
        product(numbers, &asked.numbers) as f32 * scale * asked.scale
    }

    /// The vector of a row, as far as quantising left it.
    pub(crate) fn vector(&self, row: u32) -> Vec<f32> {
        let (scale, numbers) = self.row(row);
        steps(numbers).map(|number| number * scale).collect()
    }

    fn row(&self, row: u32) -> (f32, &[u8]) {
        let stride = stride(self.dimensions);
        let bytes = &self.rows.bytes()[row as usize * stride..][..4 + self.dimensions];
        let (scale, numbers) = bytes.split_at(4);
        (f32::from_le_bytes(scale.try_into().expect("the scale has four bytes")), numbers)
    }

    /// The rows of `among` that may be nearest, at least `wanted` of them if there are.
    pub(crate) fn candidates(&self, asked: &QueryVector, among: &RowSet, count: u32, wanted: usize) -> Vec<u32> {
        if count <= SCANNED_WHOLE_MAX || among.count() as usize <= wanted {
            return among.iter().collect();
        }
        let guess = self.guess(asked, among, wanted);
        let mut near = self.near(asked, among, count, guess);
        if near.len() < wanted && guess < u16::MAX {
            near = self.near(asked, among, count, u16::MAX);
        }
        let mut counts = vec![0_usize; self.sketcher.bytes() * 8 + 1];
        for (_, far) in &near {
            counts[usize::from(*far)] += 1;
        }
        let mut sum = 0;
        let limit = counts.iter().take_while(|count| {
            sum += **count;
            sum < wanted
        });
        let limit = limit.count();
        near.into_iter().filter(|(_, far)| usize::from(*far) <= limit).map(|(row, _)| row).collect()
    }

    /// A distance within which more are than are wanted, by those of a few.
    fn guess(&self, asked: &QueryVector, among: &RowSet, wanted: usize) -> u16 {
        let count = among.count() as usize;
        let width = self.sketcher.bytes();
        let sketch = |row: u32| &self.sketches.bytes()[row as usize * width..][..width];
        let sample = among.every(count.div_ceil(GUESSED_BY).max(1)).into_iter();
        let mut far: Vec<u16> = sample.map(|row| distance(&asked.sketch, sketch(row))).collect();
        far.sort_unstable();
        let place = (far.len() * wanted * GUESSED_TIMES).div_ceil(count.max(1)) + GUESSED_TIMES;
        far.get(place).copied().unwrap_or(u16::MAX)
    }

    /// Those of `among` whose sketches are no farther than `limit`, in order; each half of all by a thread of its own.
    fn near(&self, asked: &QueryVector, among: &RowSet, count: u32, limit: u16) -> Vec<(u32, u16)> {
        let width = self.sketcher.bytes();
        let scan = |rows: Range<u32>| {
            let sketches = &self.sketches.bytes()[rows.start as usize * width..rows.end as usize * width];
            let mut found = Vec::new();
            near(&asked.sketch, sketches, limit, &mut |place, far| {
                let row = rows.start + u32::try_from(place).expect("rows are counted in 32 bits");
                if among.has(row) {
                    found.push((row, far));
                }
            });
            found
        };
        let (mut left, right) = both(|| scan(0..count / 2), || scan(count / 2..count));
        left.extend(right);
        left
    }
}

/// A vector as the index keeps it, in a byte for each number, for callers that store many of them.
pub fn packed(vector: &[f32]) -> Vec<u8> {
    let (numbers, scale) = quantised(vector);
    scale.to_le_bytes().into_iter().chain(numbers).collect()
}

/// The vector that was packed; `None` for bytes that are none. Packing it again gives the same bytes.
pub fn unpacked(bytes: &[u8]) -> Option<Vec<f32>> {
    let (scale, numbers) = bytes.split_first_chunk::<4>()?;
    let scale = f32::from_le_bytes(*scale);
    let has_direction = scale.is_finite() && scale > 0.0 && numbers.iter().any(|number| *number != 0);
    has_direction.then(|| steps(numbers).map(|number| number * scale).collect())
}

fn stride(dimensions: usize) -> usize {
    (4 + dimensions).next_multiple_of(4)
}

fn steps(numbers: &[u8]) -> impl Iterator<Item = f32> {
    numbers.iter().map(|number| f32::from(number.cast_signed()))
}

/// The vector in steps of its largest number, signed bytes, and the size of a step at which these have length one: of
/// what is kept, not of what was given, so that a vector read and kept again stays the same to the last bit.
#[expect(clippy::cast_possible_truncation, reason = "none is larger than the largest, which becomes 127")]
fn quantised(vector: &[f32]) -> (Vec<u8>, f32) {
    let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let step = |number: &f32| ((number / largest * 127.0).round() as i8).cast_unsigned();
    let numbers: Vec<u8> = vector.iter().map(step).collect();
    let squares: f64 = steps(&numbers).map(|number| f64::from(number) * f64::from(number)).sum();
    (numbers, squares.sqrt().recip() as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_vector_points_where_it_pointed() {
        let vector = [0.6_f32, -0.8, 0.0, 0.001];
        let bytes = packed(&vector);
        assert_eq!(bytes.len(), 8);
        let back = unpacked(&bytes).unwrap();
        assert!(vector.iter().zip(&back).all(|(a, b)| (a - b).abs() < 0.01), "{back:?}");
    }

    #[test]
    fn a_vector_that_is_read_and_kept_again_is_the_same_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let mut files = VectorFiles::create(folder.path(), &Fingerprint::new("test"), 64).unwrap();
        for seed in 1..=100_u16 {
            let vector: Vec<f32> = (1..=64_u16).map(|place| f32::from(place * seed).sin() / f32::from(seed)).collect();
            let bytes = packed(&vector);
            assert_eq!(packed(&unpacked(&bytes).unwrap()), bytes, "{seed}");
            files.append(&[Some(&vector)]).unwrap();
            let row = u32::from(seed - 1) * 2;
            let kept = files.map().unwrap().vector(row);
            files.append(&[Some(&kept)]).unwrap();
            let both = files.map().unwrap();
            assert_eq!(both.row(row), both.row(row + 1), "{seed}");
            let sketches = both.sketches.bytes().chunks_exact(both.sketcher.bytes());
            let [first, second] = sketches.skip(row as usize).collect::<Vec<_>>()[..] else { panic!("two rows") };
            assert_eq!(first, second, "{seed}");
        }
    }

    #[test]
    fn bytes_that_are_no_vector_are_none() {
        for bytes in [&[][..], &[0; 3], &[0; 8], &[0, 0, 128, 63], &[0, 0, 192, 127, 1, 1], &[0, 0, 128, 191, 1]] {
            assert_eq!(unpacked(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn among_many_those_with_the_nearest_sketches_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let count = u16::try_from(SCANNED_WHOLE_MAX).unwrap() + 500;
        let vector = |seed: u16| (1..=64_u16).map(|place| f32::from(place * (seed % 997 + 1)).sin()).collect();
        let vectors: Vec<Vec<f32>> = (0..count).map(vector).collect();
        let mut files = VectorFiles::create(folder.path(), &Fingerprint::new("test"), 64).unwrap();
        files.append(&vectors.iter().map(|vector| Some(vector.as_slice())).collect::<Vec<_>>()).unwrap();
        let kept = files.map().unwrap();
        let mut among = RowSet::default();
        (0..count).for_each(|row| among.push(row % 3 != 0));
        let asked = kept.asked(&vectors[5_000]);
        let sketches = kept.sketches.bytes().chunks_exact(kept.sketcher.bytes());
        let far: Vec<u16> = sketches.map(|sketch| distance(&asked.sketch, sketch)).collect();
        for wanted in [1, 300, 20_000] {
            let found = kept.candidates(&asked, &among, u32::from(count), wanted);
            let farthest = found.iter().map(|row| far[*row as usize]).max().unwrap();
            let all: Vec<u32> = among.iter().filter(|row| far[*row as usize] <= farthest).collect();
            assert_eq!(found, all, "all that are as near, and none besides");
            assert!(found.len() >= wanted.min(among.count() as usize), "{} of {wanted}", found.len());
            let nearer = found.iter().filter(|row| far[**row as usize] < farthest).count();
            assert!(nearer < wanted, "{nearer} would have been enough for {wanted}");
        }
    }
}
