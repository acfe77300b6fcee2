//! Somebody is asked to decide in another's place: they see the question and nothing else, and it can be taken back.

use axum::http::StatusCode;
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};

use crate::accounts::{grant_body, under};
use crate::feed::{Feed, FeedEvent};
use crate::recipes::{looking, text, tool, waiting};
use crate::server_fixture::{Answer, ServerFixture, both};

/// What is asked about; said nowhere but in the owner's things.
const WORDS: &str = "the lake";

/// Three people of whom the first has a run that waits.
struct People {
    anna: ServerFixture,
    ben: ServerFixture,
    cleo: ServerFixture,
    run: String,
    review: String,
}

impl People {
    async fn new(world: &ServerFixture) -> Self {
        let [anna, ben, cleo] = ["Anna", "Ben", "Cleo"].map(|name| world.joined_by(name, Role::User, Scope::Write));
        let (anna, ben, cleo) = (anna.await, ben.await, cleo.await);
        let run = waiting(&anna).await;
        let shown = anna.get(&format!("/api/v1/executions/{run}")).await.json();
        let review = shown["reviewIds"][0].as_str().unwrap().to_owned();
        Self { anna, ben, cleo, run, review }
    }

    fn path(&self, end: &str) -> String {
        format!("/api/v1/reviews/{}{end}", self.review)
    }

    async fn give(&self, by: &ServerFixture, to: Value) -> Answer {
        by.change("PUT", &self.path("/delegate"), to.to_string()).await
    }

    async fn given_to_ben(&self) {
        let given = self.give(&self.anna, json!({ "userName": "Ben" })).await;
        assert_eq!(given.status, StatusCode::OK, "{}", given.text);
        let told = given.json();
        assert_eq!((&told["delegate"]["name"], &told["askedBy"]), (&json!("Ben"), &json!(null)), "{told}");
    }

    async fn decides(&self, by: &ServerFixture, decision: Value) -> Answer {
        by.post(&self.path("/decide"), decision.to_string()).await
    }
}

async fn inbox(person: &ServerFixture, which: &str) -> Vec<Value> {
    let listed = person.get(&format!("/api/v1/reviews?status={which}")).await.json();
    listed["data"].as_array().unwrap().clone()
}

fn id_of(person: &ServerFixture) -> Value {
    json!(person.admin.owner())
}

/// What somebody was told until their own note, which comes last.
async fn told(person: &ServerFixture) -> Vec<FeedEvent> {
    let last = person.note("so far").await;
    let mut feed = Feed::whole(person).await;
    feed.until(|heard| heard.data["subject"] == last["id"]).await
}

fn names(told: &[FeedEvent]) -> Vec<&str> {
    told.iter().map(|heard| heard.name.as_str()).filter(|name| name.starts_with("review.")).collect()
}

both! {
    async fn br_step_006_who_was_asked_decides_in_the_owners_place_holds(world: &ServerFixture) {
        let people = People::new(world).await;
        let People { anna, ben, cleo, .. } = &people;
        people.given_to_ben().await;
        let [asked] = &inbox(ben, "open").await[..] else { panic!("one question") };
        assert_eq!(asked["asked"]["prompt"], json!(format!("How many at {WORDS}?")));
        assert_eq!((&asked["askedBy"]["name"], &asked["processName"]), (&json!("Anna"), &json!("Count herons")));
        assert_eq!((&asked["executionId"], &asked["stepId"]), (&json!(null), &json!("ask")), "the run is not theirs");
        assert_eq!(ben.get(&people.path("")).await.json(), *asked);
        assert_eq!(inbox(anna, "open").await[0]["delegate"]["id"], id_of(ben), "its owner still sees it");
        assert_eq!((inbox(cleo, "all").await, cleo.get(&people.path("")).await.status), (vec![], StatusCode::NOT_FOUND));

        let decided = people.decides(ben, json!({ "decision": "answer", "value": 11 })).await;
        assert_eq!(decided.status, StatusCode::OK, "{}", decided.text);
        let ran = anna.get(&format!("/api/v1/executions/{}", people.run)).await.json();
        assert_eq!((&ran["status"], &ran["output"]), (&json!("completed"), &json!("11")), "{ran}");
        let hers = anna.get(&people.path("")).await.json();
        assert_eq!((&hers["decidedBy"]["id"], &hers["decision"]["value"]), (&id_of(ben), &json!(11)));
        let facts = anna.get("/api/v1/items?type=ReviewDecided").await.json();
        assert_eq!(facts["data"][0]["data"]["deciderId"], id_of(ben), "{facts}");
        assert_eq!(ben.get("/api/v1/items?type=ReviewDecided").await.json()["data"], json!([]));

        assert_eq!(inbox(ben, "open").await, Vec::<Value>::new());
        assert_eq!(inbox(ben, "all").await[0]["decision"]["value"], 11, "what they decided stays in sight");
        let late = people.decides(anna, json!({ "decision": "answer", "value": 12 })).await;
        assert_eq!(late.breaks(), (409, "BR-STEP-006".to_owned()), "the first decision counts");
    }

    async fn nothing_else_of_the_owners_is_opened(world: &ServerFixture) {
        let people = People::new(world).await;
        let People { anna, ben, cleo, run, review } = &people;
        people.given_to_ben().await;
        let ran = anna.get(&format!("/api/v1/executions/{run}")).await.json();
        let (process, item) = (text(&ran, "processId"), review.replacen("review", "item", 1));
        for path in [
            format!("executions/{run}"),
            format!("executions/{run}/stream"),
            format!("processes/{process}"),
            format!("items/{item}"),
            format!("records/{process}"),
        ] {
            let answer = ben.get(&format!("/api/v1/{path}")).await;
            assert_eq!(answer.status, StatusCode::NOT_FOUND, "{path}: {}", answer.text);
        }
        for path in ["executions", "items?limit=1000", "deltas?limit=1000", "operations"] {
            let listed = ben.get(&format!("/api/v1/{path}")).await;
            assert!(listed.status.is_success() && !listed.text.contains(WORDS), "{path}: {}", listed.text);
            assert!(!listed.text.contains(run.as_str()), "{path}: {}", listed.text);
        }
        let cancel = ben.post(&format!("/api/v1/executions/{run}/cancel"), "{}").await;
        assert_eq!(cancel.status, StatusCode::NOT_FOUND);
        // A look at what is Ben's is no look at what was put into his hands, nor does being asked open it to others.
        let grant = text(&world.made("/api/v1/grants", &grant_body(ben, 1)).await, "id");
        assert_eq!(under(world, &grant, "/api/v1/reviews?status=all").await.json()["data"], json!([]));
        assert_eq!(under(world, &grant, &people.path("")).await.status, StatusCode::NOT_FOUND);
        for decision in [people.decides(cleo, json!({ "decision": "deny" })), people.decides(world, json!({ "decision": "deny" }))] {
            assert_eq!(decision.await.status, StatusCode::NOT_FOUND);
        }
    }

    async fn br_step_006_what_was_taken_back_or_ended_refuses_whoever_was_asked(world: &ServerFixture) {
        let people = People::new(world).await;
        let People { anna, ben, cleo, run, .. } = &people;
        people.given_to_ben().await;
        assert_eq!(people.give(anna, json!({ "userId": null })).await.json()["delegate"], json!(null));
        assert_eq!((inbox(ben, "all").await, ben.get(&people.path("")).await.status), (vec![], StatusCode::NOT_FOUND));
        let late = people.decides(ben, json!({ "decision": "answer", "value": 11 })).await;
        assert_eq!(late.status, StatusCode::NOT_FOUND);
        assert_eq!(names(&told(ben).await), ["review.delegated", "review.taken_back"]);

        // Given to one after the other, and ended with the run while the second has it.
        people.given_to_ben().await;
        people.give(anna, json!({ "userId": id_of(cleo) })).await;
        assert_eq!((inbox(ben, "open").await.len(), inbox(cleo, "open").await.len()), (0, 1));
        anna.changed("POST", &format!("/api/v1/executions/{run}/cancel"), &json!({})).await;
        assert_eq!((inbox(cleo, "all").await, cleo.get(&people.path("")).await.status), (vec![], StatusCode::NOT_FOUND));
        let ended = people.give(anna, json!({ "userName": "Ben" })).await;
        assert_eq!(ended.breaks(), (409, "BR-STEP-006".to_owned()));

        let [hers, his, last] = [told(anna).await, told(ben).await, told(cleo).await];
        assert_eq!(names(&his), ["review.delegated", "review.taken_back", "review.delegated", "review.taken_back"]);
        assert_eq!(names(&last), ["review.delegated", "review.taken_back"]);
        let all = ["review.requested", "review.delegated", "review.taken_back", "review.delegated", "review.delegated"];
        assert_eq!(names(&hers), all);
        assert!(!format!("{his:?}{last:?}").contains(WORDS), "an event tells where to look, not what is there");
        assert_eq!(names(&told(world).await), [""; 0], "and nobody else is told");
    }

    async fn what_its_owner_decides_first_is_told_to_whoever_was_asked(world: &ServerFixture) {
        let people = People::new(world).await;
        people.given_to_ben().await;
        let decided = people.decides(&people.anna, json!({ "decision": "answer", "value": 11 })).await;
        assert_eq!(decided.json()["decidedBy"]["id"], id_of(&people.anna), "{}", decided.text);
        assert_eq!(names(&told(&people.ben).await), ["review.delegated", "review.taken_back"]);
        assert_eq!(people.ben.get(&people.path("")).await.status, StatusCode::NOT_FOUND);
    }

    async fn br_step_006_asking_somebody_who_cannot_be_asked_refuses(world: &ServerFixture) {
        let people = People::new(world).await;
        let People { anna, ben, cleo, .. } = &people;
        world.joined_by("Namesake", Role::User, Scope::Write).await;
        world.joined_by("Namesake", Role::User, Scope::Write).await;
        let mut told = Vec::new();
        for to in [
            json!({ "userName": "Nobody" }),
            json!({ "userName": "Namesake" }),
            json!({ "userId": "user_01HQ3K4N7Y8M2P5R6T9W0X1Z2A" }),
            json!({ "userId": "user_00000000000000000000000000" }),
            json!({ "userName": "Anna" }),
            json!({ "userId": id_of(anna) }),
        ] {
            let refused = people.give(anna, to).await;
            assert_eq!(refused.breaks(), (422, "BR-STEP-006".to_owned()));
            let mut error = refused.json()["error"].clone();
            error["correlationId"].take();
            told.push(error);
        }
        told.dedup();
        assert_eq!(told.len(), 1, "who there is is not told: {told:?}");
        for to in [json!({}), json!({ "userId": null, "userName": "Ben" })] {
            assert_eq!(people.give(anna, to).await.breaks(), (422, "BR-STEP-006".to_owned()));
        }
        assert_eq!(people.give(cleo, json!({ "userName": "Ben" })).await.status, StatusCode::NOT_FOUND);
        people.given_to_ben().await;
        for to in [json!({ "userName": "Cleo" }), json!({ "userName": "Nobody" }), json!({ "userId": null })] {
            assert_eq!(people.give(ben, to).await.breaks(), (403, "BR-STEP-006".to_owned()), "it goes no further");
        }
    }

    async fn br_step_006_a_question_that_ended_refuses_every_name_alike(world: &ServerFixture) {
        let people = People::new(world).await;
        people.decides(&people.anna, json!({ "decision": "answer", "value": 11 })).await;
        let mut told = Vec::new();
        for to in [
            json!({ "userName": "Ben" }),
            json!({ "userName": "Nobody" }),
            json!({ "userId": id_of(&people.ben) }),
            json!({ "userId": "user_01HQ3K4N7Y8M2P5R6T9W0X1Z2A" }),
            json!({ "userName": "Anna" }),
            json!({ "userId": null }),
        ] {
            let refused = people.give(&people.anna, to).await;
            assert_eq!(refused.breaks(), (409, "BR-STEP-006".to_owned()), "{}", refused.text);
            assert_eq!(refused.json()["error"]["code"], "state_conflict");
            told.push(refused.json()["error"]["message"].clone());
        }
        told.dedup();
        assert_eq!(told.len(), 1, "names are not told apart: {told:?}");
        assert_eq!(names(&self::told(&people.ben).await), [""; 0]);
    }

    async fn br_step_006_a_standing_approval_in_anothers_place_refuses(world: &ServerFixture) {
        let [anna, ben] = ["Anna", "Ben"].map(|name| world.joined_by(name, Role::User, Scope::Write));
        let (anna, ben) = (anna.await, ben.await);
        let called = tool(&anna).await;
        let process = text(&anna.made("/api/v1/processes", &looking(&called)).await, "id");
        let body = json!({ "initialContext": { "place": WORDS } }).to_string();
        anna.post(&format!("/api/v1/processes/{process}/execute"), body).await;
        let review = text(&inbox(&anna, "open").await[0], "id");
        anna.changed("PUT", &format!("/api/v1/reviews/{review}/delegate"), &json!({ "userName": "Ben" })).await;
        let asked = inbox(&ben, "open").await[0].clone();
        assert_eq!((&asked["toolName"], &asked["asked"]["inputs"]["city"]), (&called["name"], &json!(WORDS)));
        assert_eq!(ben.get(&format!("/api/v1/tools/{}", text(&called, "id"))).await.status, StatusCode::NOT_FOUND);
        let decide = async |scope: &str| {
            let body = json!({ "decision": "approve", "scope": scope }).to_string();
            ben.post(&format!("/api/v1/reviews/{review}/decide"), body).await
        };
        assert_eq!(decide("always").await.breaks(), (422, "BR-STEP-006".to_owned()));
        assert_eq!(decide("run").await.status, StatusCode::OK);
        for person in [&anna, &ben] {
            assert_eq!(person.get("/api/v1/approvals").await.json()["data"], json!([]));
        }
    }

    async fn what_its_owner_destroys_is_gone_for_whoever_decided_too(world: &ServerFixture) {
        let people = People::new(world).await;
        people.given_to_ben().await;
        people.decides(&people.ben, json!({ "decision": "answer", "value": "eleven herons" })).await;
        let begun = people.run.replacen("run", "item", 1);
        people.anna.changed("POST", &format!("/api/v1/items/{begun}/redact"), &json!({ "reason": "asked to" })).await;
        for person in [&people.anna, &people.ben] {
            let left = person.get(&people.path("")).await;
            assert_eq!(left.json()["decidedBy"]["id"], id_of(&people.ben));
            assert!(!left.text.contains(WORDS) && !left.text.contains("eleven herons"), "{}", left.text);
        }
    }
}
