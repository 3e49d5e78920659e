//! The address: taking connections, and the end.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use countersign_mcp::port::Connect;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioTimer;
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{interval, sleep, timeout};

use super::endpoint::Endpoint;
use super::guard::Guard;
use super::incoming::Room;
use super::options::Options;
use super::sessions::Sessions;
use super::socket::{Socket, Written};
use super::stateless::Stateless;
use super::stop::Stop;

/// Threads that serve connections.
const WORKERS: usize = 2;
/// The most threads that hand messages over. Others wait for one.
const MAX_THREADS: usize = 128;
/// The most connections at a time. A further one is closed at once.
const MAX_CONNECTIONS: usize = 512;
/// The most headers of a request.
const MAX_HEADERS: usize = 64;
/// The longest header of a request, and what is buffered of an answer, in bytes.
const MAX_BUFFER: usize = 64 * 1024;
/// How often it is looked for sessions that nobody uses.
const SWEEP: Duration = Duration::from_secs(5);
/// How long it is waited when no connection can be taken, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);
/// How long threads that still hand messages over are waited for at the end.
const THREADS_END: Duration = Duration::from_secs(1);

/// An address that is taken, and served by [`Listener::run`].
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
    options: Options,
}

/// Why an address cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// Other machines would reach it.
    #[error("other machines could reach this address: it has to be allowed explicitly")]
    BeyondLoopback,
    /// The system refuses it.
    #[error("this address cannot be listened on")]
    Refused(#[source] io::Error),
}

/// Why an address cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There are no threads for it.
    #[error("the threads of the listener cannot be started")]
    Threads(#[source] io::Error),
    /// The system refuses it.
    #[error("the address cannot be served")]
    Socket(#[source] io::Error),
}

/// Takes an address. Port 0 is any free one.
pub fn bind(address: SocketAddr, options: Options) -> Result<Listener, BindError> {
    if !address.ip().is_loopback() && !options.is_beyond_loopback {
        return Err(BindError::BeyondLoopback);
    }
    let socket = TcpListener::bind(address).map_err(BindError::Refused)?;
    let address = socket.local_addr().map_err(BindError::Refused)?;
    Ok(Listener {
        socket,
        address,
        options,
    })
}

impl Listener {
    /// The address, with its port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves clients until it is stopped. It then takes no more requests, lets answers that are under way go out for a bounded time,
    /// and closes every connection of `connect`.
    pub fn run(self, connect: Arc<dyn Connect>, stop: &Stop) -> Result<(), RunError> {
        let runtime = runtime().map_err(RunError::Threads)?;
        let ran = runtime.block_on(self.serve(connect, stop.clone()));
        runtime.shutdown_timeout(THREADS_END);
        ran.map_err(RunError::Socket)
    }

    async fn serve(self, connect: Arc<dyn Connect>, stop: Stop) -> io::Result<()> {
        self.socket.set_nonblocking(true)?;
        let socket = tokio::net::TcpListener::from_std(self.socket)?;
        let end_limit = self.options.end_limit;
        let endpoint = Arc::new(Endpoint {
            guard: Guard::new(self.address, &self.options),
            room: Room::new(),
            sessions: Sessions::new(self.options.max_sessions),
            stateless: Stateless::new(Arc::clone(&connect)),
            connect,
            options: self.options,
            stop: stop.clone(),
        });
        let mut connections = JoinSet::new();
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut sweep = interval(SWEEP.min(endpoint.options.idle_limit));
        loop {
            tokio::select! {
                () = stop.requested() => break,
                _ = sweep.tick() => endpoint.sweep(),
                Some(_) = connections.join_next() => {}
                accepted = socket.accept() => match accepted {
                    Ok((stream, _)) => {
                        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                            let endpoint = Arc::clone(&endpoint);
                            connections.spawn(async move {
                                connection(stream, endpoint).await;
                                drop(place);
                            });
                        }
                    }
                    Err(_) => sleep(PAUSE).await,
                },
            }
        }
        drop(socket);
        endpoint.sessions.finish();
        endpoint.stateless.finish();
        let all = async { while connections.join_next().await.is_some() {} };
        // What has not come to its end by now never does.
        let _ = timeout(end_limit, all).await;
        endpoint.sessions.end_all();
        connections.shutdown().await;
        drop(endpoint);
        // Threads take what they are given in order: when this one's turn comes, every connection behind is being closed.
        let _ = spawn_blocking(|| {}).await;
        Ok(())
    }
}

/// Serves one connection until its client or the listener ends it.
async fn connection(stream: TcpStream, endpoint: Arc<Endpoint>) {
    // An answer goes out as soon as it is there.
    let _ = stream.set_nodelay(true);
    let written = Arc::new(Written::default());
    let options = &endpoint.options;
    let socket = Socket::new(stream, options.write_limit, Arc::clone(&written));
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(options.header_limit)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER);
    let service = service_fn(|request| {
        let (endpoint, written) = (Arc::clone(&endpoint), Arc::clone(&written));
        async move { Ok::<_, Infallible>(endpoint.serve(request, written).await) }
    });
    let mut connection = pin!(http.serve_connection(socket, service));
    // Whatever breaks a connection, its client has to come anew.
    tokio::select! {
        _ = connection.as_mut() => {}
        () = endpoint.stop.requested() => {
            connection.as_mut().graceful_shutdown();
            let _ = connection.await;
        }
    }
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .max_blocking_threads(MAX_THREADS)
        .thread_name("listen")
        .enable_io()
        .enable_time()
        .build()
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Listener")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
