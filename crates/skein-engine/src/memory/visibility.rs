//! The store's last word on what an index found: what may be seen from where the question is asked, now.

use std::collections::{HashMap, HashSet};

use skein_core::memory::episode::episode_of;
use skein_core::tree::node_place::NodeLabel;
use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, EpisodeId, NodeId, Viewer};
use skein_recall::{EpisodePlace, Hit, Snippet, Terms};
use skein_store::memory::EpisodeState;
use skein_store::tree::read::SeenNode;
use skein_store::{StoreError, Tx};

use crate::memory::recall::{FoundEpisode, HitLocation};
use crate::memory::scope::{QueryScope, RecallQuery};

/// What has no word of the question is found only if it means nearly the same: the cosine from which on it does.
const SIMILAR_MIN: f32 = 0.4;
/// So many turns off something still stands beside it.
const BESIDE: i64 = 2;
/// Hits that are looked up together, at least and at most. Nearly all of them may be told.
const JUDGED_AT_ONCE: std::ops::RangeInclusive<usize> = 16..=50;

/// A hit that may be told, and all that it says.
pub(super) struct VisibleHit {
    pub(super) found: FoundEpisode,
    pub(super) text: String,
}

/// Which hits may be told, by what the store says now: as many as are wanted.
pub(super) fn judge(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    scope: &QueryScope,
    hits: Vec<Hit>,
    (query, wanted): (&RecallQuery, usize),
) -> Result<Vec<VisibleHit>, StoreError> {
    let mut found = Vec::new();
    let mut hits = hits.into_iter();
    loop {
        let missing = wanted.saturating_sub(found.len());
        let at_once = missing.clamp(*JUDGED_AT_ONCE.start(), *JUDGED_AT_ONCE.end());
        let some: Vec<Hit> = hits.by_ref().take(at_once).collect();
        if some.is_empty() || missing == 0 {
            return Ok(found);
        }
        found.extend(judge_some(tx, viewer, scope, some, query)?);
    }
}

fn judge_some(
    tx: &mut Tx<'_>,
    viewer: &Viewer,
    scope: &QueryScope,
    hits: Vec<Hit>,
    query: &RecallQuery,
) -> Result<Vec<VisibleHit>, StoreError> {
    let ids: Vec<EpisodeId> = hits.iter().map(|hit| hit.id).collect();
    let states: HashMap<EpisodeId, EpisodeState> =
        tx.episodes_of(viewer, &ids)?.into_iter().map(|state| (state.episode.id, state)).collect();
    let nodes = states.values().filter_map(|state| state.episode.place).map(|place| place.node);
    let sight = NodeVisibility::of(tx, viewer, nodes.collect())?;
    let mut found = Vec::with_capacity(hits.len());
    for hit in hits {
        let Some(state) = states.get(&hit.id) else { continue };
        let Some(text) = &state.text else { continue };
        let (place, speaker) = match state.episode.place {
            None => (HitLocation::Anywhere, None),
            Some(place) => {
                let Some(where_to) = sight.of_node(tx, scope, place.node)? else { continue };
                if query.elsewhere && where_to == HitLocation::Path {
                    continue;
                }
                let is_own = state.episode.id == episode_of(place.node);
                (where_to, sight.speaker(place.node).filter(|_| is_own))
            }
        };
        let told = FoundEpisode {
            name: state.episode.name(text),
            episode: state.episode.clone(),
            speaker,
            said_by: state.speaker.clone(),
            score: hit.score,
            parts: hit.parts,
            snippet: Snippet::default(),
            words: Vec::new(),
            found: place,
        };
        found.push(VisibleHit { found: told, text: text.clone() });
    }
    Ok(found)
}

/// What the store says of some nodes, read in a few statements however many there are.
struct NodeVisibility {
    seen: HashMap<NodeId, SeenNode>,
    /// What each remark among them is about.
    about: HashMap<NodeId, Vec<NodeId>>,
    on_main: HashSet<NodeId>,
    pruned: HashSet<NodeId>,
}

impl NodeVisibility {
    fn of(tx: &mut Tx<'_>, viewer: &Viewer, mut nodes: Vec<NodeId>) -> Result<Self, StoreError> {
        nodes.sort_unstable();
        nodes.dedup();
        let mut seen = tx.seen_by_owners(viewer, &nodes)?;
        let remarks: Vec<NodeId> =
            seen.iter().filter(|seen| seen.row.place.is_none()).map(|seen| seen.row.id).collect();
        let about = tx.about(&remarks)?;
        let mut others: Vec<NodeId> =
            about.values().flatten().copied().filter(|node| nodes.binary_search(node).is_err()).collect();
        others.sort_unstable();
        others.dedup();
        seen.extend(tx.seen_by_owners(viewer, &others)?);
        nodes.extend(others);
        let (on_main, pruned) = (tx.on_own_paths(&seen)?, tx.pruned_among(&nodes)?);
        let seen = seen.into_iter().map(|seen| (seen.row.id, seen)).collect();
        Ok(Self { seen, about, on_main, pruned })
    }

    fn speaker(&self, node: NodeId) -> Option<Speaker> {
        self.seen.get(&node)?.spoken.map(|(speaker, _)| speaker)
    }

    /// Where a node is seen; `None` when it is not. A remark is seen where everything is that it is about (decision Z8).
    fn of_node(&self, tx: &mut Tx<'_>, scope: &QueryScope, node: NodeId) -> Result<Option<HitLocation>, StoreError> {
        let Some(seen) = self.seen.get(&node) else { return Ok(None) };
        if seen.row.excluded || seen.is_redacted || self.pruned.contains(&node) {
            return Ok(None);
        }
        let Some(place) = seen.row.place else {
            let about = self.about.get(&node).map_or(&[][..], Vec::as_slice);
            let mut where_to = (!about.is_empty()).then_some(HitLocation::Path);
            for node in about {
                where_to = match (where_to, self.of_course(tx, scope, *node)?) {
                    (Some(HitLocation::Path), Some(HitLocation::Path)) => Some(HitLocation::Path),
                    (Some(HitLocation::Aside), Some(_)) | (Some(_), Some(HitLocation::Aside)) => {
                        Some(HitLocation::Aside)
                    }
                    (Some(_), Some(_)) => Some(HitLocation::Elsewhere),
                    _ => return Ok(None),
                };
            }
            return Ok(where_to);
        };
        self.placed(tx, scope, seen, place.label)
    }

    /// Where something that a remark is about is seen.
    fn of_course(&self, tx: &mut Tx<'_>, scope: &QueryScope, node: NodeId) -> Result<Option<HitLocation>, StoreError> {
        let Some(seen) = self.seen.get(&node).filter(|_| !self.pruned.contains(&node)) else { return Ok(None) };
        let Some(label) = seen.row.label() else { return Ok(None) };
        self.placed(tx, scope, seen, label)
    }

    fn placed(
        &self,
        tx: &mut Tx<'_>,
        scope: &QueryScope,
        seen: &SeenNode,
        label: NodeLabel,
    ) -> Result<Option<HitLocation>, StoreError> {
        let (conversation, node) = (seen.row.conversation, seen.row.id);
        if scope.is_on_path(conversation, label) && scope.is_shown(tx, conversation, label, node)? {
            return Ok(Some(HitLocation::Path));
        }
        let is_elsewhere = Some(conversation) != scope.conversation && self.on_main.contains(&node);
        Ok(if is_elsewhere { Some(HitLocation::Elsewhere) } else { scope.is_whole.then_some(HitLocation::Aside) })
    }
}

/// Where something was found. Something is always nearest: what neither has a word of the question nor means nearly the same was
/// not found. It is told only where it stands beside something that was.
#[derive(Default)]
pub(super) struct Evidence(HashSet<(ConversationId, i64)>);

impl Evidence {
    pub(super) fn sift(&mut self, mut hits: Vec<Hit>, is_strict: bool) -> Vec<Hit> {
        let is_evident = |hit: &Hit| hit.has_words || hit.parts.similarity.is_some_and(|cosine| cosine >= SIMILAR_MIN);
        let places = hits.iter().filter(|hit| is_evident(hit)).filter_map(|hit| hit.place);
        self.0.extend(places.map(|place| (place.conversation, place.label.depth)));
        let is_beside = |place: EpisodePlace| {
            (-BESIDE..=BESIDE).any(|off| self.0.contains(&(place.conversation, place.label.depth + off)))
        };
        hits.retain(|hit| is_evident(hit) || (!is_strict && hit.place.is_some_and(is_beside)));
        hits
    }
}

impl VisibleHit {
    /// As it is shown: the part that matters, with the words that matched.
    pub(super) fn shown(self, terms: &Terms) -> FoundEpisode {
        let snippet = skein_recall::snippet(&self.text, terms);
        FoundEpisode { words: matched(&snippet), snippet, ..self.found }
    }
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
