//! The store's last word on what an index found: what may be seen from where the question is asked, now.

use std::collections::{HashMap, HashSet};

use skein_core::memory::episode::{EpisodePlace, episode_of};
use skein_core::{ConversationId, EpisodeId, NodeId, Viewer};
use skein_recall::{Hit, Place, Snippet};
use skein_store::memory::EpisodeState;
use skein_store::tree::read::SeenNode;
use skein_store::{StoreError, Tx};

use crate::memory::recall::{FoundEpisode, Where};
use crate::memory::scope::{RecallQuery, Scope};

/// What has no word of the question is found only if it means nearly the same: the cosine from which on it does.
const SIMILAR_MIN: f32 = 0.4;
/// So many turns off something still stands beside it.
const BESIDE: i64 = 2;
/// Hits that are looked up together.
const JUDGED_AT_ONCE: usize = 50;

/// Which hits may be told, by what the store says now: as many as are asked for, and one more.
pub(super) fn judge(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    scope: &Scope,
    hits: Vec<Hit>,
    query: &RecallQuery,
) -> Result<Vec<FoundEpisode>, StoreError> {
    let wanted = query.skip.saturating_add(query.limit).saturating_add(1);
    let mut found = Vec::new();
    let mut hits = hits.into_iter();
    loop {
        let some: Vec<Hit> = hits.by_ref().take(JUDGED_AT_ONCE).collect();
        if some.is_empty() || found.len() >= wanted {
            return Ok(found);
        }
        found.extend(judge_some(tx, viewer, scope, some, query)?);
    }
}

fn judge_some(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    scope: &Scope,
    hits: Vec<Hit>,
    query: &RecallQuery,
) -> Result<Vec<FoundEpisode>, StoreError> {
    let ids: Vec<EpisodeId> = hits.iter().map(|hit| hit.id).collect();
    let states: HashMap<EpisodeId, EpisodeState> =
        tx.episodes_of(viewer, &ids)?.into_iter().map(|state| (state.episode.id, state)).collect();
    let mut nodes: Vec<NodeId> =
        states.values().filter_map(|state| state.episode.place).map(|place| place.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let seen = tx.seen_by_owners(viewer, &nodes)?;
    let on_main = tx.on_own_paths(&seen)?;
    let seen: HashMap<NodeId, SeenNode> = seen.into_iter().map(|seen| (seen.row.id, seen)).collect();
    let mut found = Vec::with_capacity(hits.len());
    for hit in hits {
        let Some(state) = states.get(&hit.id) else { continue };
        let Some(text) = &state.text else { continue };
        let (place, speaker) = match state.episode.place {
            None => (Where::Anywhere, None),
            Some(place) => {
                let Some(seen) = seen.get(&place.node) else { continue };
                let Some(where_to) = place_of(seen, place, scope, &on_main) else { continue };
                if (query.elsewhere && where_to == Where::Path) || tx.is_pruned(viewer, place.node)? {
                    continue;
                }
                let is_own = state.episode.id == episode_of(place.node);
                (where_to, seen.spoken.map(|(speaker, _)| speaker).filter(|_| is_own))
            }
        };
        let (name, episode) = (state.episode.name(text), state.episode.clone());
        let words = matched(&hit.snippet);
        let Hit { score, parts, snippet, .. } = hit;
        let said_by = state.speaker.clone();
        found.push(FoundEpisode { episode, name, speaker, said_by, score, parts, snippet, words, found: place });
    }
    Ok(found)
}

/// Something is always nearest: what neither has a word of the question nor means nearly the same was not found. It is told
/// only where it stands beside something that was.
pub(super) fn evident(mut hits: Vec<Hit>, is_strict: bool) -> Vec<Hit> {
    let has_evidence = |hit: &Hit| hit.has_words || hit.parts.similarity.is_some_and(|cosine| cosine >= SIMILAR_MIN);
    let places = hits.iter().filter(|hit| has_evidence(hit)).filter_map(|hit| hit.place);
    let places: HashSet<(ConversationId, i64)> = places.map(|place| (place.conversation, place.label.depth)).collect();
    let is_beside =
        |place: Place| (-BESIDE..=BESIDE).any(|off| places.contains(&(place.conversation, place.label.depth + off)));
    hits.retain(|hit| has_evidence(hit) || (!is_strict && hit.place.is_some_and(is_beside)));
    hits
}

/// Where a node is seen; `None` when it is not.
fn place_of(seen: &SeenNode, place: EpisodePlace, scope: &Scope, on_main: &HashSet<NodeId>) -> Option<Where> {
    if seen.row.excluded || seen.is_redacted {
        return None;
    }
    if scope.is_on_path(place.conversation, place.label) {
        // A version that is not shown stands where the one stands that is.
        let is_shown = seen.is_selected || !seen.row.is_version;
        return if is_shown { Some(Where::Path) } else { scope.is_whole.then_some(Where::Aside) };
    }
    let is_annotation = seen.row.place.is_none();
    let is_main = on_main.contains(&place.node) || is_annotation;
    if Some(place.conversation) != scope.conversation && is_main {
        return Some(Where::Elsewhere);
    }
    scope.is_whole.then_some(Where::Aside)
}

/// The words of a snippet that matched, each once.
fn matched(snippet: &Snippet) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for at in &snippet.highlights {
        let word = snippet.text[at.clone()].to_lowercase();
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}
