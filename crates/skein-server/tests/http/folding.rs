//! A folded branch that is reopened is there as a whole: it starts at the end the branch had when it was folded.

use serde_json::{Value, json};
use skein_core::ConversationId;
use skein_core::PathId;
use skein_core::tree::actor::{ActorId, AuthorType};
use skein_core::tree::turn::{Speaker, TurnType};
use skein_store::tree::append::{NodePlacement, NodePosition};

use crate::conversation_fixture::{CONVERSATIONS, ConversationFixture, activation, id, turn_path};
use crate::server_fixture::{ServerFixture, both};

/// What is said on a conversation's path, by `GET …/path`.
async fn texts(talk: &ConversationFixture<'_>) -> Vec<String> {
    let path = talk.get("/path").await;
    path["data"].as_array().unwrap().iter().map(|node| node["content"]["text"].as_str().unwrap().to_owned()).collect()
}

async fn fold(talk: &ConversationFixture<'_>) {
    talk.world.changed("POST", &format!("{}/fold", talk.path), &json!({ "summary": "Four." })).await;
}

async fn reopen<'a>(talk: &ConversationFixture<'a>) -> ConversationFixture<'a> {
    ConversationFixture::of(talk.world, &talk.made("/reopen", &json!({})).await)
}

async fn go_to(talk: &ConversationFixture<'_>, said: &Value) {
    let went = talk.world.change("PUT", &format!("{}{}", talk.path, activation(said)), "").await;
    assert_eq!(went.status, 200, "{}", went.text);
}

/// A fork in which four things were said, the second of them in two versions.
async fn branch<'a>(world: &'a ServerFixture, root: &ConversationFixture<'a>) -> (ConversationFixture<'a>, [Value; 4]) {
    let question = root.say(None, "question").await;
    let fork = ConversationFixture::of(world, &root.made("/fork", &json!({ "nodeId": question["node"]["id"] })).await);
    let one = fork.say(None, "one").await;
    let first = fork.say(Some(&one), "two, at first").await;
    fork.say(Some(&first), "three of the first").await;
    let other = json!({ "text": "two", "editedFrom": first["node"]["id"], "makeActive": true });
    let two = fork.made(&format!("{}/alternatives", turn_path(&first)), &other).await;
    let three = fork.say(Some(&two), "three").await;
    let four = fork.say(Some(&three), "four").await;
    (fork, [one, two, three, four])
}

const WHOLE: [&str; 5] = ["question", "one", "two", "three", "four"];

both! {
    async fn mg_conv_006_a_reopened_branch_starts_at_its_end_wherever_its_reader_stands_holds(world: &ServerFixture) {
        for (before, after) in [(None, None), (None, Some(0)), (Some(0), None), (Some(1), Some(2)), (Some(2), Some(0))] {
            let root = ConversationFixture::new(world).await;
            let (fork, said) = branch(world, &root).await;
            if let Some(place) = before {
                go_to(&fork, &said[place]).await;
            }
            fold(&fork).await;
            if let Some(place) = after {
                go_to(&fork, &said[place]).await;
            }
            let reopened = reopen(&fork).await;
            assert_eq!(texts(&reopened).await, WHOLE, "{before:?} {after:?}");
            let five = reopened.say(None, "five").await;
            assert_eq!(texts(&reopened).await[4..], ["four", "five"]);
            let window = world.get(&format!("/api/v1/nodes/{}/context?format=messages", id(&five["node"]))).await;
            for text in WHOLE {
                assert!(window.text.contains(text), "{text}: {}", window.text);
            }
        }
    }

    async fn mg_conv_006_a_reopened_branch_is_found_by_what_it_continues_holds(world: &ServerFixture) {
        let talk = ConversationFixture::new(world).await;
        talk.say(None, "question").await;
        fold(&talk).await;
        let new = reopen(&talk).await.shown().await;
        let old = talk.shown().await;
        let listed = world.get(&format!("/api/v1/relations?of={}&kind=continues", id(&new))).await.json();
        let found = &listed["data"][0];
        assert_eq!((&found["source"], &found["target"], &found["sourceType"]), (&new["id"], &old["id"], &json!("log")));
        for (from, direction, reached) in [(&new, "forward", &old), (&old, "backward", &new)] {
            let path = format!("/api/v1/relations/chain?from={}&kind=continues&direction={direction}", id(from));
            assert_eq!(world.get(&path).await.json()["data"][0]["id"], reached["id"]);
        }
    }

    async fn mg_conv_006_continuing_what_was_not_reopened_refuses(world: &ServerFixture) {
        let (one, other) = (ConversationFixture::new(world).await.shown().await, ConversationFixture::new(world).await.shown().await);
        for (source, target) in [(&one, &other), (&other, &one)] {
            let body = json!({ "kind": "continues", "source": source["id"], "sourceType": "log", "target": target["id"], "targetType": "log" });
            assert_eq!(world.post("/api/v1/relations", body.to_string()).await.breaks(), (422, "MG-CONV-006".to_owned()));
        }
    }

    async fn mg_conv_006_a_branch_ends_at_the_node_that_is_named_when_it_is_folded_holds(world: &ServerFixture) {
        let root = ConversationFixture::new(world).await;
        let (fork, [_, two, three, _]) = branch(world, &root).await;
        go_to(&fork, &two).await;
        let body = json!({ "summary": "Three.", "nodeId": three["node"]["id"] });
        world.changed("POST", &format!("{}/fold", fork.path), &body).await;
        assert_eq!(texts(&reopen(&fork).await).await, WHOLE[..4]);
    }

    async fn mg_conv_006_a_branch_reads_on_where_its_reader_was_last_when_it_was_folded_holds(world: &ServerFixture) {
        let root = ConversationFixture::new(world).await;
        let (fork, [one, two, ..]) = branch(world, &root).await;
        let turn = fork.get(&turn_path(&two)).await;
        let alternatives = turn["alternatives"].as_array().unwrap();
        let first = alternatives.iter().find(|one| one["content"]["text"] == "two, at first").unwrap();
        // The reader goes back to the first version and what follows it, then up to the beginning.
        let three = fork.get(&format!("/path?nodeId={}", id(first))).await;
        assert_eq!(three["data"].as_array().unwrap().len(), 3);
        let below = world.get(&format!("/api/v1/nodes/{}/children", id(first))).await.json();
        let below = below["data"][0].clone();
        let activate = format!("/turns/{}/alternatives/{}/activate", below["turnId"].as_str().unwrap(), id(&below));
        assert_eq!(world.change("PUT", &format!("{}{activate}", fork.path), "").await.status, 200);
        go_to(&fork, &one).await;
        fold(&fork).await;
        assert_eq!(texts(&reopen(&fork).await).await, ["question", "one", "two, at first", "three of the first"]);
    }

    async fn mg_conv_006_folding_and_reopening_again_keeps_all_of_it_holds(world: &ServerFixture) {
        let root = ConversationFixture::new(world).await;
        let (fork, _) = branch(world, &root).await;
        fold(&fork).await;
        let silent = reopen(&fork).await;
        fold(&silent).await;
        let second = reopen(&silent).await;
        assert_eq!(texts(&second).await, WHOLE, "nothing was said in between");
        let five = second.say(None, "five").await;
        second.say(Some(&five), "six").await;
        go_to(&second, &five).await;
        fold(&second).await;
        let third = reopen(&second).await;
        assert_eq!(texts(&third).await[3..], ["three", "four", "five", "six"]);
        let fork = ConversationFixture::of(world, &{
            third.say(None, "seven").await;
            third.made("/fork", &json!({})).await
        });
        fork.say(None, "eight").await;
        assert_eq!(texts(&fork).await, ["question", "one", "two", "three", "four", "five", "six", "seven", "eight"]);
    }

    async fn mg_conv_006_an_edit_above_a_folded_branch_refuses_to_change_it(world: &ServerFixture) {
        let root = ConversationFixture::new(world).await;
        let (fork, _) = branch(world, &root).await;
        fold(&fork).await;
        let question = root.shown().await["rootNodeId"].clone();
        let turn = root.shown().await["rootTurnId"].as_str().unwrap().to_owned();
        let edit = json!({ "text": "another question", "editedFrom": question, "makeActive": true });
        root.made(&format!("/turns/{turn}/alternatives"), &edit).await;
        assert_eq!(texts(&root).await, ["another question"]);
        assert_eq!(texts(&reopen(&fork).await).await, WHOLE);
    }

    async fn mg_conv_006_a_buffer_is_reopened_in_the_versions_it_showed_holds(world: &ServerFixture) {
        let root = ConversationFixture::of(world, &world.made(CONVERSATIONS, &json!({ "mode": "buffer" })).await);
        let (fork, [one, two, ..]) = branch(world, &root).await;
        let edit = json!({ "text": "one, again", "editedFrom": one["node"]["id"], "makeActive": true });
        fork.made(&format!("{}/alternatives", turn_path(&one)), &edit).await;
        assert_eq!(texts(&fork).await.len(), 2, "its reader stands at the edit");
        fold(&fork).await;
        let reopened = reopen(&fork).await;
        let shown = texts(&reopened).await;
        assert_eq!(shown, ["question", "one, again", "two", "three", "four"]);
        go_to(&fork, &two).await;
        go_to(&fork, &one).await;
        assert_eq!(texts(&reopened).await, shown, "what is read in the folded one changes nothing");
        fold(&reopened).await;
        assert_eq!(texts(&reopen(&reopened).await).await, shown, "nothing was said in between");
    }

    async fn mg_conv_006_a_branch_whose_reader_stands_on_a_failed_answer_can_be_reopened_holds(world: &ServerFixture) {
        let root = ConversationFixture::new(world).await;
        let (fork, [.., four]) = branch(world, &root).await;
        let conversation: ConversationId = fork.path.rsplit('/').next().unwrap().parse().unwrap();
        let parent = Some(id(&four["node"]).parse().unwrap());
        let placing = NodePlacement {
            conversation,
            position: NodePosition::After { parent, speaker: Speaker::Agent, turn_type: TurnType::Message },
            author: ActorId::from_bytes([9; 16]),
            author_type: AuthorType::Model,
            sources: Vec::new(),
            executed_by: None,
            leads: Some(PathId::main_of(conversation)),
        };
        let admin = world.admin.clone();
        let failed = world.store.write(move |tx| {
            let node = tx.reserve_node(&admin, &placing)?.0.id;
            tx.fail_node(&admin, node, "no answer")
        });
        failed.await.unwrap();
        fold(&fork).await;
        assert_eq!(texts(&reopen(&fork).await).await, WHOLE);
    }
}
