//! Visibility of episodes on random trees, compared with a plain walk over all texts.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::memory::episode::episode_of;
use skein_core::{ConversationId, EpisodeId, NodeId};
use skein_store::tree::append::NodePosition;

use crate::memory::remember;
use crate::server_fixture::{ServerFixture, both};
use crate::tree_fixture::{By, say_at};

/// Every seed is a history of its own, of two users.
const HISTORIES: [(u64, [&str; 2]); 3] = [(1, ["anna", "bert"]), (7, ["carl", "dora"]), (2026, ["emil", "fred"])];
const ACTS: usize = 70;
/// After so many of them somebody asks.
const ASKED_EVERY: usize = 7;
/// Places that each of them asks from.
const QUESTIONS: usize = 6;

/// Numbers that come out alike on both databases.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        if all.is_empty() { None } else { Some(&all[self.below(all.len())]) }
    }
}

#[derive(Clone)]
struct Plain {
    id: NodeId,
    turn: Option<String>,
    conversation: ConversationId,
    parent: Option<NodeId>,
    /// The first version of it.
    lineage: NodeId,
    about: Vec<NodeId>,
}

/// What one user said, walked naively.
struct Garden {
    world: ServerFixture,
    conversations: Vec<ConversationId>,
    nodes: Vec<Plain>,
    pruned: BTreeSet<NodeId>,
    excluded: BTreeSet<NodeId>,
    destroyed: BTreeSet<NodeId>,
    brought: BTreeMap<EpisodeId, Option<NodeId>>,
    said: usize,
}

impl Garden {
    fn new(world: ServerFixture) -> Self {
        Self {
            world,
            conversations: Vec::new(),
            nodes: Vec::new(),
            pruned: BTreeSet::new(),
            excluded: BTreeSet::new(),
            destroyed: BTreeSet::new(),
            brought: BTreeMap::new(),
            said: 0,
        }
    }

    fn words(&mut self) -> String {
        self.said += 1;
        format!("The heron number {} was seen.", self.said)
    }

    fn course(&self) -> Vec<Plain> {
        self.nodes.iter().filter(|node| node.turn.is_some()).cloned().collect()
    }

    fn grown(&mut self, answer: &Value, conversation: ConversationId, parent: Option<NodeId>, of: Option<NodeId>) {
        let id = answer["node"]["id"].as_str().unwrap().parse().unwrap();
        let turn = Some(answer["turn"]["id"].as_str().unwrap().to_owned());
        let lineage = of.unwrap_or(id);
        self.nodes.push(Plain { id, turn, conversation, parent, lineage, about: Vec::new() });
    }

    async fn act(&mut self, chance: &mut Chance) {
        match chance.below(20) {
            0 | 1 => self.begin(chance).await,
            2..=8 => self.say(chance).await,
            9..=11 => self.edit(chance).await,
            12 | 13 => self.turn_to(chance).await,
            14 => self.fork(chance).await,
            15 | 16 => self.remark(chance).await,
            17 => self.bring(chance).await,
            18 => self.mark(chance).await,
            _ => self.destroy(chance).await,
        }
    }

    async fn begin(&mut self, chance: &mut Chance) {
        let mode = if chance.below(2) == 0 { "dialogue" } else { "buffer" };
        let begun = self.world.made("/api/v1/conversations", &json!({ "mode": mode })).await;
        let conversation = begun["id"].as_str().unwrap().parse().unwrap();
        self.conversations.push(conversation);
        let words = self.words();
        let path = format!("/api/v1/conversations/{conversation}/turns");
        let said = self.world.made(&path, &json!({ "text": words })).await;
        self.grown(&said, conversation, None, None);
    }

    async fn say(&mut self, chance: &mut Chance) {
        let Some(parent) = chance.of(&self.course()).cloned() else { return };
        let words = self.words();
        let path = format!("/api/v1/conversations/{}/turns", parent.conversation);
        let said = self.world.made(&path, &json!({ "text": words, "parentAlternativeId": parent.id })).await;
        self.grown(&said, parent.conversation, Some(parent.id), None);
    }

    async fn edit(&mut self, chance: &mut Chance) {
        let Some(edited) = chance.of(&self.course()).cloned() else { return };
        let (words, active) = (self.words(), chance.below(2) == 0);
        let path = format!("/api/v1/conversations/{}/turns/{}/alternatives", edited.conversation, edited.turn.unwrap());
        let body = json!({ "text": words, "editedFrom": edited.id, "makeActive": active });
        let answer = self.world.post(&path, body.to_string()).await;
        // A dialogue has one first turn.
        if answer.status == 201 {
            let of = self.is_buffer(edited.conversation).await.then_some(edited.lineage);
            self.grown(&answer.json(), edited.conversation, edited.parent, of);
        }
    }

    async fn turn_to(&mut self, chance: &mut Chance) {
        let Some(node) = chance.of(&self.course()).cloned() else { return };
        let (conversation, turn) = (node.conversation, node.turn.unwrap());
        let path = format!("/api/v1/conversations/{conversation}/turns/{turn}/alternatives/{}/activate", node.id);
        assert_eq!(self.world.change("PUT", &path, "{}").await.status, 200);
    }

    async fn fork(&mut self, chance: &mut Chance) {
        let Some(node) = chance.of(&self.course()).cloned() else { return };
        let path = format!("/api/v1/conversations/{}/fork", node.conversation);
        let made = self.world.made(&path, &json!({ "nodeId": node.id })).await;
        let conversation = made["id"].as_str().unwrap().parse().unwrap();
        self.conversations.push(conversation);
        let words = self.words();
        let path = format!("/api/v1/conversations/{conversation}/turns");
        let said = self.world.made(&path, &json!({ "text": words })).await;
        self.grown(&said, conversation, None, None);
    }

    async fn remark(&mut self, chance: &mut Chance) {
        let Some(first) = chance.of(&self.course()).cloned() else { return };
        let beside: Vec<Plain> =
            self.course().into_iter().filter(|node| node.conversation == first.conversation).collect();
        let mut about: BTreeSet<NodeId> = BTreeSet::from([first.id]);
        about.extend((0..chance.below(3)).filter_map(|_| chance.of(&beside).map(|node| node.id)));
        let about: Vec<NodeId> = about.into_iter().collect();
        let (world, words) = (self.world.clone(), self.words());
        let content = json!({ "type": "text", "text": words });
        let place = (first.conversation, NodePosition::About(about.clone()));
        let id = say_at(&world, &world.admin, place, content, By::Viewer).await;
        self.nodes.push(Plain { id, turn: None, conversation: first.conversation, parent: None, lineage: id, about });
    }

    async fn bring(&mut self, chance: &mut Chance) {
        let node = if chance.below(2) == 0 { chance.of(&self.course()).map(|node| node.id) } else { None };
        let words = self.words();
        let mut body = json!({ "source": "text", "content": words });
        if let Some(node) = node {
            body["nodeId"] = json!(node);
        }
        let made = self.world.made("/api/v1/episodes", &body).await;
        self.brought.insert(made["id"].as_str().unwrap().parse().unwrap(), node);
    }

    async fn mark(&mut self, chance: &mut Chance) {
        let Some(node) = chance.of(&self.nodes).cloned() else { return };
        let (what, which) =
            if chance.below(2) == 0 { ("pruned", &mut self.pruned) } else { ("excluded", &mut self.excluded) };
        which.insert(node.id);
        let path = format!("/api/v1/nodes/{}/marks", node.id);
        assert_eq!(self.world.change("PUT", &path, json!({ what: true }).to_string()).await.status, 200);
    }

    async fn destroy(&mut self, chance: &mut Chance) {
        let Some(node) = chance.of(&self.nodes).cloned() else { return };
        if self.destroyed.insert(node.id) {
            let path = format!("/api/v1/items/{}/redact", node.id);
            assert_eq!(self.world.post(&path, r#"{"reason":"asked to"}"#).await.status, 200);
        }
    }

    fn plain(&self, id: NodeId) -> &Plain {
        self.nodes.iter().find(|node| node.id == id).unwrap()
    }

    /// Cut off itself, or below something that was, in whichever version of it.
    fn is_cut(&self, id: NodeId) -> bool {
        let line = std::iter::successors(Some(id), |node| self.plain(*node).parent);
        let is_pruned =
            |lineage: NodeId| self.nodes.iter().any(|node| node.lineage == lineage && self.pruned.contains(&node.id));
        line.map(|node| self.plain(node).lineage).any(is_pruned)
    }

    async fn is_buffer(&self, conversation: ConversationId) -> bool {
        self.world.get(&format!("/api/v1/conversations/{conversation}")).await.json()["mode"] == "buffer"
    }

    /// Everything that a question asked at a node may find.
    async fn visible(&self, from: &Plain) -> BTreeSet<EpisodeId> {
        let path = format!("/api/v1/conversations/{}/path?nodeId={}&limit=1000", from.conversation, from.id);
        let path = self.world.get(&path).await.json();
        let mut course: BTreeSet<NodeId> =
            path["data"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap().parse().unwrap()).collect();
        for node in self.nodes.iter().filter(|node| node.conversation != from.conversation && node.turn.is_some()) {
            let shown = self.world.get(&format!("/api/v1/nodes/{}", node.id)).await.json();
            if shown["onPath"] == true {
                course.insert(node.id);
            }
        }
        let open: BTreeSet<NodeId> = course.into_iter().filter(|node| !self.is_cut(*node)).collect();
        let is_told = |node: &NodeId| !self.excluded.contains(node) && !self.destroyed.contains(node);
        let mut seen: BTreeSet<EpisodeId> = open.iter().filter(|node| is_told(node)).copied().map(episode_of).collect();
        for remark in self.nodes.iter().filter(|node| node.turn.is_none()) {
            let is_open = !self.pruned.contains(&remark.id) && remark.about.iter().all(|node| open.contains(node));
            if is_open && is_told(&remark.id) {
                seen.insert(episode_of(remark.id));
            }
        }
        let stands = |node: &Option<NodeId>| node.is_none_or(|node| open.contains(&node) && is_told(&node));
        seen.extend(self.brought.iter().filter(|(_, node)| stands(node)).map(|(id, _)| *id));
        seen
    }

    async fn found(&self, from: &Plain) -> BTreeSet<EpisodeId> {
        found(&self.world, from, None).await
    }
}

/// What somebody finds who asks at a node, under a grant if there is one.
async fn found(world: &ServerFixture, from: &Plain, grant: Option<&str>) -> BTreeSet<EpisodeId> {
    remember(world).await;
    let body = json!({ "text": "heron", "nodeId": from.id, "limit": 100, "atLeast": "latest" });
    let mut request = world.request("POST", "/api/v1/search").header("content-type", "application/json");
    if let Some(grant) = grant {
        request = request.header("skein-grant", grant);
    }
    let answer = world.send(request.body(body.to_string().into()).unwrap()).await;
    if answer.status != 200 {
        assert_eq!(answer.status, if grant.is_some() { 403 } else { 422 }, "{}", answer.text);
        return BTreeSet::new();
    }
    let answer = answer.json();
    assert_eq!(answer["searched"]["by"], "index", "{answer}");
    let id = |hit: &Value| hit["episodeId"].as_str().unwrap().parse().unwrap();
    answer["data"].as_array().unwrap().iter().map(id).collect()
}

async fn grant(world: &ServerFixture, owner: &ServerFixture) -> String {
    let until = world.store.read(|tx| Ok(tx.now())).await.unwrap().plus(24 * 60 * 60 * 1_000);
    let body = json!({ "ownerId": owner.admin.owner(), "name": "a look", "reason": "asked for", "until": until });
    world.made("/api/v1/grants", &body).await["id"].as_str().unwrap().to_owned()
}

both! {
    async fn br_cross_005_a_question_finds_what_its_path_may_see_and_nothing_else_holds(world: &ServerFixture) {
        for (seed, [first, second]) in HISTORIES {
            let mut chance = Chance(seed);
            let mut gardens = Vec::new();
            for name in [first, second] {
                gardens.push(Garden::new(world.joined_by(name, Role::User, Scope::Write).await));
            }
            for act in 1..=ACTS {
                let number = chance.below(2);
                gardens[number].act(&mut chance).await;
                if act % ASKED_EVERY == 0 && let Some(from) = chance.of(&gardens[number].course()) {
                    let garden = &gardens[number];
                    assert_eq!(garden.found(from).await, garden.visible(from).await, "seed {seed} after {act} from {:?}", from.id);
                }
            }
            for (garden, other) in [(&gardens[0], &gardens[1]), (&gardens[1], &gardens[0])] {
                let (course, granted) = (garden.course(), grant(world, &garden.world).await);
                for _ in 0..QUESTIONS {
                    let from = chance.of(&course).unwrap();
                    let seen = garden.found(from).await;
                    assert_eq!(seen, garden.visible(from).await, "seed {seed} from {:?}", from.id);
                    assert_eq!(found(world, from, Some(&granted)).await, seen, "a grant shows what its owner sees");
                    assert_eq!(found(&other.world, from, None).await, BTreeSet::new(), "nobody else stands there");
                }
                assert_eq!(world.change("DELETE", &format!("/api/v1/grants/{granted}"), "").await.status, 200);
                assert_eq!(found(world, &course[0], Some(&granted)).await, BTreeSet::new(), "one that was ended shows nothing");
                assert_eq!(found(world, &course[0], None).await, BTreeSet::new(), "without naming it a grant shows nothing");
            }
        }
    }
}
