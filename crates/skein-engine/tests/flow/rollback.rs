//! An answer that fails or is cancelled leaves its conversation as it was: the path, what turns show, the process hint.

use serde_json::{Map, Value, json};
use skein_core::flow::execution::review::Decision;
use skein_core::flow::execution::state::ExecutionStatus;
use skein_core::tree::actor::ActorId;
use skein_core::tree::conversation::ConversationStatus;
use skein_core::tree::node_status::GenerationStatus;
use skein_core::{ConversationId, ExecutionId, NodeId, PathId, RecordId, TurnId, Viewer};
use skein_engine::flow::{AnswerTarget, Branching, NewAnswers, ShownReview};
use skein_engine::tree::NewAlternative;
use skein_store::blobs::Blobs;
use skein_store::verify::{VerifyOptions, verify};

use crate::engine_fixture::{EngineFixture, both, fresh, process, step};

/// How a conversation stands: where its path is, what each of these turns shows, and its process hint.
type State = (Option<NodeId>, Vec<NodeId>, Option<RecordId>);

/// A conversation in which one answer was given.
struct ConversationFixture<'a> {
    world: &'a EngineFixture,
    id: ConversationId,
    asked: NodeId,
    answer: NodeId,
    turns: [TurnId; 2],
    heron: RecordId,
}

impl<'a> ConversationFixture<'a> {
    async fn new(world: &'a EngineFixture) -> Self {
        let (id, asked) = world.talk("How many?").await;
        let heron = parrot(world, "heron").await;
        let (answer, run) = world.answer(id, heron).await;
        assert_eq!(world.ended(run).await.row.status, ExecutionStatus::Completed);
        let turn = async |node| world.engine.node(&world.caller, node).await.unwrap().seen.row.turn().unwrap();
        let turns = [turn(asked).await, turn(answer).await];
        Self { world, id, asked, answer, turns, heron }
    }

    fn main(&self) -> PathId {
        PathId::main_of(self.id)
    }

    fn viewer(&self) -> Viewer {
        Viewer::User(self.world.caller.user)
    }

    async fn state(&self) -> State {
        let shown = self.world.engine.conversation(&self.world.caller, self.id).await.unwrap();
        let (viewer, main, turns) = (self.viewer(), self.main(), self.turns);
        let selected = self.world.store.read(move |tx| {
            turns.iter().map(|turn| tx.selected_node(&viewer, main, *turn)).collect::<Result<Vec<_>, _>>()
        });
        (shown.cursor, selected.await.unwrap(), shown.shown.entry.process_id)
    }

    fn again(&self) -> AnswerTarget {
        AnswerTarget::Again { turn: self.turns[1], node: self.answer, parent: None }
    }

    fn beside(&self) -> AnswerTarget {
        AnswerTarget::Beside { turn: self.turns[1], parent: None }
    }

    async fn request(
        &self,
        wanted: AnswerTarget,
        processes: &[RecordId],
        make_active: bool,
    ) -> Vec<(NodeId, ExecutionId)> {
        let new = NewAnswers {
            wanted,
            processes: processes.to_vec(),
            samples: 1,
            make_active,
            remember_process: true,
            context: Map::new(),
        };
        let begun = self.world.engine.answer(&self.world.caller, fresh(&self.world.caller), self.id, new).await;
        begun.unwrap().value.begun.into_iter().map(|(grown, run)| (grown.node.seen.row.id, run)).collect()
    }

    /// Requests one answer, to which the path is led.
    async fn one(&self, wanted: AnswerTarget, process: RecordId) -> (NodeId, ExecutionId) {
        let processes = if matches!(wanted, AnswerTarget::Again { .. }) { vec![] } else { vec![process] };
        self.request(wanted, &processes, true).await.remove(0)
    }

    async fn cancel(&self, run: ExecutionId) {
        self.world.engine.cancel_run(&self.world.caller, fresh(&self.world.caller), run).await.unwrap();
        self.world.ended(run).await;
    }

    async fn go_to(&self, turn: TurnId, node: NodeId) {
        let (engine, caller) = (&self.world.engine, &self.world.caller);
        engine.activate(caller, fresh(caller), self.id, turn, node).await.unwrap();
    }

    /// Another wording of the question, turned to at once.
    async fn reword(&self) -> NodeId {
        let content = Some(json!({ "type": "text", "text": "How many storks?" }));
        let new = NewAlternative { content, edited_from: None, parent: None, make_active: true, process: None };
        let (engine, caller) = (&self.world.engine, &self.world.caller);
        let made = engine.add_alternative(caller, fresh(caller), self.id, self.turns[0], new).await.unwrap();
        made.value.node.seen.row.id
    }

    async fn offer(&self, process: Option<RecordId>) {
        self.change(json!({ "processId": process })).await;
    }

    async fn change(&self, change: Value) {
        let (engine, caller) = (&self.world.engine, &self.world.caller);
        let hash = engine.conversation(caller, self.id).await.unwrap().shown.hash;
        let change = serde_json::from_value(change).unwrap();
        engine.change_conversation(caller, fresh(caller), self.id, change, hash).await.unwrap();
    }

    async fn status(&self, node: NodeId) -> GenerationStatus {
        self.world.engine.node(&self.world.caller, node).await.unwrap().seen.row.status
    }

    /// The failed answer is listed, and the tables are what the items say.
    async fn assert_kept(&self, failed: NodeId) {
        assert_eq!(self.status(failed).await, GenerationStatus::Failed);
        let turn = self.world.engine.node(&self.world.caller, failed).await.unwrap().seen.row.turn().unwrap();
        let listed = self.world.engine.turn(&self.world.caller, self.id, turn, None, 20).await.unwrap();
        let selected = |node: &skein_engine::tree::ShownNode| node.seen.is_selected;
        assert_eq!(listed.alternatives.rows.iter().filter(|node| selected(node)).count(), 1, "one of a turn is shown");
        assert!(listed.alternatives.rows.iter().any(|node| node.seen.row.id == failed));
        assert_rebuilt(self.world);
    }
}

fn assert_rebuilt(world: &EngineFixture) {
    tokio::task::block_in_place(|| {
        let folder = tempfile::tempdir().unwrap();
        let blobs = Blobs::directory(folder.path()).unwrap();
        let options = VerifyOptions { deep: true, expect: None };
        let report = verify(&world.store, &blobs, &options, &mut |_| {}).unwrap();
        assert_eq!(report.breaks, []);
    });
}

fn after() -> AnswerTarget {
    AnswerTarget::After { turn: None, parent: None, sources: Vec::new() }
}

/// A process that says the same whatever it is asked.
async fn parrot(world: &EngineFixture, text: &str) -> RecordId {
    let said = step("said", world.tool("Echo").await, json!({ "value": text }));
    world.process(plain(text, said, "{{said.value}}")).await
}

fn plain(name: &str, only: Value, output: &str) -> Value {
    let mut definition = process(name, vec![only], output);
    definition["initialContext"] = json!([]);
    definition
}

fn asking(more: &Value) -> Value {
    let mut ask = json!({ "id": "a", "ask": { "prompt": "?" }, "output": { "variable": "a" } });
    for (name, value) in more.as_object().unwrap() {
        ask[name] = value.clone();
    }
    plain("asks", ask, "{{a}}")
}

/// A process that waits for a person.
async fn waits(world: &EngineFixture) -> RecordId {
    world.process(asking(&json!({}))).await
}

async fn nests(world: &EngineFixture, inner: RecordId, more: Value) -> RecordId {
    let nested =
        json!({ "id": "n", "processId": inner, "inputs": {}, "output": { "variable": "n" }, "execution": more });
    world.process(plain("nests", nested, "{{n}}")).await
}

/// How an answer ends without a result.
#[derive(Debug, Clone, Copy)]
enum End {
    Denied,
    Cancelled,
    Expired,
    ToolError,
    NestedError,
    NestedCancelled,
    TimedOut,
    NothingSaid,
}

impl End {
    const ALL: [Self; 8] = [
        Self::Denied,
        Self::Cancelled,
        Self::Expired,
        Self::ToolError,
        Self::NestedError,
        Self::NestedCancelled,
        Self::TimedOut,
        Self::NothingSaid,
    ];

    async fn process(self, world: &EngineFixture) -> RecordId {
        let echo = world.tool("Echo").await;
        let refused = || plain("refused", step("a", echo, json!({ "value": 1, "more": 2 })), "{{a}}");
        match self {
            Self::Denied | Self::Cancelled => waits(world).await,
            Self::Expired => {
                world.process(asking(&json!({ "review": { "expiresAfter": 1, "onExpire": "fail" } }))).await
            }
            Self::ToolError => world.process(refused()).await,
            Self::NestedError => nests(world, world.process(refused()).await, json!({})).await,
            Self::NestedCancelled => nests(world, waits(world).await, json!({})).await,
            Self::TimedOut => nests(world, waits(world).await, json!({ "timeout": 1 })).await,
            Self::NothingSaid => {
                let said = step("said", echo, json!({ "value": "word" }));
                world.process(plain("mute", said, "{{#if said.other}}x{{/if}}")).await
            }
        }
    }

    async fn reach(self, talk: &ConversationFixture<'_>, run: ExecutionId) {
        match self {
            Self::Denied => talk.world.decide(&talk.world.review().await, Decision::Deny { reason: None }).await,
            Self::Cancelled | Self::NestedCancelled => {
                talk.world.review().await;
                talk.cancel(run).await;
            }
            Self::Expired | Self::ToolError | Self::NestedError | Self::TimedOut | Self::NothingSaid => {}
        }
        let status = talk.world.ended(run).await.row.status;
        assert_ne!(status, ExecutionStatus::Completed, "{self:?}");
    }
}

/// Open questions by the run that asks.
async fn review_of(world: &EngineFixture, run: ExecutionId) -> ShownReview {
    let open = world.engine.reviews(&world.caller, true, None, 50).await.unwrap().rows;
    open.into_iter().find(|review| review.row.run == run).unwrap()
}

both! {
    async fn br_exec_001_a_new_turn_gives_back_the_path_and_the_hint_however_it_ends_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let before = talk.state().await;
        assert_eq!(before, (Some(talk.answer), vec![talk.asked, talk.answer], Some(talk.heron)));
        for end in End::ALL {
            let process = end.process(world).await;
            let (node, run) = talk.one(after(), process).await;
            end.reach(&talk, run).await;
            assert_eq!(talk.state().await, before, "{end:?}");
            talk.assert_kept(node).await;
        }
    }

    async fn br_exec_001_an_archived_conversation_is_archived_again_unless_something_was_said_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let archived = async || {
            let viewer = talk.viewer();
            let id = talk.id;
            world.store.read(move |tx| tx.conversation(&viewer, id)).await.unwrap().archived
        };
        let archive = async || {
            let shown = world.engine.conversation(&world.caller, talk.id).await.unwrap().shown;
            let change = serde_json::from_value(json!({ "status": "archived" })).unwrap();
            let (caller, id) = (&world.caller, talk.id);
            world.engine.change_conversation(caller, fresh(caller), id, change, shown.hash).await.unwrap();
        };
        for end in End::ALL {
            archive().await;
            let (_, run) = talk.one(after(), end.process(world).await).await;
            // Others end by themselves, perhaps before anybody looks.
            if matches!(end, End::Denied | End::Cancelled | End::NestedCancelled) {
                assert!(!archived().await, "{end:?}: it is active while it is answered");
            }
            end.reach(&talk, run).await;
            assert!(archived().await, "{end:?}");
        }
        let end = End::Denied;
        let begun = talk.request(after(), &[end.process(world).await, talk.heron], true).await;
        world.ended(begun[1].1).await;
        end.reach(&talk, begun[0].1).await;
        assert!(!archived().await, "the other answer came");
    }

    async fn br_exec_001_another_answer_gives_back_the_one_that_was_shown_however_it_ends_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let before = talk.state().await;
        for end in End::ALL {
            let (node, run) = talk.one(talk.beside(), end.process(world).await).await;
            end.reach(&talk, run).await;
            assert_eq!(talk.state().await, before, "{end:?}");
            talk.assert_kept(node).await;
        }
    }

    async fn br_exec_001_a_regeneration_that_fails_gives_back_the_answer_it_was_made_from_holds(world: &EngineFixture) {
        let (id, asked) = world.talk("How many?").await;
        let (first, run) = world.answer(id, waits(world).await).await;
        world.decide(&world.review().await, Decision::Answer { value: json!("Eleven.") }).await;
        world.ended(run).await;
        let turn = async |node| world.engine.node(&world.caller, node).await.unwrap().seen.row.turn().unwrap();
        let turns = [turn(asked).await, turn(first).await];
        let talk = ConversationFixture { world, id, asked, answer: first, turns, heron: parrot(world, "heron").await };
        let before = talk.state().await;
        let (node, run) = talk.one(talk.again(), talk.heron).await;
        assert_eq!(talk.state().await.0, Some(node));
        talk.cancel(run).await;
        assert_eq!(talk.state().await, before);
        talk.assert_kept(node).await;
    }

    async fn br_exec_001_what_a_turn_showed_for_another_version_above_comes_back_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let reworded = talk.reword().await;
        let before = talk.state().await;
        assert_eq!(before.1, [reworded, talk.answer], "the answer to the other wording is shown as stale");
        let (node, run) = talk.one(talk.beside(), waits(world).await).await;
        assert_eq!(talk.state().await.1, [reworded, node]);
        talk.cancel(run).await;
        assert_eq!(talk.state().await, before);
        talk.assert_kept(node).await;
    }

    async fn br_exec_001_a_reader_who_stood_further_down_comes_back_there_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let (below, run) = talk.one(after(), talk.heron).await;
        world.ended(run).await;
        let before = talk.state().await;
        assert_eq!(before.0, Some(below));
        talk.reword().await;
        talk.go_to(world.engine.node(&world.caller, below).await.unwrap().seen.row.turn().unwrap(), below).await;
        let (node, run) = talk.one(talk.beside(), waits(world).await).await;
        talk.cancel(run).await;
        assert_eq!(talk.state().await, before);
        talk.assert_kept(node).await;
    }

    async fn br_exec_001_a_reader_who_went_elsewhere_refuses_to_be_moved(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let process = waits(world).await;
        let (node, run) = talk.one(after(), process).await;
        talk.go_to(talk.turns[0], talk.asked).await;
        let elsewhere = talk.state().await;
        assert_eq!((elsewhere.0, elsewhere.2), (Some(talk.asked), Some(process)));
        talk.cancel(run).await;
        assert_eq!(talk.state().await, elsewhere);
        talk.assert_kept(node).await;
    }

    async fn br_exec_001_a_process_that_was_chosen_meanwhile_refuses_to_be_replaced(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let stork = parrot(world, "stork").await;
        let (node, run) = talk.one(after(), waits(world).await).await;
        talk.offer(Some(stork)).await;
        talk.cancel(run).await;
        assert_eq!(talk.state().await, (Some(talk.answer), vec![talk.asked, talk.answer], Some(stork)));
        talk.assert_kept(node).await;
    }

    async fn br_exec_001_a_process_that_was_put_away_meanwhile_refuses_to_be_offered_again(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let (node, run) = talk.one(after(), waits(world).await).await;
        world.engine.delete_process(&world.caller, fresh(&world.caller), talk.heron).await.unwrap();
        talk.cancel(run).await;
        assert_eq!(talk.state().await, (Some(talk.answer), vec![talk.asked, talk.answer], None));
        talk.assert_kept(node).await;
    }

    async fn br_exec_001_an_answer_nobody_was_led_to_gives_back_the_hint_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let (before, process) = (talk.state().await, waits(world).await);
        let (node, run) = talk.request(after(), &[process], false).await.remove(0);
        assert_eq!(talk.state().await, (before.0, before.1.clone(), Some(process)));
        talk.cancel(run).await;
        assert_eq!(talk.state().await, before);
        talk.assert_kept(node).await;
    }

    async fn br_exec_001_of_several_at_once_the_one_that_is_shown_gives_back_the_path_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let (before, process) = (talk.state().await, waits(world).await);
        let begun = talk.request(talk.beside(), &[process, talk.heron], true).await;
        let [(shown, run), (other, done)] = begun[..] else { panic!("two answers: {begun:?}") };
        world.ended(done).await;
        assert_eq!(talk.state().await.0, Some(shown));
        talk.cancel(run).await;
        assert_eq!(talk.state().await, before);
        assert_eq!(talk.status(other).await, GenerationStatus::Complete);
        let begun = talk.request(talk.beside(), &[talk.heron, process], true).await;
        let [(shown, done), (other, run)] = begun[..] else { panic!("two answers: {begun:?}") };
        world.ended(done).await;
        talk.cancel(run).await;
        assert_eq!(talk.state().await.0, Some(shown), "the one that failed was never shown");
        talk.assert_kept(other).await;
    }

    async fn br_exec_001_of_several_at_once_the_complete_one_is_shown_when_the_first_fails_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let before = talk.state().await;
        let shown_beside = async |node: NodeId| {
            let turn = world.engine.node(&world.caller, node).await.unwrap().seen.row.turn().unwrap();
            let (viewer, main) = (talk.viewer(), talk.main());
            world.store.read(move |tx| tx.selected_node(&viewer, main, turn)).await.unwrap()
        };
        let begun = talk.request(after(), &[waits(world).await, talk.heron], true).await;
        let [(failed, run), (complete, done)] = begun[..] else { panic!("two answers: {begun:?}") };
        world.ended(done).await;
        talk.cancel(run).await;
        assert_eq!((talk.state().await, shown_beside(failed).await), (before.clone(), complete));
        talk.assert_kept(failed).await;
        // One that is still to come is shown meanwhile.
        let aside = || AnswerTarget::After { turn: None, parent: Some(complete), sources: Vec::new() };
        let begun = talk.request(aside(), &[waits(world).await, waits(world).await], true).await;
        let [(first, run), (second, later)] = begun[..] else { panic!("two answers: {begun:?}") };
        talk.cancel(run).await;
        assert_eq!(shown_beside(first).await, second);
        world.decide(&review_of(world, later).await, Decision::Answer { value: json!("Eleven.") }).await;
        world.ended(later).await;
        assert_eq!((talk.state().await, shown_beside(first).await), (before, second));
    }

    async fn br_exec_001_answers_that_fail_in_any_order_leave_nothing_behind_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let before = talk.state().await;
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let mut begun = Vec::new();
            for wanted in [after(), AnswerTarget::After { turn: None, parent: Some(talk.answer), sources: vec![] }, talk.beside()] {
                begun.push(talk.one(wanted, waits(world).await).await);
            }
            assert_eq!(talk.state().await.0, Some(begun[2].0));
            for failed in order {
                review_of(world, begun[failed].1).await;
                talk.cancel(begun[failed].1).await;
            }
            assert_eq!(talk.state().await, before, "{order:?}");
            talk.assert_kept(begun[2].0).await;
        }
    }

    async fn br_exec_001_an_answer_that_comes_after_all_refuses_to_be_left(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let (first, done) = talk.one(after(), waits(world).await).await;
        let beside = AnswerTarget::After { turn: None, parent: Some(talk.answer), sources: vec![] };
        let (second, run) = talk.one(beside, waits(world).await).await;
        world.decide(&review_of(world, done).await, Decision::Answer { value: json!("Eleven.") }).await;
        world.ended(done).await;
        assert_eq!(talk.state().await.0, Some(second));
        talk.cancel(run).await;
        assert_eq!(talk.state().await.0, Some(first), "the path stood there, and the answer is complete now");
    }

    async fn br_exec_001_another_participants_path_refuses_to_be_moved(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let before = talk.state().await;
        let (node, run) = talk.one(after(), waits(world).await).await;
        let actor = ActorId::from_bytes([9; 16]);
        let (viewer, id, theirs) = (talk.viewer(), talk.id, PathId::of(talk.id, actor.as_bytes()));
        world.store.write(move |tx| tx.move_path(&viewer, theirs, actor, node)).await.unwrap();
        talk.cancel(run).await;
        let viewer = talk.viewer();
        let cursor = world.store.read(move |tx| tx.path_cursor(&viewer, id, theirs)).await.unwrap();
        assert_eq!((talk.state().await, cursor), (before, Some(node)));
        talk.assert_kept(node).await;
    }

    async fn br_exec_001_a_conversation_that_was_archived_meanwhile_stays_archived_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let before = talk.state().await;
        let (node, run) = talk.one(after(), waits(world).await).await;
        talk.change(json!({ "status": "archived" })).await;
        talk.cancel(run).await;
        assert_eq!(talk.state().await, before);
        let shown = world.engine.conversation(&world.caller, talk.id).await.unwrap().shown.entry;
        assert_eq!(shown.status, ConversationStatus::Archived);
        talk.assert_kept(node).await;
    }

    async fn br_exec_001_an_execution_that_is_resumed_and_fails_again_gives_back_the_same_holds(world: &EngineFixture) {
        let talk = ConversationFixture::new(world).await;
        let (failed, run) = talk.one(after(), waits(world).await).await;
        world.decide(&world.review().await, Decision::Deny { reason: None }).await;
        world.ended(run).await;
        let before = talk.state().await;
        let again = world.engine.branch_run(&world.caller, fresh(&world.caller), run, Branching::default()).await;
        let again = again.unwrap().value;
        let node = world.engine.run(&world.caller, again).await.unwrap().row.target.unwrap().node_id;
        assert_eq!(talk.state().await.0, Some(node), "its reader is led to it");
        world.decide(&review_of(world, again).await, Decision::Deny { reason: None }).await;
        world.ended(again).await;
        assert_eq!(talk.state().await, before);
        talk.assert_kept(failed).await;
        talk.assert_kept(node).await;
    }
}
