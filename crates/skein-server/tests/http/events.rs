//! Events over HTTP: what is told, in which order, from where, and to whom; and the changes a client polls for.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::{Request, StatusCode};
use serde_json::{Value, json};
use skein_core::Viewer;
use skein_core::account::{Role, Scope};
use skein_engine::Worker;

use crate::feed::{Feed, FeedEvent, names};
use crate::recipes::browser;
use crate::server_fixture::{HOST, START, ServerFixture, both, fresh_key};

/// Notes from `a` on, one for each letter.
async fn notes(world: &ServerFixture, letters: &str) -> Vec<Value> {
    let mut made = Vec::new();
    for letter in letters.chars() {
        made.push(world.note(&letter.to_string()).await);
    }
    made
}

fn subjects(heard: &[FeedEvent]) -> Vec<&Value> {
    heard.iter().map(|heard| &heard.data["subject"]).collect()
}

fn is_about(heard: &FeedEvent, item: &Value) -> bool {
    heard.data["subject"] == item["id"]
}

both! {
    async fn events_are_told_by_name_in_order_and_with_the_place_to_go_on_from(world: &ServerFixture) {
        world.settled().await;
        let mut feed = Feed::open(world, "/api/v1/events", None).await;
        let made = notes(world, "ab").await;
        world.post(&format!("/api/v1/items/{}/undo", made[0]["id"].as_str().unwrap()), "").await;
        let key = world.made("/api/v1/keys", &json!({ "name": "laptop", "scope": "read" })).await;
        let heard = feed.take(5).await;
        // A tombstone supersedes what was taken back: that is an edge of its own.
        let expected = ["item.appended", "item.appended", "item.undone", "relation.created", "key.created"];
        assert_eq!(names(&heard), expected);
        assert_eq!(subjects(&heard[..3]), [&made[0]["id"], &made[1]["id"], &made[0]["id"]]);
        assert_eq!(heard[4].data["subject"], key["id"]);
        assert_eq!(heard[0].data["subjectType"], "Note");
        for told in &heard {
            assert_eq!(told.id.as_deref(), told.data["cursor"].as_str());
            assert_eq!(told.name, told.data["event"].as_str().unwrap());
        }
        assert_eq!(heard[1].data["cursor"], made[1]["cursor"]);
    }

    async fn whoever_comes_back_is_told_exactly_what_they_missed(world: &ServerFixture) {
        let made = notes(world, "abcde").await;
        let all = Feed::whole(world).await.until(|heard| is_about(heard, &made[4])).await;
        for (at, seen) in all.iter().enumerate().take(all.len() - 1) {
            let missed = all[at + 1..].to_vec();
            let last = seen.id.as_deref();
            let by_header = Feed::open(world, "/api/v1/events", last).await.take(missed.len()).await;
            assert_eq!(by_header, missed);
            let path = format!("/api/v1/events?after={}", last.unwrap());
            assert_eq!(Feed::open(world, &path, None).await.take(missed.len()).await, missed);
        }
    }

    async fn who_watches_from_where_their_account_was_read_misses_nothing(world: &ServerFixture) {
        world.settled().await;
        let account = world.get("/api/v1/account").await.json();
        // What happens before the stream is open.
        let made = notes(world, "ab").await;
        let heard = Feed::open(world, "/api/v1/events", account["cursor"].as_str()).await.take(2).await;
        assert_eq!(subjects(&heard), [&made[0]["id"], &made[1]["id"]]);
    }

    async fn a_place_from_elsewhere_is_answered_with_resync_and_nonsense_is_refused(world: &ServerFixture) {
        world.note("a").await;
        world.settled().await;
        let mut feed = Feed::open(world, "/api/v1/events", Some("999999999.999999999")).await;
        let resync = feed.next().await;
        assert_eq!(resync.name, "resync");
        assert_eq!(resync.id.as_deref(), resync.data["cursor"].as_str());
        let later = world.note("b").await;
        assert!(is_about(&feed.next().await, &later));
        for after in ["nonsense", "-1.0"] {
            let refused = world.get(&format!("/api/v1/events?after={after}")).await;
            assert_eq!(refused.refused(), (400, "invalid_cursor".to_owned()));
        }
    }

    async fn a_place_just_written_is_gone_on_from(world: &ServerFixture) {
        world.settled().await;
        // On PostgreSQL somebody slow holds the timeline back; on SQLite nobody can.
        let slow = world.hold_back(Viewer::System("slow")).await;
        let own = world.note("a").await;
        let mut feed = Feed::open(world, "/api/v1/events", own["cursor"].as_str()).await;
        drop(slow);
        let later = world.note("b").await;
        assert_eq!(names(&feed.until(|heard| is_about(heard, &later)).await), ["item.appended"]);
    }

    async fn what_was_still_being_written_beneath_a_place_is_told_once_it_is_there(world: &ServerFixture) {
        // What is not settled now is beneath the place too: whoever writes in other tests holds back what made this world.
        world.settled().await;
        let slow = world.hold_back(world.admin.clone()).await;
        let beneath = usize::from(slow.is_some());
        let own = world.note("a").await;
        let mut feed = Feed::open(world, "/api/v1/events", own["cursor"].as_str()).await;
        drop(slow);
        let later = world.note("b").await;
        let heard = feed.until(|heard| is_about(heard, &later)).await;
        assert_eq!(heard.len(), beneath + 1, "{heard:?}");
        assert!(!heard.iter().any(|heard| is_about(heard, &own)), "{heard:?}");
    }

    async fn nothing_of_other_owners_is_told(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let mut feed = Feed::whole(&anna).await;
        notes(world, "abc").await;
        let hers = anna.note("hers").await;
        let heard = feed.until(|heard| is_about(heard, &hers)).await;
        assert_eq!(names(&heard), ["item.appended"]);
        let last = heard[0].id.clone();
        notes(world, "def").await;
        let second = anna.note("again").await;
        let mut feed = Feed::open(&anna, "/api/v1/events", last.as_deref()).await;
        assert!(is_about(&feed.next().await, &second));
    }

    async fn the_progress_of_work_is_told_to_its_owner_without_a_place(world: &ServerFixture) {
        let mut feed = Feed::open(world, "/api/v1/events", None).await;
        // The stream is up once it has told something.
        let note = world.note("a").await;
        feed.until(|heard| is_about(heard, &note)).await;
        let queued = world.post("/api/v1/verifications", "{}").await.json();
        feed.until(|heard| heard.name == "verification.requested").await;
        let _worker = Worker::start(world.engine.clone(), "test".to_owned());
        let heard = feed.until(|heard| heard.name == "verification.completed").await;
        let progress: Vec<&FeedEvent> = heard.iter().filter(|heard| heard.name == "operation.progress").collect();
        assert!(!progress.is_empty(), "{heard:?}");
        let mut reached = 0;
        for told in progress {
            assert_eq!((&told.id, &told.data["operationId"]), (&None, &queued["operationId"]));
            let percent = told.data["progress"].as_i64().unwrap();
            assert!((reached..100).contains(&percent), "{percent} after {reached}");
            reached = percent;
        }
    }

    async fn a_stream_ends_with_the_key_that_opened_it(world: &ServerFixture) {
        let made = world.made("/api/v1/keys", &json!({ "name": "laptop", "scope": "read" })).await;
        let laptop = world.with_key(made["key"].as_str().unwrap().parse().unwrap());
        let mut feed = Feed::open(&laptop, "/api/v1/events", None).await;
        let note = world.note("a").await;
        feed.until(|heard| is_about(heard, &note)).await;
        world.change("DELETE", &format!("/api/v1/keys/{}", made["id"].as_str().unwrap()), "").await;
        world.note("not for it").await;
        assert_eq!(feed.rest().await, "");
    }

    async fn a_stream_ends_with_the_session_that_opened_it(world: &ServerFixture) {
        let cookie = browser(world).await;
        let request = |method: &str, path: &str| {
            Request::builder().method(method).uri(path).header("host", HOST).header("cookie", &cookie)
        };
        let mut feed = Feed::of(world, request("GET", "/api/v1/events")).await;
        let note = world.note("a").await;
        feed.until(|heard| is_about(heard, &note)).await;
        let sign_out = request("DELETE", "/api/v1/account/session").header("idempotency-key", fresh_key());
        assert_eq!(world.send(sign_out.body(Body::empty()).unwrap()).await.status, StatusCode::OK);
        assert_eq!(feed.rest().await, "");
    }

    async fn a_stream_ends_with_the_grant_it_looks_under(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let grant = json!({ "ownerId": anna.admin.owner(), "name": "ticket", "reason": "asked",
            "until": START.plus(3_600_000) });
        let grant = world.made("/api/v1/grants", &grant).await;
        let id = grant["id"].as_str().unwrap();
        world.settled().await;
        let mut feed = Feed::of(world, world.request("GET", "/api/v1/events").header("skein-grant", id)).await;
        world.note("not hers").await;
        let hers = anna.note("hers").await;
        assert!(is_about(&feed.next().await, &hers));
        assert_eq!(anna.change("DELETE", &format!("/api/v1/grants/{id}"), "").await.status.as_u16(), 200);
        anna.note("not for the administrator").await;
        assert_eq!(feed.rest().await, "");
    }

    async fn mg_delta_004_deltas_polled_to_the_end_give_each_change_once_holds(world: &ServerFixture) {
        let note = world.note("a").await;
        let path = format!("/api/v1/items/{}/canonical-time", note["id"].as_str().unwrap());
        for year in 2001..2006 {
            world.change("PUT", &path, json!({ "canonicalAt": format!("{year}-01-01T00:00:00Z") }).to_string()).await;
        }
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        world.settled().await;
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let page = world.get(&format!("/api/v1/deltas?limit=2{after}")).await.json();
            let rows = page["data"].as_array().unwrap().clone();
            after = format!("&after={}", page["next"].as_str().unwrap());
            if rows.is_empty() {
                break;
            }
            seen.extend(rows);
        }
        let versions: Vec<i64> = seen
            .iter()
            .filter(|delta| delta["_type"] == "TimeOverride")
            .map(|delta| delta["version"].as_i64().unwrap())
            .collect();
        assert_eq!(versions, [1, 2, 3, 4, 5]);
        let items: BTreeSet<&str> = seen.iter().map(|delta| delta["itemId"].as_str().unwrap()).collect();
        assert_eq!(items.len(), seen.len());
        let hers = anna.get("/api/v1/deltas").await.json();
        assert!(hers["data"].as_array().unwrap().iter().all(|delta| delta["_type"] != "TimeOverride"), "{hers}");
    }

    async fn mg_delta_004_a_change_refuses_to_be_lost_to_who_asks_again_with_an_earlier_cursor(world: &ServerFixture) {
        let first = world.get("/api/v1/deltas").await.json()["next"].as_str().unwrap().to_owned();
        let made = world.made("/api/v1/projects", &json!({ "name": "Herons" })).await;
        world.settled().await;
        let told = async |after: &str| world.get(&format!("/api/v1/deltas?after={after}")).await.json();
        let page = told(&first).await;
        let of_project = |page: &Value| page["data"].as_array().unwrap().iter().filter(|delta| delta["recordId"] == made["id"]).count();
        assert_eq!((of_project(&page), of_project(&told(&first).await)), (1, 1), "{page}");
        assert_eq!(of_project(&told(page["next"].as_str().unwrap()).await), 0);
        assert_eq!(world.get("/api/v1/deltas?after=x").await.refused(), (400, "invalid_cursor".to_owned()));
    }
}
