//! Defines the services, tools and processes that the benchmarks of executions need.

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::client::{self, Connection};

/// An administrator at a server.
pub(crate) struct Maker {
    connection: Connection,
    address: String,
    key: String,
    requests: u128,
}

impl Maker {
    pub(crate) async fn at(address: &str, key: &str) -> Result<Self> {
        let connection = Connection::open(address).await?;
        Ok(Self { connection, address: address.to_owned(), key: key.to_owned(), requests: 0 })
    }

    /// What the server answers to `POST /api/v1{path}`.
    pub(crate) async fn post(&mut self, path: &str, body: &Value, status: &str) -> Result<Value> {
        self.requests += 1;
        let path = format!("/api/v1{path}");
        let request = client::post(&self.address, &path, &self.key, self.requests, body.to_string().as_bytes());
        let answer = self.connection.ask(&request, status).await?;
        serde_json::from_slice(answer).context("the answer is not JSON")
    }

    async fn made(&mut self, path: &str, body: &Value) -> Result<String> {
        let made = self.post(path, body, "201").await?;
        Ok(made["id"].as_str().context("what was made has no id")?.to_owned())
    }

    /// A process of one step that calls something on this machine; its id.
    pub(crate) async fn one_step(&mut self, called: std::net::SocketAddr, step: &OneStep) -> Result<String> {
        let endpoint = json!({ "host": called.ip().to_string(), "port": called.port() });
        self.made("/allowed-endpoints", &endpoint).await?;
        let text = json!({ "type": "string" });
        let schema =
            json!({ "type": "object", "required": ["endpoint"], "properties": { "endpoint": text, "model": text } });
        let service =
            json!({ "name": step.name, "type": step.service, "protocol": "http", "connectionSchema": schema });
        let service = self.made("/services", &service).await?;
        let mut params = json!({ "endpoint": format!("http://{called}") });
        if let Some(model) = step.model {
            params["model"] = json!(model);
        }
        let tool = json!({ "name": step.name, "serviceId": service, "operation": step.operation,
            "connectionParams": params, "inputSchema": { "type": "object" } });
        let tool = self.made("/tools", &tool).await?;
        let only = json!({ "id": "a", "toolId": tool, "inputs": {}, "output": { "variable": "a" } });
        let process =
            json!({ "name": step.name, "initialContext": [], "steps": [only], "outputTemplate": step.output });
        self.made("/processes", &process).await
    }

    /// Runs a process; the run's id.
    pub(crate) async fn execute(&mut self, process: &str) -> Result<String> {
        let begun = self.post(&format!("/processes/{process}/execute"), &json!({}), "202").await?;
        Ok(begun["executionId"].as_str().context("no run was begun")?.to_owned())
    }
}

/// What the one step calls, and what comes of it.
pub(crate) struct OneStep {
    pub(crate) name: &'static str,
    pub(crate) service: &'static str,
    pub(crate) model: Option<&'static str>,
    pub(crate) operation: Value,
    pub(crate) output: &'static str,
}
