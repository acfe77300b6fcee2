//! Items over HTTP: what is answered when all is well.

use axum::http::StatusCode;
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::{ItemId, Viewer};
use skein_store::Tx;

use crate::server_fixture::{ServerFixture, both};

fn ids(listing: &Value) -> Vec<&str> {
    listing["data"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

fn id(item: &Value) -> ItemId {
    item["id"].as_str().unwrap().parse().unwrap()
}

both! {
    async fn mg_delta_001_each_change_of_a_record_is_an_item_that_names_both_hashes_holds(world: &ServerFixture) {
        let made = world.made("/api/v1/projects", &json!({ "name": "Herons" })).await;
        let path = format!("/api/v1/projects/{}", made["id"].as_str().unwrap());
        let changed = world.changed("PUT", &path, &json!({ "name": "Egrets", "basedOnHash": made["hash"] })).await;
        let items = world.get("/api/v1/items?type=EntityDelta&limit=100").await.json();
        let of_project = |item: &&Value| item["data"]["entityId"] == made["id"];
        let mut deltas: Vec<&Value> = items["data"].as_array().unwrap().iter().filter(of_project).collect();
        deltas.sort_by_key(|item| item["data"]["version"].as_i64());
        let told: Vec<_> = deltas.iter().map(|item| ["commit", "parent", "version", "entityType"].map(|name| item["data"][name].clone())).collect();
        assert_eq!(told, [
            [made["hash"].clone(), Value::Null, json!(1), json!("Project")],
            [changed["hash"].clone(), made["hash"].clone(), json!(2), json!("Project")],
        ]);
        let names: Vec<&Value> = deltas.iter().map(|item| &item["data"]["document"]["data"]["name"]).collect();
        assert_eq!(names, [&json!("Herons"), &json!("Egrets")]);
    }

    async fn mg_delta_001_a_delta_that_a_client_writes_refuses(world: &ServerFixture) {
        let before = world.count().await;
        let forged = json!({ "_type": "EntityDelta", "data": { "entityId": "entity_01HQ3K4N7Y8M2P5R6T9W0X1Z2A", "version": 2 } });
        let refused = world.post("/api/v1/items", forged.to_string()).await;
        assert_eq!(refused.status, 422, "{}", refused.text);
        assert_eq!(world.count().await, before);
    }

    async fn a_stated_item_comes_back_whole(world: &ServerFixture) {
        let data = json!({ "description": "é", "n": -0.5 });
        let body = json!({ "_type": "Note", "data": data, "canonicalAt": "2020-01-01T01:00:00+01:00" });
        let answer = world.post("/api/v1/items", body.to_string()).await;
        assert_eq!(answer.status, StatusCode::CREATED);
        let item = answer.json();
        assert_eq!((&item["_type"], &item["data"]), (&body["_type"], &body["data"]));
        assert_eq!(item["canonicalAt"], "2020-01-01T00:00:00.000Z");
        assert_eq!(item["ownerId"], world.admin.owner().to_string());
        assert_eq!(answer.header("location"), format!("/api/v1/items/{}", id(&item)));
        let names = "_type canonicalAt cursor data hash id operationId ownerId payloadHash realizedAt";
        assert_eq!(item.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" "), names);
    }

    async fn one_item_is_read_by_its_id(world: &ServerFixture) {
        let stated = world.note("a").await;
        let answer = world.get(&format!("/api/v1/items/{}", id(&stated))).await;
        let mut stated = stated;
        stated.as_object_mut().unwrap().remove("operationId");
        assert_eq!((answer.status, answer.json()), (StatusCode::OK, stated));
    }

    async fn a_batch_is_answered_in_its_order(world: &ServerFixture) {
        let items: Vec<Value> = (0..1_000).map(|n| json!({ "_type": "Count", "data": { "n": n } })).collect();
        let stated = world.state(&json!({ "items": items })).await;
        let numbers: Vec<&Value> = stated["data"].as_array().unwrap().iter().map(|item| &item["data"]["n"]).collect();
        assert_eq!(numbers, (0..1_000).map(Value::from).collect::<Vec<_>>().iter().collect::<Vec<_>>());
    }

    async fn the_largest_and_deepest_document_is_kept(world: &ServerFixture) {
        let deep = format!(r#"{{"_type":"X","data":{{"a":{}{}}}}}"#, "[".repeat(63), "]".repeat(63));
        assert_eq!(world.post("/api/v1/items", deep).await.status, StatusCode::CREATED);
        let large = format!(r#" {{"_type":"X", "data" : {{"a":"{}"}} }}"#, "x".repeat((1 << 20) - 8));
        assert_eq!(world.post("/api/v1/items", large).await.status, StatusCode::CREATED);
    }

    async fn pages_follow_each_other_in_both_orders_and_clocks(world: &ServerFixture) {
        for year in [2003, 2001, 2002] {
            let canonical_at = format!("{year}-01-01T00:00:00Z");
            world.state(&json!({ "_type": "Year", "data": { "y": year }, "canonicalAt": canonical_at })).await;
        }
        let check = async |parameters: &str, expected: [i64; 3]| {
            let (mut years, mut next) = (Vec::new(), String::new());
            while years.len() < 3 {
                let page = world.get(&format!("/api/v1/items?type=Year&limit=1&{parameters}{next}")).await.json();
                assert_eq!((&page["pagination"]["limit"], &page["pagination"]["prev"]), (&json!(1), &Value::Null));
                years.push(page["data"][0]["data"]["y"].as_i64().unwrap());
                next = page["pagination"]["next"].as_str().map(|next| format!("&cursor={next}")).unwrap_or_default();
            }
            assert_eq!((years, next), (expected.to_vec(), String::new()), "{parameters}");
        };
        check("clock=realized&order=asc", [2003, 2001, 2002]).await;
        check("order=desc", [2002, 2001, 2003]).await;
        check("clock=canonical", [2001, 2002, 2003]).await;
        check("clock=canonical&order=desc", [2003, 2002, 2001]).await;
    }

    async fn from_is_inclusive_and_until_exclusive(world: &ServerFixture) {
        for year in [2001, 2002, 2003] {
            let canonical_at = format!("{year}-01-01T00:00:00Z");
            world.state(&json!({ "_type": "Year", "data": { "y": year }, "canonicalAt": canonical_at })).await;
        }
        let path = "/api/v1/items?clock=canonical&from=2001-01-01T00:00:00Z&until=2003-01-01T00:00:00Z";
        let listing = world.get(path).await.json();
        let years: Vec<&Value> = listing["data"].as_array().unwrap().iter().map(|item| &item["data"]["y"]).collect();
        assert_eq!(years, [2001, 2002]);
    }

    async fn an_undone_item_leaves_the_list_and_names_its_tombstone(world: &ServerFixture) {
        let (kept, undone) = (world.note("kept").await, world.note("undone").await);
        let (admin, item) = (world.admin.clone(), id(&undone));
        let tombstone = world.store.write(move |tx| tx.undo_item(&admin, item)).await.unwrap().value;
        let listing = world.get("/api/v1/items?type=Note").await.json();
        assert_eq!(ids(&listing), [id(&kept).to_string()]);
        let read = world.get(&format!("/api/v1/items/{item}")).await.json();
        assert_eq!(read["supersededBy"], tombstone.item.header.id.to_string());
        assert_eq!(read["data"], undone["data"]);
    }

    async fn a_redacted_item_says_so_and_keeps_its_hashes(world: &ServerFixture) {
        let stated = world.note("a secret").await;
        let (admin, item) = (world.admin.clone(), id(&stated));
        world.store.write(move |tx| tx.redact_item(&admin, item, "asked for")).await.unwrap();
        let read = world.get(&format!("/api/v1/items/{item}")).await.json();
        assert_eq!((&read["data"], &read["redacted"]), (&Value::Null, &json!(true)));
        assert_eq!((&read["hash"], &read["payloadHash"]), (&stated["hash"], &stated["payloadHash"]));
    }

    async fn another_users_items_do_not_exist(world: &ServerFixture) {
        let stated = world.note("mine").await;
        let create = |tx: &mut Tx<'_>| tx.create_user(&Viewer::System("test"), "other", Role::User);
        let other = world.store.write(create).await.unwrap().value;
        let other = world.clone().asked_by(Viewer::User(other), Scope::Write).await;
        let read = other.get(&format!("/api/v1/items/{}", id(&stated))).await;
        assert_eq!((read.status, read.code().as_str()), (StatusCode::NOT_FOUND, "not_found"));
        assert_eq!(ids(&other.get("/api/v1/items?type=Note").await.json()), [""; 0]);
    }
}

both! {
    async fn a_list_leaves_out_what_only_keeps_the_books_unless_it_is_asked_for(world: &ServerFixture) {
        let (one, other) = (world.note("a").await, world.note("b").await);
        let relation = json!({ "kind": "mentions", "source": one["id"], "target": other["id"] });
        let made = world.made("/api/v1/relations", &relation).await;
        let types = async |query: &str| {
            let listing = world.get(&format!("/api/v1/items{query}")).await.json();
            let all = listing["data"].as_array().unwrap();
            all.iter().map(|item| item["_type"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(types("").await, ["Note", "Note"]);
        assert_eq!(types("?includeSystem=false&clock=canonical").await, ["Note", "Note"]);
        let all = types("?includeSystem=true").await;
        assert!(all.contains(&"RelationCreated".to_owned()) && all.contains(&"EntityDelta".to_owned()), "{all:?}");
        assert_eq!(types("?type=RelationCreated").await, ["RelationCreated"]);
        let refused = world.get("/api/v1/items?includeSystem=maybe").await;
        assert_eq!(refused.refused(), (400, "invalid_query".to_owned()));

        let found = world.get(&format!("/api/v1/relations?of={}", one["id"].as_str().unwrap())).await.json();
        assert_eq!(ids(&found), [made["id"].as_str().unwrap()]);
        let none = world.get(&format!("/api/v1/relations?of={}&kind=triggers", one["id"].as_str().unwrap())).await;
        assert_eq!(none.json()["data"], json!([]));
    }

    async fn a_user_is_made_by_the_administrator_who_made_them(world: &ServerFixture) {
        let made = world.made("/api/v1/users", &json!({ "name": "anna", "role": "user" })).await;
        let anna = made["id"].as_str().unwrap().parse().unwrap();
        let theirs = world.clone().asked_by(Viewer::User(anna), Scope::Read).await;
        let path = format!("/api/v1/records/{}/history", made["id"].as_str().unwrap().replace("user_", "entity_"));
        let history = theirs.get(&path).await.json();
        assert_eq!(history["data"][0]["author"], json!(world.admin.owner()), "{history}");
    }
}
