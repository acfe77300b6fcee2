//! Answers one question over one owner's rows.
//!
//! Words and meaning name their best rows; these and the rows beside them are the candidates, and each candidate gets its exact
//! score from every leg. Up to a few thousand rows that is every row with any evidence.

use crate::analysis::{QueryTerm, question};
use crate::error::SearchError;
use crate::fusion::{BY_DISTANCE, Weights};
use crate::owner::OwnerState;
use crate::query::{HITS_MAX, Hit, Hits, Parts, Query, Recency};
use crate::retrievers::{LikenessRetriever, VectorRetriever, WordRetriever, asked_pieces};
use crate::rows::Columns;
use crate::simd::both;
use crate::snippet::Terms;
use crate::visible_rows::{QueryClocks, RowSet, chosen, world};

/// Rows that each leg names.
const CANDIDATES: usize = 256;
/// Up to so many visible rows everything with any evidence is a candidate.
const WHOLE_MAX: u32 = 4_096;
/// Turns further apart in time than this are of different sessions: no neighbours.
const SESSION_GAP_MS: u64 = 6 * 60 * 60 * 1_000;
/// Followers of one row that count; more are alternatives of each other.
const FOLLOWERS_MAX: usize = 4;
/// More rows than these are scored by two threads.
const SCORED_ALONE_MAX: usize = 1_024;
/// How far off a row may be to become a candidate by what stands beside it.
const BESIDE: usize = 2;

/// The hits of a question whose vector was checked; `besides` is never a hit.
pub(crate) fn search(state: &OwnerState, query: &Query, besides: Option<u32>) -> Result<Hits, SearchError> {
    let columns = &state.columns;
    let world = world(columns, &query.visibility, QueryClocks { as_of: query.as_of, known_at: query.known_at });
    let chosen = chosen(columns, &world, &query.filter);
    let mut asked = question(&query.text);
    for asked in &mut asked {
        asked.stems = columns.languages.iter().filter_map(|language| language.stem(&asked.word)).collect();
    }
    let retrievers = Retrievers::ask(state, query, &world, chosen.as_ref(), &asked)?;
    let Retrievers { words, likeness, meaning, best } = retrievers;
    let named = named_speakers(columns, &asked);
    let scene = ScoringInputs { state, world: &world, words, meaning, likeness, named, weights: query.weights };

    let mut candidates = scene.candidates(best, chosen.as_ref());
    candidates.retain(|row| Some(*row) != besides);
    let parts = scene.parts(&candidates, query.recency);
    let mut ranked: Vec<(u32, f32, Parts)> =
        candidates.into_iter().zip(parts).map(|(row, parts)| (row, parts.sum(), parts)).collect();
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

fn hit(state: &OwnerState, row: u32, (score, parts): (f32, Parts), has_words: bool) -> Hit {
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
fn named_speakers(columns: &Columns, asked: &[QueryTerm]) -> Vec<bool> {
    let is_named = |terms: &Vec<String>| terms.iter().any(|term| asked.iter().any(|asked| asked.term == *term));
    columns.speaker_terms.iter().map(is_named).collect()
}

/// The ways of finding, asked, and the rows they name.
struct Retrievers<'a> {
    words: WordRetriever<'a>,
    likeness: LikenessRetriever,
    meaning: Option<VectorRetriever<'a>>,
    best: Vec<u32>,
}

impl<'a> Retrievers<'a> {
    /// Among many rows words and meaning are asked at the same time.
    fn ask(
        state: &'a OwnerState,
        query: &Query,
        world: &RowSet,
        chosen: Option<&RowSet>,
        asked: &[QueryTerm],
    ) -> Result<Self, SearchError> {
        let columns = &state.columns;
        let count = world.count();
        let wanted = if count <= WHOLE_MAX { count as usize } else { CANDIDATES };
        let among = || [Some(world), chosen].into_iter().flatten();
        let by_words = || {
            let words = WordRetriever::ask(&state.words, columns, world, asked).map_err(SearchError::Words)?;
            let pieces = asked_pieces(asked, &words.rarities);
            let likeness = LikenessRetriever::ask(pieces, world, |row| state.pieces(row));
            let best: Vec<u32> = among().flat_map(|among| words.best(among, wanted)).collect();
            Ok::<_, SearchError>((words, likeness, best))
        };
        let by_meaning = || {
            let vector = query.vector.as_ref()?;
            let meaning = VectorRetriever::ask(&state.vectors, columns, world, vector);
            let nearest: Vec<u32> = among().flat_map(|among| meaning.nearest(among, wanted)).collect();
            Some((meaning, nearest))
        };
        let (words, meaning) = if count <= WHOLE_MAX { (by_words(), by_meaning()) } else { both(by_words, by_meaning) };
        let (words, likeness, mut best) = words?;
        let (meaning, nearest) = meaning.unzip();
        best.extend(nearest.unwrap_or_default());
        Ok(Self { words, likeness, meaning, best })
    }
}

/// Everything one question needs to score rows.
struct ScoringInputs<'a> {
    state: &'a OwnerState,
    world: &'a RowSet,
    words: WordRetriever<'a>,
    meaning: Option<VectorRetriever<'a>>,
    likeness: LikenessRetriever,
    named: Vec<bool>,
    weights: Weights,
}

impl ScoringInputs<'_> {
    /// Rows worth an exact score: what the legs name, and what stands beside it.
    fn candidates(&self, mut named: Vec<u32>, chosen: Option<&RowSet>) -> Vec<u32> {
        let columns = &self.state.columns;
        named.sort_unstable();
        named.dedup();
        let mut beside = Vec::with_capacity(named.len());
        for row in &named {
            self.neighbours(*row, BESIDE, |row, _| beside.push(row));
        }
        named.extend(beside);
        named.sort_unstable();
        named.dedup();
        let among = chosen.unwrap_or(self.world);
        named.retain(|row| among.has(*row) && columns.alive.has(*row));
        named
    }

    /// Tells the rows up to `reach` turns off in the same session, with what they count.
    fn neighbours(&self, row: u32, reach: usize, mut tell: impl FnMut(u32, f32)) {
        let columns = &self.state.columns;
        let same_session = |other: &u32| {
            let apart = columns.valid_at[row as usize].abs_diff(columns.valid_at[*other as usize]);
            self.world.has(*other) && apart <= SESSION_GAP_MS && *other != row
        };
        let (mut before, mut after, mut followers) = (Some(row), [row; FOLLOWERS_MAX], 1);
        for part in &BY_DISTANCE[..reach] {
            before = before.and_then(|row| columns.before(row)).filter(same_session);
            if let Some(row) = before {
                tell(row, *part);
            }
            let (last, mut next) = (after, 0);
            let found = last[..followers].iter().flat_map(|row| columns.after(*row)).filter(same_session);
            for row in found.take(FOLLOWERS_MAX) {
                tell(row, *part);
                after[next] = row;
                next += 1;
            }
            followers = next;
        }
    }

    /// What each of these rows is, with what stands beside it.
    fn parts(&self, rows: &[u32], recency: Option<Recency>) -> Vec<Parts> {
        // Every candidate is also a neighbour of others.
        let (mut needed, mut beside, mut ends) = (rows.to_vec(), Vec::with_capacity(rows.len()), Vec::new());
        for row in rows {
            self.neighbours(*row, BY_DISTANCE.len(), |row, part| beside.push((row, part)));
            ends.push(beside.len());
        }
        needed.extend(beside.iter().map(|(row, _)| *row));
        needed.sort_unstable();
        needed.dedup();
        let own = self.own_of_all(&needed);
        let own = |row: u32| own[needed.binary_search(&row).expect("every row that is asked for was scored")];
        let mut start = 0;
        let with_beside = |(row, end): (&u32, usize)| {
            let some = &beside[std::mem::replace(&mut start, end)..end];
            let is_named = self.named[self.state.columns.speaker[*row as usize] as usize];
            Parts {
                neighbours: self.weights.neighbours
                    * some.iter().map(|(row, part)| part * own(*row).sum()).sum::<f32>(),
                speaker: if is_named { self.weights.speaker } else { 0.0 },
                recency: recency.map_or(0.0, |recency| self.recency(*row, recency)),
                ..own(*row)
            }
        };
        rows.iter().zip(ends).map(with_beside).collect()
    }

    /// What rows are by themselves; both halves of many at the same time.
    fn own_of_all(&self, rows: &[u32]) -> Vec<Parts> {
        let of = |rows: &[u32]| -> Vec<Parts> {
            let mut likeness = self.likeness.clone();
            rows.iter().map(|row| self.own(&mut likeness, *row)).collect()
        };
        if rows.len() <= SCORED_ALONE_MAX {
            return of(rows);
        }
        let (left, right) = rows.split_at(rows.len() / 2);
        let (left, right) = both(|| of(left), || of(right));
        [left, right].concat()
    }

    fn own(&self, likeness: &mut LikenessRetriever, row: u32) -> Parts {
        let alike = if self.weights.likeness == 0.0 { 0.0 } else { likeness.score(self.state.pieces(row)) };
        let similarity = self.meaning.as_ref().and_then(|retriever| retriever.similarity(row));
        let meaning = self.meaning.as_ref().map_or(0.0, |retriever| retriever.score(similarity));
        Parts {
            words: self.weights.words * self.words.score(row),
            likeness: self.weights.likeness * alike,
            meaning: self.weights.meaning * meaning,
            similarity,
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
