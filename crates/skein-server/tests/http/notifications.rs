//! Decision Z22: every change that can be asked for is told to whoever's things it is about, and to nobody else.

use serde_json::Value;
use skein_core::Viewer;
use skein_core::account::{Role, Scope};
use skein_core::garden::cursor::Cursor;

use crate::recipes::{carry_out, changes, recipe};
use crate::server_fixture::{ServerFixture, both, fresh_key};

/// The names a viewer is told between two places.
async fn told(world: &ServerFixture, viewer: &Viewer, [after, before]: [Cursor; 2]) -> Vec<&'static str> {
    let viewer = viewer.clone();
    let events = world.store.read(move |tx| tx.events(&viewer, after, 4_096)).await.unwrap();
    let between = events.told.iter().filter(|told| told.cursor < before);
    between.map(|told| told.event.name.as_str()).collect()
}

both! {
    async fn z22_every_change_is_told_to_its_owner_by_a_listed_name_and_to_nobody_else(world: &ServerFixture) {
        let document: Value = serde_json::from_str(&skein_server::http::openapi::text()).unwrap();
        let bystander = world.joined_by("bystander", Role::Admin, Scope::Admin).await;
        for change in changes() {
            let recipe = recipe(world, &change).await;
            let teller = recipe.teller.clone().unwrap_or_else(|| world.admin.clone());
            let before = world.mark().await;
            let answer = carry_out(world, &change, &recipe, Some(&fresh_key())).await;
            assert!(answer.status.is_success(), "{change}: {} {}", answer.status, answer.text);
            let between = [before, world.mark().await];
            let names = told(world, &teller, between).await;
            assert!(!names.is_empty(), "{change} is told to nobody");
            for name in names {
                assert!(document["x-events"][name].is_object(), "{change} tells {name}, which is not in the document");
            }
            assert_eq!(told(world, &bystander.admin, between).await, [""; 0], "{change} is told to a bystander");
        }
    }
}
