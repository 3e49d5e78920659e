//! The address that pages are at.

use std::convert::Infallible;
use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};
use tokio::time::{sleep, timeout};

use super::Pages;
use super::answer::{self, Answer};
use crate::listen::guard::Guard;
use crate::listen::{Options, Stop};

/// The most connections at a time. A further one is closed at once.
const MAX_CONNECTIONS: usize = 32;
/// How long a connection may take, from its first byte to its last. Each carries one request.
const CONNECTION_LIMIT: Duration = Duration::from_secs(10);
/// The most headers of a request.
const MAX_HEADERS: usize = 64;
/// The longest header of a request, in bytes.
const MAX_BUFFER: usize = 16 * 1024;
/// The longest path that a page is looked for at, in bytes.
const MAX_PATH: usize = 256;
/// The most threads that make pages. Others wait for one.
const MAX_THREADS: usize = 4;
/// How long it is waited when no connection can be taken, as when there are too many open files.
const PAUSE: Duration = Duration::from_millis(50);

/// A loopback address of its own, with any port, at which pages are until this is dropped.
pub struct Site {
    address: SocketAddr,
    stop: Stop,
}

/// Why there is no site.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The system gives no address.
    #[error("no address can be listened on")]
    Address(#[source] io::Error),
    /// There are no threads for it.
    #[error("the threads of the pages cannot be started")]
    Threads(#[source] io::Error),
}

impl Site {
    /// Takes an address, and answers there on a thread of its own.
    pub fn open(pages: Arc<dyn Pages>) -> Result<Self, OpenError> {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let socket = TcpListener::bind(any).map_err(OpenError::Address)?;
        socket.set_nonblocking(true).map_err(OpenError::Address)?;
        let address = socket.local_addr().map_err(OpenError::Address)?;
        let runtime = runtime().map_err(OpenError::Threads)?;
        let stop = Stop::new();
        let desk = Arc::new(Desk {
            guard: Guard::new(address, &Options::default()),
            pages,
        });
        let stopped = stop.clone();
        thread::Builder::new()
            .name("pages".to_owned())
            .spawn(move || {
                runtime.block_on(serve(socket, desk, &stopped));
                runtime.shutdown_background();
            })
            .map_err(OpenError::Threads)?;
        Ok(Self { address, stop })
    }

    /// The address, with its port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.stop.request();
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Site")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// Who may come, and what is there.
struct Desk {
    guard: Guard,
    pages: Arc<dyn Pages>,
}

impl Desk {
    async fn answer(&self, request: Request<Incoming>) -> Answer {
        if let Err(foreign) = self.guard.check(&request) {
            return answer::refused(StatusCode::FORBIDDEN, &foreign.to_string());
        }
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            return answer::not_allowed();
        }
        let path = request.uri().path().to_owned();
        let made = if path.len() <= MAX_PATH {
            let pages = Arc::clone(&self.pages);
            spawn_blocking(move || pages.page(&path)).await
        } else {
            Ok(None)
        };
        match made {
            Ok(Some(html)) => answer::page(html),
            Ok(None) => answer::refused(StatusCode::NOT_FOUND, "there is no such page"),
            Err(_) => {
                let status = StatusCode::INTERNAL_SERVER_ERROR;
                answer::refused(status, "the page cannot be made")
            }
        }
    }
}

async fn serve(socket: TcpListener, desk: Arc<Desk>, stop: &Stop) {
    let Ok(socket) = tokio::net::TcpListener::from_std(socket) else {
        return;
    };
    let mut connections = JoinSet::new();
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        tokio::select! {
            () = stop.requested() => return,
            Some(_) = connections.join_next() => {}
            accepted = socket.accept() => match accepted {
                Ok((stream, _)) => {
                    if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
                        let desk = Arc::clone(&desk);
                        connections.spawn(async move {
                            // Whoever is slower has to come again.
                            let _ = timeout(CONNECTION_LIMIT, connection(stream, desk)).await;
                            drop(place);
                        });
                    }
                }
                Err(_) => sleep(PAUSE).await,
            },
        }
    }
}

async fn connection(stream: TcpStream, desk: Arc<Desk>) {
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new())
        .header_read_timeout(CONNECTION_LIMIT)
        .keep_alive(false)
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_BUFFER);
    let service = service_fn(|request| {
        let desk = Arc::clone(&desk);
        async move { Ok::<_, Infallible>(desk.answer(request).await) }
    });
    // Where it breaks, the browser comes again.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread()
        .max_blocking_threads(MAX_THREADS)
        .thread_name("pages")
        .enable_io()
        .enable_time()
        .build()
}
