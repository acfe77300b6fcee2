//! Measures a call that is rendered from a template, guarded and recorded, against the same call by bare reqwest.

use std::collections::BTreeSet;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Map, Value, json};
use skein_connect::guard::{Endpoint, Guard, Policy};
use skein_connect::http::{Http, HttpOptions, Limits, Retry};
use skein_connect::rest::{RestRequest, call};
use skein_core::catalog::operation::rest::RestCall;

use crate::appends::two_threads;
use crate::comparison::median;
use crate::report::{Line, Target, Unit};
use crate::{Setting, bare_server};

const WHAT: &str = "guarded REST call over loopback: added to bare reqwest at the median";
const CALLS: usize = 2_000;
const ADDED_MICROSECONDS_MAX: f64 = 200.0;

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let body = setting.folder.path().join("answer.json");
    std::fs::write(&body, json!({"items": [1, 2, 3], "text": "x".repeat(500)}).to_string())?;
    let server = bare_server::start(&body)?;
    let runtime = two_threads()?;
    let rounds = (0..setting.rounds).map(|_| runtime.block_on(round(&server.address)));
    let rounds: Vec<(f64, f64)> = rounds.collect::<Result<_>>()?;
    let added: Vec<f64> = rounds.iter().map(|(ours, theirs)| ours - theirs).collect();
    let [ours, theirs]: [Vec<f64>; 2] = rounds.into_iter().unzip::<_, _, Vec<_>, Vec<_>>().into();
    Ok(vec![
        Line::limited("guarded REST call over loopback, the whole of it", Unit::Microseconds, &ours, Target::None),
        Line::limited("the same call by bare reqwest", Unit::Microseconds, &theirs, Target::None),
        Line::limited(WHAT, Unit::Microseconds, &added, Target::AtMost(ADDED_MICROSECONDS_MAX)),
    ])
}

/// The medians of both sides in microseconds, their calls taking turns.
async fn round(address: &str) -> Result<(f64, f64)> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bare = reqwest::Client::builder().no_proxy().build()?;
    let (host, port) = address.rsplit_once(':').context("an address has a port")?;
    let loopback = BTreeSet::from([Endpoint::new(host, port.parse()?)]);
    let http = Http::new(Guard::new(Policy { loopback, ..Policy::default() }), HttpOptions::default());
    let operation: RestCall = serde_json::from_value(
        json!({"method": "GET", "path": "/api/v1/items/{{id}}", "headers": {"x-trace": "{{id}}"}}),
    )?;
    let inputs = Map::from_iter([("id".to_owned(), Value::from("one"))]).into_iter().collect();
    let endpoint = format!("http://{address}");
    let (mut ours, mut theirs) = (Vec::with_capacity(CALLS), Vec::with_capacity(CALLS));
    for _ in 0..CALLS {
        let started = Instant::now();
        let rendered = operation.render(&inputs).map_err(anyhow::Error::new)?;
        let (limits, retry) = (Limits::default(), Retry::default());
        let request = RestRequest {
            endpoint: &endpoint,
            rendered: &rendered,
            accept: operation.accept,
            credential: None,
            limits,
            retry,
        };
        let report = call(&http, &request).await?;
        ours.push(started.elapsed().as_secs_f64() * 1e6);
        ensure!(report.output?["items"].is_array(), "the answer is another one");
        let started = Instant::now();
        let answer = bare.get(format!("{endpoint}/api/v1/items/one")).header("x-trace", "one").send().await?;
        let answer: Value = serde_json::from_slice(&answer.bytes().await?)?;
        theirs.push(started.elapsed().as_secs_f64() * 1e6);
        ensure!(answer["items"].is_array(), "the answer is another one");
    }
    Ok((median(&ours), median(&theirs)))
}
