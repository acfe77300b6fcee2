//! Answers one question over one owner's rows.
//!
//! Words and meaning name their best rows; these and the rows beside them are the candidates, and each candidate gets its exact
//! score from every leg. Up to a few thousand rows that is every row with any evidence.

use std::collections::HashMap;

use crate::analysis::{Asked, question};
use crate::error::SearchError;
use crate::fusion::{BY_DISTANCE, Weights};
use crate::legs::{LikenessLeg, MeaningLeg, WordLeg, asked_pieces};
use crate::owner::State;
use crate::query::{HITS_MAX, Hit, Hits, Parts, Query, Recency};
use crate::rows::Columns;
use crate::snippet::Terms;
use crate::world::{Bits, Clocks, chosen, world};

/// Rows that each leg names.
const CANDIDATES: usize = 256;
/// Up to so many visible rows everything with any evidence is a candidate.
const WHOLE_MAX: u32 = 4_096;
/// Turns further apart in time than this are of different sessions: no neighbours.
const SESSION_GAP_MS: u64 = 6 * 60 * 60 * 1_000;
/// Followers of one row that count; more are alternatives of each other.
const FOLLOWERS_MAX: usize = 4;
/// How far off a row may be to become a candidate by what stands beside it.
const BESIDE: usize = 2;

/// The hits of a question whose vector was checked; `besides` is never a hit.
pub(crate) fn search(state: &State, query: &Query, besides: Option<u32>) -> Result<Hits, SearchError> {
    let columns = &state.columns;
    let world = world(columns, &query.visibility, Clocks { as_of: query.as_of, known_at: query.known_at });
    let chosen = chosen(columns, &world, &query.filter);
    let mut asked = question(&query.text);
    for asked in &mut asked {
        asked.stems = columns.languages.iter().filter_map(|language| language.stem(&asked.word)).collect();
    }
    let words = WordLeg::ask(&state.words, columns, &world, &asked).map_err(SearchError::Words)?;
    let meaning = query.vector.as_ref().map(|vector| MeaningLeg::ask(&state.vectors, columns, &world, vector));
    let pieces = asked_pieces(&asked, &words.rarities);
    let likeness = LikenessLeg::ask(pieces, &world, |row| state.pieces(row));
    let named = named_speakers(columns, &asked);
    let mut scene =
        Scene { state, world: &world, words, meaning, likeness, named, weights: query.weights, own: HashMap::new() };

    let candidates = scene.candidates(chosen.as_ref());
    let scored = candidates.into_iter().filter(|row| Some(*row) != besides);
    let mut ranked: Vec<(u32, f32, Parts)> = scored
        .map(|row| {
            let parts = scene.parts(row, query.recency);
            (row, parts.sum(), parts)
        })
        .collect();
    let better = |a: &(u32, f32, Parts), b: &(u32, f32, Parts)| {
        b.1.total_cmp(&a.1).then_with(|| columns.id_of(a.0).cmp(&columns.id_of(b.0)))
    };
    let limit = query.limit.min(HITS_MAX);
    if ranked.len() > limit {
        ranked.select_nth_unstable_by(limit, better);
        ranked.truncate(limit);
    }
    ranked.sort_by(better);
    let hits = ranked.into_iter().map(|(row, score, parts)| hit(state, row, (score, parts), scene.words.has_any(row)));
    let hits = hits.collect();
    let terms = Terms(asked.into_iter().flat_map(|asked| asked.stems.into_iter().chain([asked.term])).collect());
    Ok(Hits { hits, terms, cursor: state.cursor, visible: world.count() })
}

fn hit(state: &State, row: u32, (score, parts): (f32, Parts), has_words: bool) -> Hit {
    let kept = state.row(row);
    Hit {
        id: kept.id,
        score,
        parts,
        has_words,
        place: kept.place,
        actor: kept.actor,
        kind: kept.kind().to_owned(),
        valid_at: kept.valid_at,
        created_at: kept.created_at,
    }
}

/// For each different speaker, whether the question has a part of the name.
fn named_speakers(columns: &Columns, asked: &[Asked]) -> Vec<bool> {
    let is_named = |terms: &Vec<String>| terms.iter().any(|term| asked.iter().any(|asked| asked.term == *term));
    columns.speaker_terms.iter().map(is_named).collect()
}

/// Everything one question needs to score rows.
struct Scene<'a> {
    state: &'a State,
    world: &'a Bits,
    words: WordLeg,
    meaning: Option<MeaningLeg<'a>>,
    likeness: LikenessLeg,
    named: Vec<bool>,
    weights: Weights,
    /// Scores of rows by themselves: every candidate is also a neighbour of others.
    own: HashMap<u32, f32>,
}

impl Scene<'_> {
    /// Rows worth an exact score: what the legs name, and what stands beside it.
    fn candidates(&self, chosen: Option<&Bits>) -> Vec<u32> {
        let columns = &self.state.columns;
        let count = self.world.count();
        let wanted = if count <= WHOLE_MAX { count as usize } else { CANDIDATES };
        let mut named = Vec::new();
        for among in [Some(self.world), chosen].into_iter().flatten() {
            named.extend(self.words.best(among, wanted));
            if let Some(meaning) = &self.meaning {
                named.extend(self.nearest(meaning, among, wanted));
            }
        }
        named.sort_unstable();
        named.dedup();
        let beside: Vec<u32> = named.iter().flat_map(|row| self.neighbours(*row, BESIDE)).map(|(row, _)| row).collect();
        named.extend(beside);
        named.sort_unstable();
        named.dedup();
        let among = chosen.unwrap_or(self.world);
        named.retain(|row| among.has(*row) && columns.alive.has(*row));
        named
    }

    fn nearest(&self, meaning: &MeaningLeg<'_>, among: &Bits, wanted: usize) -> Vec<u32> {
        let columns = &self.state.columns;
        let rows = self.state.vectors.candidates(&meaning.asked, among, columns.count(), wanted * SKETCHED);
        let similar = rows.into_iter().filter_map(|row| meaning.similarity(row).map(|similarity| (row, similarity)));
        let mut similar: Vec<(u32, f32)> = similar.collect();
        if similar.len() > wanted {
            similar.select_nth_unstable_by(wanted, |a, b| b.1.total_cmp(&a.1));
            similar.truncate(wanted);
        }
        similar.into_iter().map(|(row, _)| row).collect()
    }

    /// The rows up to `reach` turns off in the same session, with what they count.
    fn neighbours(&self, row: u32, reach: usize) -> Vec<(u32, f32)> {
        let columns = &self.state.columns;
        let same_session = |other: &u32| {
            let apart = columns.valid_at[row as usize].abs_diff(columns.valid_at[*other as usize]);
            self.world.has(*other) && apart <= SESSION_GAP_MS && *other != row
        };
        let mut found = Vec::new();
        let (mut before, mut after) = (Some(row), vec![row]);
        for part in &BY_DISTANCE[..reach] {
            before = before.and_then(|row| columns.before(row)).filter(same_session);
            found.extend(before.map(|row| (row, *part)));
            let followers = after.iter().flat_map(|row| columns.after(*row)).filter(same_session);
            after = followers.take(FOLLOWERS_MAX).collect();
            found.extend(after.iter().map(|row| (*row, *part)));
        }
        found
    }

    fn parts(&mut self, row: u32, recency: Option<Recency>) -> Parts {
        let beside = self.neighbours(row, BY_DISTANCE.len());
        let beside: f32 = beside.into_iter().map(|(row, part)| part * self.own(row)).sum();
        let is_named = self.named[self.state.columns.speaker[row as usize] as usize];
        let mut parts = self.own_parts(row);
        parts.neighbours = self.weights.neighbours * beside;
        parts.speaker = if is_named { self.weights.speaker } else { 0.0 };
        parts.recency = recency.map_or(0.0, |recency| self.recency(row, recency));
        parts.similarity = self.meaning.as_ref().and_then(|leg| leg.similarity(row));
        parts
    }

    fn own(&mut self, row: u32) -> f32 {
        if let Some(score) = self.own.get(&row) {
            return *score;
        }
        let score = self.own_parts(row).sum();
        self.own.insert(row, score);
        score
    }

    fn own_parts(&mut self, row: u32) -> Parts {
        let likeness = if self.weights.likeness == 0.0 { 0.0 } else { self.likeness.score(self.state.pieces(row)) };
        Parts {
            words: self.weights.words * self.words.score(row),
            likeness: self.weights.likeness * likeness,
            meaning: self.meaning.as_ref().map_or(0.0, |leg| self.weights.meaning * leg.score(row)),
            ..Parts::default()
        }
    }

    #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "an age needs no more digits")]
    fn recency(&self, row: u32, recency: Recency) -> f32 {
        let age = recency.now.0.saturating_sub(self.state.columns.valid_at[row as usize]).max(0) as f64;
        let halvings = age / recency.half_life.max(1) as f64;
        recency.weight * (-halvings).exp2() as f32
    }
}

/// How many sketches are looked at for each vector that is wanted.
const SKETCHED: usize = 16;
