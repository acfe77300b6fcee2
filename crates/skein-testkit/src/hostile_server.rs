//! Serves HTTP as badly as a test asks: resets, silence, slow bytes, endless bodies.
//!
//! Servers written by others are polite; the faults a client must survive come from here. A test gives a
//! function from request to [`Behaviour`]. Start at [`HostileServer::start`].

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

static ENDLESS_PIECE: [u8; 64 << 10] = [b'x'; 64 << 10];

/// What is done with a request.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// A whole answer, after which the connection is kept.
    Answer { status: u16, headers: Vec<(String, String)>, body: Vec<u8> },
    /// These bytes and nothing else, then the end of the connection.
    Raw(Vec<u8>),
    /// These bytes, then a reset.
    Reset(Vec<u8>),
    /// Nothing, with the connection held open until the client leaves.
    Silence,
    /// These bytes, then nothing, with the connection held open until the client leaves.
    Stall(Vec<u8>),
    /// These bytes at once, then the pieces one by one with a pause before each, then the end of the connection.
    Drip { head: Vec<u8>, pieces: Vec<Vec<u8>>, pause: Duration },
    /// An answer whose body has no end.
    Endless,
}

impl Behaviour {
    pub fn answer(status: u16, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Self {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Self::Answer { status, headers, body: body.into() }
    }

    pub fn json(body: &str) -> Self {
        Self::answer(200, &[("content-type", "application/json")], body)
    }

    pub fn redirect(status: u16, to: &str) -> Self {
        Self::answer(status, &[("location", to)], "")
    }
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    /// With the query.
    pub path: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Which connection it came on, counted from 1.
    pub connection: usize,
}

impl Request {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }
}

type Script = dyn Fn(&Request) -> Behaviour + Send + Sync;

/// A running server. Dropping it ends it with all its connections.
pub struct HostileServer {
    address: SocketAddr,
    seen: Arc<Mutex<Vec<Request>>>,
    is_over: Arc<AtomicBool>,
    /// Dropped to wake a pausing thread.
    ending: Option<Sender<()>>,
    accepting: Option<JoinHandle<()>>,
}

impl HostileServer {
    /// Listens on a free port of 127.0.0.1.
    pub fn start(script: impl Fn(&Request) -> Behaviour + Send + Sync + 'static) -> Self {
        Self::start_on("127.0.0.1:0", script)
    }

    /// Listens on an address, whose port may be 0.
    pub fn start_on(address: &str, script: impl Fn(&Request) -> Behaviour + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(address).expect("a loopback address can be bound");
        let address = listener.local_addr().expect("a bound listener has an address");
        let (seen, is_over) = (Arc::default(), Arc::new(AtomicBool::new(false)));
        let (ending, ended) = channel();
        let host = Host { script: Arc::new(script), seen: Arc::clone(&seen), is_over: Arc::clone(&is_over) };
        let accepting = std::thread::spawn(move || host.accept(&listener, ended));
        Self { address, seen, is_over, ending: Some(ending), accepting: Some(accepting) }
    }

    /// `http://127.0.0.1:PORT`, without a slash at the end.
    pub fn endpoint(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<Request> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for HostileServer {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Release);
        drop(self.ending.take());
        // Wakes the thread that accepts; it ends because `is_over` is set.
        let _ = TcpStream::connect(self.address);
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

/// A second handle to a connection, dropped by the thread that serves it.
type ConnectionHandle = Arc<Mutex<Option<TcpStream>>>;

struct Host {
    script: Arc<Script>,
    seen: Arc<Mutex<Vec<Request>>>,
    is_over: Arc<AtomicBool>,
}

impl Host {
    fn accept(&self, listener: &TcpListener, ended: Receiver<()>) {
        let ended = Arc::new(Mutex::new(ended));
        let mut open: Vec<(ConnectionHandle, JoinHandle<()>)> = Vec::new();
        for (count, stream) in listener.incoming().enumerate() {
            if self.is_over.load(Ordering::Acquire) {
                break;
            }
            let Ok(stream) = stream else { continue };
            let kept = Arc::new(Mutex::new(stream.try_clone().ok()));
            let (script, seen, ended) = (Arc::clone(&self.script), Arc::clone(&self.seen), Arc::clone(&ended));
            let kept_by_server = Arc::clone(&kept);
            let serving = move || {
                // A client that leaves is what many tests are about.
                let _ = Served { script, seen, ended, connection: count + 1 }.serve(stream);
                drop(kept_by_server.lock().unwrap_or_else(PoisonError::into_inner).take());
            };
            open.push((kept, std::thread::spawn(serving)));
        }
        for (kept, serving) in open {
            if let Some(stream) = kept.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
            let _ = serving.join();
        }
    }
}

struct Served {
    script: Arc<Script>,
    seen: Arc<Mutex<Vec<Request>>>,
    ended: Arc<Mutex<Receiver<()>>>,
    connection: usize,
}

impl Served {
    fn serve(&self, stream: TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut writer = stream.try_clone()?;
        let mut reader = BufReader::new(stream);
        while let Some(request) = read(&mut reader, self.connection)? {
            // The request is on the list before the script is called.
            self.seen.lock().unwrap_or_else(PoisonError::into_inner).push(request.clone());
            let behaviour = (self.script)(&request);
            if !self.behave(behaviour, &mut writer, &mut reader)? {
                break;
            }
        }
        writer.shutdown(std::net::Shutdown::Both)
    }

    /// Whether the connection is kept.
    fn behave(
        &self,
        behaviour: Behaviour,
        writer: &mut TcpStream,
        reader: &mut BufReader<TcpStream>,
    ) -> io::Result<bool> {
        match behaviour {
            Behaviour::Answer { status, headers, body } => {
                writer.write_all(&whole(status, &headers, &body))?;
                return Ok(true);
            }
            Behaviour::Raw(bytes) => writer.write_all(&bytes)?,
            Behaviour::Reset(bytes) => {
                writer.write_all(&bytes)?;
                rustix::net::sockopt::set_socket_linger(&*writer, Some(Duration::ZERO))?;
                return Err(io::Error::from(io::ErrorKind::ConnectionReset));
            }
            Behaviour::Silence => until_gone(reader)?,
            Behaviour::Stall(bytes) => {
                writer.write_all(&bytes)?;
                until_gone(reader)?;
            }
            Behaviour::Drip { head, pieces, pause } => {
                writer.write_all(&head)?;
                for piece in pieces {
                    let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
                    let _ = ended.recv_timeout(pause);
                    drop(ended);
                    writer.write_all(&piece)?;
                }
            }
            Behaviour::Endless => {
                writer.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")?;
                loop {
                    writer.write_all(&ENDLESS_PIECE)?;
                }
            }
        }
        Ok(false)
    }
}

fn whole(status: u16, headers: &[(String, String)], body: &[u8]) -> Vec<u8> {
    let mut answer = format!("HTTP/1.1 {status} As-Told\r\ncontent-length: {}\r\n", body.len());
    answer.extend(headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
    answer.push_str("\r\n");
    [answer.as_bytes(), body].concat()
}

fn until_gone(reader: &mut BufReader<TcpStream>) -> io::Result<()> {
    io::copy(reader, &mut io::sink()).map(|_| ())
}

/// The next request, or nothing when the client has left.
fn read(reader: &mut BufReader<TcpStream>, connection: usize) -> io::Result<Option<Request>> {
    let first = line(reader)?;
    let mut words = first.split(' ').map(str::to_owned);
    let (Some(method), Some(path)) = (words.next(), words.next()) else { return Ok(None) };
    let mut request = Request { method, path, headers: Vec::new(), body: Vec::new(), connection };
    loop {
        let line = line(reader)?;
        let Some((name, value)) = line.split_once(':') else { break };
        request.headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let length = request.header("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    request.body = vec![0; length];
    reader.read_exact(&mut request.body)?;
    Ok(Some(request))
}

fn line(reader: &mut BufReader<TcpStream>) -> io::Result<String> {
    let mut line = String::new();
    reader.read_line(&mut line)?;
    Ok(line.trim_end().to_owned())
}
