//! Settings over HTTP: read by everybody, changed by administrators.

use axum::http::StatusCode;
use serde_json::{Value, json};
use skein_core::account::{Role, Scope};
use skein_core::setting::SETTINGS;

use crate::server_fixture::{ServerFixture, both};

const KEPT: &str = "/api/v1/settings/operations.keptDays";

both! {
    async fn settings_are_read_by_everybody_with_their_limits(world: &ServerFixture) {
        let anna = world.joined_by("anna", Role::User, Scope::Read).await;
        let all = anna.get("/api/v1/settings").await.json();
        let names: Vec<&Value> = all["data"].as_array().unwrap().iter().map(|setting| &setting["name"]).collect();
        assert_eq!(names.len(), SETTINGS.len());
        assert_eq!(names[0], "operations.keptDays");
        let one = anna.get(KEPT).await.json();
        assert_eq!((&one["value"], &one["default"], &one["hash"]), (&json!(7), &json!(7), &Value::Null));
        assert_eq!(anna.get("/api/v1/settings/no.such").await.refused(), (404, "not_found".to_owned()));
    }

    async fn a_setting_is_changed_from_the_state_that_was_looked_at(world: &ServerFixture) {
        let first = world.change("PUT", KEPT, r#"{"value":14}"#).await;
        assert_eq!(
            (first.status, &first.json()["value"], &first.json()["version"]),
            (StatusCode::OK, &json!(14), &json!(1))
        );
        let hash = first.json()["hash"].clone();
        let second = world.change("PUT", KEPT, json!({ "value": 30, "basedOnHash": hash }).to_string()).await;
        assert_eq!((&second.json()["value"], &second.json()["version"]), (&json!(30), &json!(2)));
        let stale = world.change("PUT", KEPT, json!({ "value": 31, "basedOnHash": hash }).to_string()).await;
        assert_eq!(stale.refused(), (409, "record_changed".to_owned()));
        assert_eq!(stale.json()["error"]["details"]["currentHash"], second.json()["hash"]);
        assert_eq!(world.get(KEPT).await.json()["value"], 30);
    }

    async fn a_setting_stays_within_its_limits_and_with_administrators(world: &ServerFixture) {
        for value in ["1", "366", "\"7\"", "7.5", "null"] {
            let refused = world.change("PUT", KEPT, format!(r#"{{"value":{value}}}"#)).await;
            assert_eq!(refused.refused(), (422, "invalid_setting".to_owned()), "{value}");
        }
        let anna = world.joined_by("anna", Role::User, Scope::Write).await;
        let refused = anna.change("PUT", KEPT, r#"{"value":14}"#).await;
        assert_eq!(refused.refused(), (403, "permission_denied".to_owned()));
        assert_eq!(world.change("PUT", KEPT, "{}").await.refused(), (400, "invalid_body".to_owned()));
        assert_eq!(world.get(KEPT).await.json()["value"], 7);
    }
}
