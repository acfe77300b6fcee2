//! Reads a text piece by piece, follows every reading of it, and passes on what holds no secret.

use std::collections::VecDeque;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::escape::{Text, Unit};
use super::path::Paths;
use super::{MARK, Patterns};

/// Most readings of one pattern in one place that do not follow from each other. Only a text that was made for it has more,
/// for a secret that repeats itself and looks like an escape.
const READINGS_MAX: usize = 8;

/// A secret that may be under way.
#[derive(Debug, Clone, Copy)]
struct SecretReading {
    pattern: usize,
    /// How many bytes of the pattern were read.
    state: usize,
    /// The last of these bytes.
    path: usize,
}

/// Scrubs pieces in order.
#[derive(Debug)]
pub struct ScrubStream {
    patterns: Option<Arc<Patterns>>,
    /// Bytes that were read or wait to be.
    text: Zeroizing<Vec<u8>>,
    /// Where `text` begins. All places count from the beginning of the stream.
    base: usize,
    /// The first byte that was not passed on.
    held: usize,
    /// The first byte that was not read.
    at: usize,
    /// The open readings by the place of their next character, from `at` on.
    readings: VecDeque<Vec<SecretReading>>,
    paths: Paths,
    /// Where secrets stand.
    spans: Vec<(usize, usize)>,
    found: bool,
    /// Whether the text has too many readings; then the rest of it is withheld.
    is_closed: bool,
    /// How many states, open readings and bytes of paths were looked at: the work.
    pub(super) steps: usize,
}

impl std::fmt::Debug for Patterns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Patterns(…)")
    }
}

impl ScrubStream {
    pub(super) fn new(patterns: Option<Arc<Patterns>>) -> Self {
        Self {
            patterns,
            text: Zeroizing::default(),
            base: 0,
            held: 0,
            at: 0,
            readings: VecDeque::new(),
            paths: Paths::default(),
            spans: Vec::new(),
            found: false,
            is_closed: false,
            steps: 0,
        }
    }

    /// What can be passed on after one more piece.
    pub fn push(&mut self, piece: &[u8]) -> Vec<u8> {
        let Some(patterns) = self.patterns.clone() else { return piece.to_vec() };
        if self.is_closed {
            return Vec::new();
        }
        self.text.extend_from_slice(piece);
        self.read(&patterns, false);
        let starts = self.readings.iter().flatten().map(|reading| self.start(reading));
        let hold = starts.min().unwrap_or(self.at);
        self.paths.forget(hold);
        self.complete_and_enqueue(hold)
    }

    /// What is left when there are no more pieces.
    pub fn finish(&mut self) -> Vec<u8> {
        let Some(patterns) = self.patterns.clone().filter(|_| !self.is_closed) else { return Vec::new() };
        self.read(&patterns, true);
        self.readings.clear();
        self.complete_and_enqueue(self.base + self.text.len())
    }

    /// Whether anything was taken out so far.
    pub fn has_found(&self) -> bool {
        self.found
    }

    /// Reads on as far as escapes are complete.
    fn read(&mut self, patterns: &Patterns, is_end: bool) {
        let bytes = std::mem::take(&mut self.text);
        let text = Text { bytes: &bytes, is_end };
        while let Some(byte) = bytes.get(self.at - self.base)
            && !self.is_closed
        {
            let is_open = self.readings.front().is_some_and(|open| !open.is_empty());
            let begins = patterns.begins[usize::from(*byte)];
            if is_open || begins {
                let Ok(units) = text.units(self.at - self.base) else { break };
                let open = self.readings.pop_front().unwrap_or_default();
                self.follow(patterns, &open, &units, begins);
            } else {
                self.readings.pop_front();
            }
            self.at += 1;
        }
        self.text = bytes;
    }

    /// Follows every secret that is under way here, or begins here, by every reading of the character.
    fn follow(&mut self, patterns: &Patterns, open: &[SecretReading], units: &[Option<Unit>], begins: bool) {
        let is_under_way = |pattern| open.iter().any(|reading| reading.pattern == pattern);
        let fresh = (0..patterns.all.len()).filter(|pattern| begins && !is_under_way(*pattern));
        let readings = open.iter().map(|reading| (reading.pattern, Some(*reading)));
        for (pattern, reading) in readings.chain(fresh.map(|pattern| (pattern, None))) {
            for unit in units.iter().flatten() {
                if let Some(reading) = self.advance(patterns, pattern, reading, unit)
                    && !self.keep(patterns, self.at + unit.len, reading)
                {
                    return self.close(open);
                }
            }
        }
    }

    /// The reading after one more character; of none, the one that begins with it.
    fn advance(
        &mut self,
        patterns: &Patterns,
        number: usize,
        reading: Option<SecretReading>,
        unit: &Unit,
    ) -> Option<SecretReading> {
        let pattern = &patterns.all[number];
        if matches!(unit.bytes(), [byte] if pattern.separates(*byte)) {
            return reading;
        }
        let (mut state, mut path) = reading.map_or((0, None), |reading| (reading.state, Some(reading.path)));
        for byte in unit.bytes() {
            let (next, steps) = pattern.next(state, *byte);
            self.steps += steps;
            state = next;
            path = (state > 0).then(|| self.paths.add(path.filter(|_| state > 1), self.at));
            if let Some(path) = path.filter(|_| state == pattern.len()) {
                self.found_at(SecretReading { pattern: number, state, path }, self.at + unit.len);
                state = pattern.border();
            }
        }
        path.filter(|_| state > 0).map(|path| SecretReading { pattern: number, state, path })
    }

    fn found_at(&mut self, reading: SecretReading, end: usize) {
        let (start, steps) = self.paths.start(reading.path, reading.state);
        self.steps += steps;
        match self.spans.last_mut() {
            Some(last) if (last.0..last.1).contains(&start) => last.1 = last.1.max(end),
            _ => self.spans.push((start, end)),
        }
    }

    /// Keeps a reading, unless another stands for it too; of two alike, the earlier. Says whether it can still be followed.
    ///
    /// One that another stands for may begin earlier, where its first characters are spelled twice. Then the spelling that is
    /// wholly inside the other is withheld, and the first one is left without its end.
    fn keep(&mut self, patterns: &Patterns, end: usize, reading: SecretReading) -> bool {
        let pattern = &patterns.all[reading.pattern];
        let slot = end - self.at - 1;
        if self.readings.len() <= slot {
            self.readings.resize_with(slot + 1, Vec::new);
        }
        let mut open = std::mem::take(&mut self.readings[slot]);
        self.steps += open.len();
        let is_earlier = |other: &SecretReading| self.start(&reading) < self.start(other);
        let stands_for = |one: &SecretReading, other: &SecretReading| {
            one.pattern == other.pattern && pattern.includes(one.state, other.state)
        };
        let is_needless = open
            .iter()
            .any(|other| stands_for(other, &reading) && (other.state != reading.state || !is_earlier(other)));
        if !is_needless {
            open.retain(|other| !stands_for(&reading, other));
            open.push(reading);
        }
        let count = open.iter().filter(|other| other.pattern == reading.pattern).count();
        self.readings[slot] = open;
        count <= READINGS_MAX
    }

    /// Withholds everything from the first open reading on.
    fn close(&mut self, open: &[SecretReading]) {
        let starts = self.readings.iter().flatten().chain(open).map(|reading| self.start(reading));
        let start = starts.min().unwrap_or(self.at).min(self.at);
        self.spans.push((start, usize::MAX));
        self.readings.clear();
        self.is_closed = true;
    }

    fn start(&self, reading: &SecretReading) -> usize {
        self.paths.start(reading.path, reading.state).0
    }

    /// Passes on what stands before `hold`, with marks for secrets. A secret that is not wholly before it waits with the rest.
    fn complete_and_enqueue(&mut self, hold: usize) -> Vec<u8> {
        self.found |= !self.spans.is_empty();
        let end = self.base + self.text.len();
        let hold = if self.is_closed { end } else { hold };
        let spans =
            merged(std::mem::take(&mut self.spans)).into_iter().map(|(start, span_end)| (start, span_end.min(end)));
        let (before, after): (Vec<_>, Vec<_>) = spans.partition(|(_, end)| *end <= hold);
        let hold = after.first().map_or(hold, |(start, _)| hold.min(*start));
        let mut passed = Vec::with_capacity(hold - self.held);
        for (start, end) in before {
            passed.extend_from_slice(&self.text[self.held - self.base..start - self.base]);
            passed.extend_from_slice(MARK.as_bytes());
            self.held = end;
        }
        passed.extend_from_slice(&self.text[self.held - self.base..hold - self.base]);
        self.held = hold;
        self.spans = after;
        self.forget();
        passed
    }

    /// Lets go of what was passed on once it is half of the text, so that small pieces cost no more than large ones.
    fn forget(&mut self) {
        let passed = self.held - self.base;
        if passed > self.text.len() / 2 {
            self.text = Zeroizing::new(self.text[passed..].to_vec());
            self.base = self.held;
        }
    }
}

/// Spans that overlap are one.
fn merged(mut spans: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    spans.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(spans.len());
    for (start, end) in spans {
        match merged.last_mut() {
            Some(last) if start < last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
