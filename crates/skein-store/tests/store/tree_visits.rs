//! With which node a path went on last from each node it passed.

use skein_core::tree::turn::Speaker;
use skein_core::{ConversationId, NodeId, PathId};
use skein_store::tree::append::NodePosition;

use crate::fixtures::{World, both};
use crate::tree::{after, conversation, say};
use crate::tree_refusals::talk;
use crate::tree_rules::{row, turn_to};

/// The end of a node's own continuation, as a reader of the skeleton finds it.
fn end_below(world: &World, id: ConversationId, node: NodeId) -> NodeId {
    let viewer = world.anna.clone();
    let bones = world.read(move |tx| tx.skeleton(&viewer, PathId::main_of(id), id));
    let next =
        |node: &NodeId| bones.iter().find(|bone| bone.parent == Some(*node) && bone.is_visited).map(|bone| bone.id);
    std::iter::successors(Some(node), next).last().unwrap()
}

/// For each node, in the order they were made, the version that the skeleton names.
fn shown_versions(world: &World, id: ConversationId) -> Vec<Option<NodeId>> {
    let viewer = world.anna.clone();
    let bones = world.read(move |tx| tx.skeleton(&viewer, PathId::main_of(id), id));
    bones.iter().map(|bone| bone.shown_version.map(|place| bones[place].id)).collect()
}

both! {
    fn a_path_comes_back_to_the_continuation_it_left(world: &World) {
        let talk = talk(world);
        let (id, question, [first, second], below_first) = (talk.id, talk.root, talk.answers, talk.last);
        // The older answer was chosen last, then another version of the question and an answer of its own in the same turn.
        turn_to(world, id, second);
        turn_to(world, id, below_first);
        let edit = say(world, id, NodePosition::EditOf(question), "Another question").id;
        assert_eq!(end_below(world, id, edit), edit, "it has no answer of its own");
        let turn = row(world, first).turn().unwrap();
        let own = say(world, id, NodePosition::Beside { turn, parent: Some(edit) }, "Another answer").id;
        assert_eq!(end_below(world, id, edit), own);
        assert_eq!(end_below(world, id, question), below_first, "the last visited, not the newest");
        turn_to(world, id, second);
        assert_eq!((end_below(world, id, question), end_below(world, id, edit)), (second, own));
        assert_eq!(end_below(world, id, first), below_first);
        assert_eq!(world.verify(true).breaks, []);
    }

    fn a_path_follows_the_newest_of_several_ways_it_took(world: &World) {
        let talk = talk(world);
        let (id, first, one) = (talk.id, talk.answers[0], talk.last);
        turn_to(world, id, first);
        let other = say(world, id, after(Some(first), Speaker::User), "Another way").id;
        assert_eq!(end_below(world, id, first), other);
        turn_to(world, id, one);
        assert_eq!(end_below(world, id, first), one);
    }

    fn ag_edit_003_a_skeleton_names_the_version_that_is_shown_holds(world: &World) {
        let id = conversation(world, "buffer");
        let first = say(world, id, after(None, Speaker::User), "Once upon a time").id;
        let answer = say(world, id, after(Some(first), Speaker::Agent), "there was a loom").id;
        let turn = row(world, answer).turn().unwrap();
        let other = say(world, id, NodePosition::Beside { turn, parent: Some(first) }, "there was a weaver").id;
        let edit = say(world, id, NodePosition::EditOf(first), "Long ago").id;
        let again = say(world, id, NodePosition::EditOf(edit), "Once").id;
        let shown = || shown_versions(world, id);
        assert_eq!(shown(), [Some(again), None, None, Some(again), Some(again)], "answers have no versions");
        turn_to(world, id, first);
        assert_eq!(shown(), [Some(first), None, None, Some(first), Some(first)]);
        turn_to(world, id, answer);
        assert_eq!(shown()[0], Some(first), "what follows is shared: going there shows no other version");
        // A version of an answer is still known while another answer is shown.
        let edited = say(world, id, NodePosition::EditOf(answer), "there was a big loom").id;
        turn_to(world, id, other);
        assert_eq!(shown(), [Some(first), Some(edited), None, Some(first), Some(first), Some(edited)]);
    }

    fn ag_edit_003_an_edit_in_a_dialogue_is_no_version_refuses(world: &World) {
        let id = conversation(world, "dialogue");
        let first = say(world, id, after(None, Speaker::User), "Once upon a time").id;
        say(world, id, NodePosition::EditOf(first), "Long ago");
        assert_eq!(shown_versions(world, id), [None, None]);
    }
}
