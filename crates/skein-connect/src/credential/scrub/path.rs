//! Remembers where the bytes of each reading stand in the text, to find where a reading began.
//!
//! Readings that part share what they have in common. Each byte points to the one before it and to one farther back, so a
//! beginning is found in logarithmic time.

use std::collections::VecDeque;

/// A byte of one or more readings.
#[derive(Debug)]
struct Node {
    /// Where its character stands.
    start: usize,
    before: usize,
    far: usize,
    /// How many bytes back `far` is; 0 at the first byte of a reading.
    span: usize,
}

/// The bytes of all open readings, by ascending place.
#[derive(Debug, Default)]
pub(super) struct Paths {
    nodes: VecDeque<Node>,
    /// The number of the first node that is kept.
    first: usize,
}

impl Paths {
    /// Adds a byte to a reading, or begins one.
    pub(super) fn add(&mut self, before: Option<usize>, start: usize) -> usize {
        let number = self.first + self.nodes.len();
        let node = match before {
            None => Node { start, before: number, far: number, span: 0 },
            Some(before) => {
                let (far, span) = self.far(before);
                Node { start, before, far, span }
            }
        };
        self.nodes.push_back(node);
        number
    }

    /// Two spans of one length are followed by one over both (a skew-binary list).
    fn far(&self, before: usize) -> (usize, usize) {
        let twice = self.get(before).and_then(|node| {
            let far = self.get(node.far).filter(|far| node.span > 0 && far.span == node.span)?;
            Some((far.far, 1 + node.span + far.span))
        });
        twice.unwrap_or((before, 1))
    }

    /// Where the character stands with which the last `bytes` up to a node begin, and in how many steps that was found.
    pub(super) fn start(&self, node: usize, bytes: usize) -> (usize, usize) {
        let (mut number, mut back, mut steps) = (node, bytes - 1, 1);
        while back > 0
            && let Some(node) = self.get(number)
        {
            let is_far = (1..=back).contains(&node.span);
            (number, back) = if is_far { (node.far, back - node.span) } else { (node.before, back - 1) };
            steps += 1;
        }
        let kept = self.get(number).or(self.nodes.front());
        (kept.map_or(0, |node| node.start), steps)
    }

    /// Forgets what stands before a place where no open reading began.
    pub(super) fn forget(&mut self, before: usize) {
        while self.nodes.front().is_some_and(|node| node.start < before) {
            self.nodes.pop_front();
            self.first += 1;
        }
    }

    fn get(&self, number: usize) -> Option<&Node> {
        self.nodes.get(number.checked_sub(self.first)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_start_of_a_reading_is_found_in_few_steps() {
        let mut paths = Paths::default();
        let mut last = None;
        for place in 0..100_000 {
            last = Some(paths.add(last, place));
            paths.forget(place.saturating_sub(8_000));
        }
        for bytes in 1..=8_000 {
            let (start, steps) = paths.start(last.unwrap(), bytes);
            assert_eq!(start, 100_000 - bytes);
            assert!(steps <= 60, "{bytes}: {steps}");
        }
    }

    #[test]
    fn readings_that_part_keep_their_own_beginnings() {
        let mut paths = Paths::default();
        let shared = paths.add(None, 3);
        let one = paths.add(Some(shared), 4);
        let other = paths.add(None, 4);
        let (one, other) = (paths.add(Some(one), 7), paths.add(Some(other), 7));
        assert_eq!([paths.start(one, 3).0, paths.start(one, 2).0, paths.start(other, 2).0], [3, 4, 4]);
    }
}
