//! Decisions about addresses on this machine: one that would have no effect is refused.

use serde_json::json;

use crate::server_fixture::{ServerFixture, both};

const ENDPOINTS: &str = "/api/v1/allowed-endpoints";

both! {
    async fn z24_a_decision_about_loopback_holds(world: &ServerFixture) {
        for (host, port) in [("127.0.0.1", 7421), ("::1", 11434), ("localhost", 80), ("ollama.example", 7420)] {
            let allowed = world.made(ENDPOINTS, &json!({ "host": host, "port": port })).await;
            assert_eq!((&allowed["host"], &allowed["port"]), (&json!(host), &json!(port)));
        }
    }

    async fn z24_a_decision_without_effect_refuses(world: &ServerFixture) {
        for (host, port, reason) in [
            ("127.0.0.1", 7420, "is this server itself"),
            ("localhost", 7420, "is this server itself"),
            ("169.254.169.254", 80, "a metadata or link-local address, which is never called"),
            ("0.0.0.0", 80, "reserved and no machine's address"),
            ("10.0.0.1", 80, "the configuration of this server can allow its network"),
            ("1.1.1.1", 80, "is called without a decision"),
            ("2130706433", 80, "a decision has to name 127.0.0.1:80"),
        ] {
            let refused = world.post(ENDPOINTS, json!({ "host": host, "port": port }).to_string()).await;
            assert_eq!(refused.breaks(), (422, "Z24".to_owned()), "{host}: {}", refused.text);
            let message = refused.json()["error"]["message"].as_str().unwrap().to_owned();
            assert!(message.contains(reason) && message.contains("name a host and port"), "{message}");
        }
        assert_eq!(world.get(ENDPOINTS).await.json()["data"], json!([]));
        let told = world.get("/api/v1/items?type=SystemEvent&limit=1000").await;
        assert!(!told.text.contains("endpoint.allowed"), "{}", told.text);
    }
}
