//! Measures the time of a streamed token from the provider's socket to our event, beside a bare socket.
//!
//! A server in this process writes the time into each token, so both ends read one clock.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use axum::http::HeaderMap;
use futures::StreamExt as _;
use skein_connect::credential::Credential;
use skein_connect::guard::{Endpoint, Guard, Policy};
use skein_connect::http::{Http, HttpOptions};
use skein_connect::llm::{ChatEvent, ChatRequest, Dialect, LIMITS, LanguageModel, Message, Provider};
use skein_core::catalog::secret::SecretType;

use crate::Setting;
use crate::appends::two_threads;
use crate::comparison::{Comparison, median};
use crate::report::{Line, Target, Unit};

const LIMIT: &str = "models: a streamed token, from the provider's write to our event, median";
const BESIDE: &str = "models: the same; bare: lines read from the socket";
const TOKENS: usize = 500;
/// Between two tokens: a fast model's pace.
const PACE: Duration = Duration::from_millis(2);
const MILLISECONDS_MAX: f64 = 2.0;
/// In use while measuring, because looking for it costs time.
const KEY: &[u8] = b"sk-bench-0123456789abcdef0123456789abcdef";

pub(crate) fn run(setting: &mut Setting) -> Result<Vec<Line>> {
    let clock = Instant::now();
    let server = TokenServer::start(clock, TOKENS)?;
    let runtime = two_threads()?;
    let model = model(server.address)?;
    let ours = || runtime.block_on(through_skein(&model, clock));
    let theirs = || bare(server.address, clock);
    let sides = Comparison::alternate(setting.rounds, ours, theirs)?;
    server.stop()?;
    Ok(vec![
        Line::limited(LIMIT, Unit::Milliseconds, &sides.ours, Target::AtMost(MILLISECONDS_MAX)),
        Line::compared(BESIDE, Unit::Milliseconds, &sides, Target::None),
    ])
}

fn model(address: SocketAddr) -> Result<LanguageModel> {
    let endpoint = Endpoint::new(&address.ip().to_string(), address.port());
    let guard = Guard::new(Policy { loopback: [endpoint].into(), ..Policy::default() });
    let credential = Credential::new(SecretType::ApiKey, KEY, Some(&Dialect::Chat.key_use()));
    Ok(LanguageModel::Provider(Provider {
        http: Http::new(guard, HttpOptions::default()),
        dialect: Dialect::Chat,
        base_url: format!("http://{address}"),
        credential: Some(Arc::new(credential.context("the key has the form of one")?)),
        headers: HeaderMap::new(),
        limits: LIMITS,
    }))
}

async fn through_skein(model: &LanguageModel, clock: Instant) -> Result<f64> {
    let request = ChatRequest::new("bench", vec![Message::user("Go.")]).streamed();
    let mut events = model.chat(&request).await?;
    let mut waits = Vec::with_capacity(TOKENS);
    while let Some(event) = events.next().await {
        if let ChatEvent::Text(token) = event? {
            waits.push(since(token.trim(), clock)?);
        }
    }
    settled(&waits)
}

fn bare(address: SocketAddr, clock: Instant) -> Result<f64> {
    let mut connection = TcpStream::connect(address)?;
    connection.write_all(b"POST / HTTP/1.1\r\nhost: bench\r\ncontent-length: 0\r\n\r\n")?;
    let mut waits = Vec::with_capacity(TOKENS);
    for line in BufReader::new(connection).lines() {
        let line = line?;
        if let Some((_, rest)) = line.split_once("\"content\":\"") {
            waits.push(since(rest.split(' ').next().unwrap_or_default(), clock)?);
        }
    }
    settled(&waits)
}

/// Milliseconds since the moment written in a token.
pub(crate) fn since(token: &str, clock: Instant) -> Result<f64> {
    let written = Duration::from_nanos(token.parse().with_context(|| format!("no time in {token:?}"))?);
    Ok(clock.elapsed().saturating_sub(written).as_secs_f64() * 1e3)
}

fn settled(waits: &[f64]) -> Result<f64> {
    if waits.len() != TOKENS {
        bail!("{} of {TOKENS} tokens came", waits.len());
    }
    Ok(median(waits))
}

/// A provider that says nothing but the time.
pub(crate) struct TokenServer {
    pub(crate) address: SocketAddr,
    ending: Sender<()>,
    serving: JoinHandle<Result<()>>,
}

impl TokenServer {
    /// One that says so many tokens each time it is asked.
    pub(crate) fn start(clock: Instant, tokens: usize) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let (ending, ended) = channel();
        let serving = std::thread::spawn(move || serve(&listener, clock, tokens, &ended));
        Ok(Self { address, ending, serving })
    }

    pub(crate) fn stop(self) -> Result<()> {
        drop(self.ending);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        self.serving.join().map_err(|_| anyhow::anyhow!("the provider panicked"))?
    }
}

fn serve(listener: &TcpListener, clock: Instant, tokens: usize, ended: &Receiver<()>) -> Result<()> {
    for connection in listener.incoming() {
        if ended.try_recv() == Err(std::sync::mpsc::TryRecvError::Disconnected) {
            return Ok(());
        }
        answer(connection?, clock, tokens, ended)?;
    }
    Ok(())
}

fn answer(connection: TcpStream, clock: Instant, tokens: usize, ended: &Receiver<()>) -> Result<()> {
    connection.set_nodelay(true)?;
    let mut connection = BufReader::new(connection);
    let mut length = 0;
    loop {
        let mut line = String::new();
        connection.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    connection.read_exact(&mut vec![0; length])?;
    let connection = connection.get_mut();
    connection.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    for _ in 0..tokens {
        // Nothing is ever sent: this waits.
        let _ = ended.recv_timeout(PACE);
        let now = clock.elapsed().as_nanos();
        let token = format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{now} \"}}}}]}}\n\n");
        connection.write_all(token.as_bytes())?;
    }
    let end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    Ok(connection.write_all(end.as_bytes())?)
}
