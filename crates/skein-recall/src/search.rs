//! Answers one question over one owner's rows.
//!
//! Both legs name their best rows; these and the rows beside them are the candidates, and each candidate gets its exact
//! score from every leg. Up to a few thousand rows that is every row with any evidence.

use std::collections::HashSet;

use crate::analysis::question;
use crate::error::SearchError;
use crate::fusion::Weights;
use crate::legs::{MeaningLeg, WordLeg};
use crate::owner::State;
use crate::query::{HITS_MAX, Hit, Hits, Parts, Query, Recency};
use crate::rows::Columns;
use crate::snippet::snippet;
use crate::world::{Bits, Clocks, chosen, world};

/// Rows that each leg names.
const CANDIDATES: usize = 2_048;
/// Turns further apart in time than this are of different sessions: no neighbours.
const SESSION_GAP_MS: i64 = 6 * 60 * 60 * 1_000;

/// The hits of a question whose vector was checked; `besides` is never a hit.
pub(crate) fn search(state: &State, query: &Query, besides: Option<u32>) -> Result<Hits, SearchError> {
    let columns = &state.columns;
    let world = world(columns, &query.visibility, Clocks { as_of: query.as_of, known_at: query.known_at });
    let chosen = chosen(columns, &world, &query.filter);
    let asked = question(&query.text);
    let words = WordLeg::ask(&state.words, columns, &world, &asked).map_err(SearchError::Words)?;
    let meaning = query.vector.as_ref().map(|vector| MeaningLeg::ask(&state.vectors, columns, &world, vector));
    let scene = Scene { columns, world: &world, words, meaning, weights: query.weights };

    let mut ranked: Vec<(u32, f32, Parts)> = scene
        .candidates(state, chosen.as_ref())
        .into_iter()
        .filter(|row| Some(*row) != besides)
        .map(|row| {
            let parts = scene.parts(row, query.recency);
            (row, parts.words + parts.meaning + parts.neighbours + parts.recency, parts)
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
    let wanted: HashSet<&str> = asked.iter().map(|(term, _)| term.as_str()).collect();
    let hits = ranked.into_iter().map(|(row, score, parts)| hit(state, row, score, parts, &wanted));
    Ok(Hits { hits: hits.collect(), cursor: state.cursor, visible: world.count() })
}

fn hit(state: &State, row: u32, score: f32, parts: Parts, wanted: &HashSet<&str>) -> Hit {
    let kept = state.row(row);
    let snippet = snippet(state.text(&kept), wanted);
    Hit {
        id: kept.id,
        score,
        parts,
        place: kept.place,
        actor: kept.actor,
        kind: kept.kind().to_owned(),
        valid_at: kept.valid_at,
        created_at: kept.created_at,
        snippet,
    }
}

struct Scene<'a> {
    columns: &'a Columns,
    world: &'a Bits,
    words: WordLeg,
    meaning: Option<MeaningLeg<'a>>,
    weights: Weights,
}

impl Scene<'_> {
    /// Rows worth an exact score: what the legs name, and what stands beside it.
    fn candidates(&self, state: &State, chosen: Option<&Bits>) -> Vec<u32> {
        let mut named = Vec::new();
        for among in [Some(self.world), chosen].into_iter().flatten() {
            named.extend(self.words.best(among, CANDIDATES));
            if let Some(meaning) = &self.meaning {
                let count = self.columns.count();
                named.extend(state.vectors.candidates(&meaning.asked, among, count, CANDIDATES));
            }
        }
        named.sort_unstable();
        named.dedup();
        let beside = named.iter().flat_map(|row| self.neighbours(*row)).map(|(row, _)| row).collect::<Vec<_>>();
        named.extend(beside);
        named.sort_unstable();
        named.dedup();
        named.retain(|row| chosen.unwrap_or(self.world).has(*row));
        named
    }

    /// The rows beside one, with what they count.
    fn neighbours(&self, row: u32) -> Vec<(u32, f32)> {
        let columns = self.columns;
        let same_session = |other: &u32| {
            let apart = columns.valid_at[row as usize].abs_diff(columns.valid_at[*other as usize]);
            self.world.has(*other) && apart <= SESSION_GAP_MS.unsigned_abs()
        };
        let before = columns.before(row).filter(same_session);
        let after: Vec<u32> = columns.after(row).filter(same_session).take(NEIGHBOURS_MAX).collect();
        let mut found: Vec<(u32, f32)> = before.into_iter().chain(after.iter().copied()).map(|row| (row, 1.0)).collect();
        let further = before.and_then(|row| columns.before(row)).filter(same_session);
        let further_after = after.iter().flat_map(|row| columns.after(*row)).filter(same_session).take(NEIGHBOURS_MAX);
        found.extend(further.into_iter().chain(further_after).map(|row| (row, 0.5)));
        found
    }

    fn parts(&self, row: u32, recency: Option<Recency>) -> Parts {
        let words = self.weights.words * self.words.score(row);
        let meaning = self.meaning.as_ref().map_or(0.0, |leg| self.weights.meaning * leg.score(row));
        let beside = self.neighbours(row).into_iter().map(|(row, part)| part * self.words.score(row)).sum::<f32>();
        Parts {
            words,
            meaning,
            neighbours: beside * self.weights.neighbours * self.weights.words,
            recency: recency.map_or(0.0, |recency| self.recency(row, recency)),
            similarity: self.meaning.as_ref().and_then(|leg| leg.similarity(row)),
        }
    }

    fn recency(&self, row: u32, recency: Recency) -> f32 {
        let age = recency.now.0.saturating_sub(self.columns.valid_at[row as usize]).max(0) as f64;
        let halvings = age / recency.half_life.max(1) as f64;
        recency.weight * (-halvings).exp2() as f32
    }
}

/// Followers of one row that count; more are alternatives of each other.
const NEIGHBOURS_MAX: usize = 4;
