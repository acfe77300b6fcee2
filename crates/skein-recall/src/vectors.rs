//! The vectors of one owner: a row of int8 each, and its sketch in a file of its own so that scanning touches little.

use std::path::Path;

use crate::append_file::{AppendFile, Kind, Mapped};
use crate::embedder::Fingerprint;
use crate::error::OpenError;
use crate::sketch::{Sketcher, distances};
use crate::world::Bits;

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
pub(crate) struct Asked {
    numbers: Vec<i8>,
    scale: f32,
    sketch: Vec<u8>,
}

impl VectorFiles {
    fn kinds(fingerprint: &Fingerprint, dimensions: usize) -> [Kind; 2] {
        ["vectors 1", "sketches 1"].map(|name| Kind { name, make: format!("{dimensions} {}", fingerprint.as_str()) })
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
                rows.extend(scale.to_le_bytes());
                rows.extend(numbers.iter().map(|number| number.cast_unsigned()));
                sketches.extend(self.sketcher.sketch(vector));
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
    pub(crate) fn asked(&self, vector: &[f32]) -> Asked {
        let (numbers, scale) = quantised(vector);
        Asked { numbers, scale, sketch: self.sketcher.sketch(vector) }
    }

    /// The cosine of a row and the question.
    #[expect(clippy::cast_precision_loss, reason = "far finer than the steps of the numbers")]
    pub(crate) fn similarity(&self, asked: &Asked, row: u32) -> f32 {
        let (scale, numbers) = self.row(row);
        let product: i32 =
            numbers.iter().zip(&asked.numbers).map(|(a, b)| i32::from(a.cast_signed()) * i32::from(*b)).sum();
        product as f32 * scale * asked.scale
    }

    /// The vector of a row, as far as quantising left it.
    pub(crate) fn vector(&self, row: u32) -> Vec<f32> {
        let (scale, numbers) = self.row(row);
        numbers.iter().map(|number| f32::from(number.cast_signed()) * scale).collect()
    }

    fn row(&self, row: u32) -> (f32, &[u8]) {
        let stride = stride(self.dimensions);
        let bytes = &self.rows.bytes()[row as usize * stride..][..4 + self.dimensions];
        let (scale, numbers) = bytes.split_at(4);
        (f32::from_le_bytes(scale.try_into().expect("the scale has four bytes")), numbers)
    }

    /// The rows of `among` that may be nearest, at least `wanted` of them if there are.
    pub(crate) fn candidates(&self, asked: &Asked, among: &Bits, count: u32, wanted: usize) -> Vec<u32> {
        if count <= SCANNED_WHOLE_MAX {
            return among.iter().collect();
        }
        let mut found = vec![0; count as usize];
        let (width, half) = (self.sketcher.bytes(), found.len() / 2);
        let sketches = &self.sketches.bytes()[..found.len() * width];
        let (left, right) = found.split_at_mut(half);
        std::thread::scope(|scope| {
            scope.spawn(|| distances(&asked.sketch, &sketches[..half * width], left));
            distances(&asked.sketch, &sketches[half * width..], right);
        });
        let mut counts = vec![0_usize; width * 8 + 1];
        among.iter().for_each(|row| counts[usize::from(found[row as usize])] += 1);
        let mut sum = 0;
        let limit = counts.iter().position(|count| {
            sum += count;
            sum >= wanted
        });
        let limit = limit.unwrap_or(width * 8);
        among.iter().filter(|row| usize::from(found[*row as usize]) <= limit).collect()
    }
}

/// A vector as the index keeps it, in a byte for each number: for whoever keeps many of them.
pub fn packed(vector: &[f32]) -> Vec<u8> {
    let (numbers, scale) = quantised(vector);
    scale.to_le_bytes().into_iter().chain(numbers.into_iter().map(i8::cast_unsigned)).collect()
}

/// The vector that was packed; `None` for bytes that are none. Packing it again gives the same numbers.
pub fn unpacked(bytes: &[u8]) -> Option<Vec<f32>> {
    let (scale, numbers) = bytes.split_first_chunk::<4>()?;
    let scale = f32::from_le_bytes(*scale);
    let has_direction = scale.is_finite() && scale > 0.0 && numbers.iter().any(|number| *number != 0);
    has_direction.then(|| numbers.iter().map(|number| f32::from(number.cast_signed()) * scale).collect())
}

fn stride(dimensions: usize) -> usize {
    (4 + dimensions).next_multiple_of(4)
}

/// The vector at length one in steps of its largest number, and the size of a step.
#[expect(clippy::cast_possible_truncation, reason = "none is larger than the largest, which becomes 127")]
fn quantised(vector: &[f32]) -> (Vec<i8>, f32) {
    let length = vector.iter().map(|number| number * number).sum::<f32>().sqrt();
    let largest = vector.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
    let numbers = vector.iter().map(|number| (number / largest * 127.0).round() as i8).collect();
    (numbers, largest / 127.0 / length)
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
        assert_eq!(packed(&back)[4..], bytes[4..]);
    }

    #[test]
    fn bytes_that_are_no_vector_are_none() {
        for bytes in [&[][..], &[0; 3], &[0; 8], &[0, 0, 128, 63], &[0, 0, 192, 127, 1, 1], &[0, 0, 128, 191, 1]] {
            assert_eq!(unpacked(bytes), None, "{bytes:?}");
        }
    }
}
