//! Which tools are in service: what the server says of them, held against the pin.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{anyhow, bail};
use countersign_canonical::{Utf8, Value, encode};
use countersign_contract::{Inert, ToolContract};
use countersign_dispatch::Registry;
use countersign_mcp::pin::{Class, MAX_TOOLS, Pin, PinnedTool, Standing};
use countersign_mcp::stateless::MirroredParameter;
use countersign_mcp::tools::{ToolDefinition, ToolPage};
use countersign_mcp::{Kind, Launch, Message, OutputSchema, Passthrough, Patterns, ServerName};

use super::pin_store::{PinMark, PinStore, Which};
use super::session::Session;
use super::upstream::Asked;
use crate::output::complain;

/// The most pages of one list.
const MAX_PAGES: usize = 512;
/// The most bytes of all pages of one list together.
const MAX_LIST_BYTES: usize = 16 << 20;
/// How long one page may take.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);
/// JSON-RPC 2.0, section 5.1.
const METHOD_NOT_FOUND: i64 = -32601;
/// How much of a stranger's name is shown.
const SHOWN_CHARS: usize = 128;

/// Takes stock of a server's tools.
pub(super) struct Inventory {
    pub(super) store: PinStore,
    pub(super) server: ServerName,
    pub(super) launch: Launch,
    pub(super) reads: Patterns,
    /// Raised whenever the server says that its list has changed.
    wanted: AtomicU64,
    taken: Mutex<Option<Taken>>,
    /// How often it was begun to take stock.
    begun: AtomicU64,
    turn: Mutex<Option<Look>>,
    /// What was complained about when stock was taken last.
    said: Mutex<BTreeSet<String>>,
}

/// Stock, and what it was taken of.
struct Taken {
    version: u64,
    mark: Option<PinMark>,
    stock: Arc<Stock>,
}

/// What came of taking stock last.
struct Look {
    number: u64,
    came_to: Result<Arc<Stock>, String>,
}

/// The tools as they stood when stock was taken.
#[derive(Debug)]
pub(super) struct Stock {
    tools: BTreeMap<String, Entry>,
    pin: Pin,
    pub(super) registry: Registry,
}

/// One tool.
#[derive(Debug)]
pub(super) enum Entry {
    /// Its calls pass, or wait, according to its class.
    InService {
        class: Class,
        output: Option<OutputSchema>,
    },
    /// Nobody can call it, and this is why.
    OutOfService(String),
}

impl Stock {
    /// One tool; nothing where the server has no such tool.
    pub(super) fn tool(&self, name: &str) -> Option<&Entry> {
        self.tools.get(name)
    }

    /// Whether a client may be shown this description.
    pub(super) fn shows(&self, tool: &ToolDefinition) -> bool {
        let is_pinned = self
            .pin
            .tool(tool.name())
            .is_some_and(|pinned| pinned.facets == *tool.facets());
        let is_in_service = matches!(self.tools.get(tool.name()), Some(Entry::InService { .. }));
        is_pinned && is_in_service
    }
}

impl Inventory {
    /// An inventory of a server whose pin, if it has one, is of this command.
    pub(super) fn open(
        store: PinStore,
        server: ServerName,
        launch: Launch,
        reads: Patterns,
    ) -> anyhow::Result<Self> {
        if let Some(pin) = store.read(&server, Which::Frozen)?
            && !pin.is_of(&launch)
        {
            bail!(
                "the server \"{server}\" was first seen with another command: name this one differently with --server, or \
                 accept the change with \"countersign tools accept {server} --command\" after a look at it"
            );
        }
        Ok(Self {
            store,
            server,
            launch,
            reads,
            wanted: AtomicU64::new(1),
            taken: Mutex::default(),
            begun: AtomicU64::new(0),
            turn: Mutex::default(),
            said: Mutex::default(),
        })
    }

    /// The list has changed: what was taken stock of counts no more.
    pub(super) fn is_stale(&self) {
        self.wanted.fetch_add(1, Ordering::AcqRel);
    }

    /// What is known, where nothing has changed since: neither the server's list, as far as it says, nor the pin.
    pub(super) fn current(&self) -> Option<Arc<Stock>> {
        let wanted = self.wanted.load(Ordering::Acquire);
        let mark = self.store.mark(&self.server);
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = taken.as_ref()?;
        let is_current = taken.version == wanted && taken.mark == mark;
        is_current.then(|| Arc::clone(&taken.stock))
    }

    /// What was known last: by this, what was let through is judged.
    pub(super) fn last(&self) -> Option<Arc<Stock>> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.as_ref().map(|taken| Arc::clone(&taken.stock))
    }

    /// What is known, after taking stock where that is needed.
    pub(super) fn ensure(
        &self,
        session: &Session,
        passthrough: &Passthrough,
    ) -> anyhow::Result<Arc<Stock>> {
        self.look(|| self.current(), session, passthrough)
    }

    /// Takes stock now, whatever is known: before something is sent that a person has approved.
    pub(super) fn renew(
        &self,
        session: &Session,
        passthrough: &Passthrough,
    ) -> anyhow::Result<Arc<Stock>> {
        self.look(|| None, session, passthrough)
    }

    /// Takes stock where nothing that is known is enough.
    ///
    /// Whoever waits meanwhile shares what came of it where it began after they came: a server that does not answer keeps everybody
    /// waiting once, and not one after the other.
    fn look(
        &self,
        known: impl FnOnce() -> Option<Arc<Stock>>,
        session: &Session,
        passthrough: &Passthrough,
    ) -> anyhow::Result<Arc<Stock>> {
        let came = self.begun.load(Ordering::Acquire);
        let mut last = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stock) = known() {
            return Ok(stock);
        }
        if let Some(look) = last.as_ref().filter(|look| look.number > came) {
            let shared = look.came_to.clone();
            return shared.map_err(|error| anyhow!("{error}"));
        }
        let number = self.begun.fetch_add(1, Ordering::AcqRel).saturating_add(1);
        let taken = self.take(session, passthrough);
        let came_to = match &taken {
            Ok(stock) => Ok(Arc::clone(stock)),
            Err(error) => Err(format!("{error:#}")),
        };
        *last = Some(Look { number, came_to });
        taken
    }

    fn take(&self, session: &Session, passthrough: &Passthrough) -> anyhow::Result<Arc<Stock>> {
        let version = self.wanted.load(Ordering::Acquire);
        let seen = list(session)?;
        let mut faults = Vec::new();
        let (pin, mark) = self.frozen(&seen, &mut faults)?;
        let stock = Arc::new(stock(pin, &seen, passthrough, &mut faults)?);
        self.say(faults);
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        *taken = Some(Taken {
            version,
            mark,
            stock: Arc::clone(&stock),
        });
        Ok(stock)
    }

    /// Complains about what is wrong now. What stays wrong is said once.
    fn say(&self, faults: Vec<String>) {
        let mut said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        for fault in faults.iter().filter(|fault| !said.contains(*fault)) {
            complain(fault);
        }
        *said = faults.into_iter().collect();
    }

    /// The pin, with every new tool frozen in it, and its mark.
    fn frozen(
        &self,
        seen: &[ToolDefinition],
        faults: &mut Vec<String>,
    ) -> anyhow::Result<(Pin, Option<PinMark>)> {
        let _lock = self.store.lock(&self.server)?;
        let held = self.store.read(&self.server, Which::Frozen)?;
        let mut pin = held.unwrap_or_else(|| Pin::new(self.server.clone(), &self.launch));
        let adopted = pin.adopt(seen, &self.reads);
        if !adopted.is_empty() {
            self.store.write(&pin, Which::Frozen)?;
        }
        let mut last = Pin::new(self.server.clone(), &self.launch);
        last.adopt(seen, &Patterns::default());
        if self
            .store
            .read(&self.server, Which::Seen)
            .ok()
            .flatten()
            .as_ref()
            != Some(&last)
        {
            self.store.write(&last, Which::Seen)?;
        }
        for (name, tool) in pin.tools() {
            if tool.class == Class::Write
                && self.reads.matches(name)
                && !adopted.iter().any(|new| new == name)
            {
                faults.push(format!(
                    "{}: --read does not change what is pinned as a write; \"countersign tools classify\" does",
                    Inert::beginning(name, SHOWN_CHARS)
                ));
            }
        }
        Ok((pin, self.store.mark(&self.server)))
    }
}

/// Asks for all pages.
fn list(session: &Session) -> anyhow::Result<Vec<ToolDefinition>> {
    let mut seen = Vec::new();
    let mut params = "{}".to_owned();
    let mut left = MAX_LIST_BYTES;
    let timeout = PAGE_TIMEOUT.min(session.call_timeout());
    for _ in 0..MAX_PAGES {
        let Asked::Answered(message) = session.ask("tools/list", params, None, timeout) else {
            bail!("the server did not list its tools");
        };
        left = left.checked_sub(message.text().len()).ok_or_else(|| {
            anyhow!("the server's list of tools is longer than {MAX_LIST_BYTES} bytes")
        })?;
        match message.kind() {
            Kind::Response { .. } => {}
            // A server without tools does not know the method.
            Kind::Error { .. } if is_unknown_method(&message) => return Ok(seen),
            Kind::Error { .. } | Kind::Request { .. } | Kind::Notification { .. } => {
                bail!("the server did not list all of its tools");
            }
        }
        let page = message.result().and_then(|result| ToolPage::read(&result));
        let page = page.ok_or_else(|| anyhow!("the server's list of tools is none"))?;
        seen.extend(page.tools.into_iter().flatten());
        if seen.len() > MAX_TOOLS {
            bail!("the server has more than {MAX_TOOLS} tools");
        }
        match page.next_cursor {
            None => return Ok(seen),
            Some(cursor) => {
                let cursor = Value::from([("cursor", cursor.into())]);
                params = String::from_utf8(encode::<Utf8>(&cursor))?;
            }
        }
    }
    bail!("the server's list of tools has more than {MAX_PAGES} pages")
}

fn is_unknown_method(message: &Message) -> bool {
    let code = message
        .error()
        .and_then(|error| error.value().get("code")?.as_i64());
    code == Some(METHOD_NOT_FOUND)
}

/// A tool that is what it was, and its contract; or why it cannot be used all the same.
fn usable(
    name: &str,
    pinned: &PinnedTool,
    passthrough: &Passthrough,
) -> Result<(Entry, ToolContract), String> {
    let facets = &pinned.facets;
    let output = OutputSchema::compile(&facets.output_schema).map_err(|error| error.to_string())?;
    // Whoever calls it over HTTP could not say what its server wants to hear.
    if passthrough.is_remote()
        && let Err(broken) = MirroredParameter::all_of(&facets.input_schema)
    {
        return Err(broken.to_string());
    }
    let contract = passthrough.contract(name, pinned);
    let contract = contract.ok_or_else(|| "its name cannot be recorded".to_owned())?;
    let class = pinned.class;
    Ok((Entry::InService { class, output }, contract))
}

fn stock(
    pin: Pin,
    seen: &[ToolDefinition],
    passthrough: &Passthrough,
    faults: &mut Vec<String>,
) -> anyhow::Result<Stock> {
    let comparison = pin.compare(seen);
    let mut tools = BTreeMap::new();
    let mut contracts = Vec::new();
    for (name, standing) in comparison.iter() {
        let shown = Inert::beginning(name, SHOWN_CHARS);
        let pinned = pin.tool(name);
        let entry = match (standing, pinned) {
            (Standing::Gone, _) => continue,
            (Standing::Unchanged, Some(pinned)) => match usable(name, pinned, passthrough) {
                Ok((entry, contract)) => {
                    contracts.push(contract);
                    entry
                }
                Err(why) => {
                    faults.push(format!("{shown}: out of service: {why}"));
                    Entry::OutOfService(why)
                }
            },
            (Standing::Changed(differences), _) => {
                faults.push(format!("{shown}: the server describes it differently now:"));
                for difference in differences {
                    faults.push(format!("{shown}: {difference}"));
                }
                faults.push(format!(
                    "{shown}: out of service until \"countersign tools accept {} {shown}\"",
                    pin.server()
                ));
                Entry::OutOfService(format!(
                    "its description or schema has changed since it was accepted; the user has to look at the change and \
                     accept it: countersign tools accept {}",
                    pin.server()
                ))
            }
            (Standing::Collides(other), _) => {
                let other = Inert::beginning(other, SHOWN_CHARS);
                faults.push(format!(
                    "{shown}: out of service: clients may take it for {other}"
                ));
                Entry::OutOfService(format!("its name can be taken for that of {other}"))
            }
            (Standing::New | Standing::Unchanged, _) => {
                Entry::OutOfService("it is not pinned".to_owned())
            }
        };
        tools.insert(name.to_owned(), entry);
    }
    Ok(Stock {
        tools,
        pin,
        registry: Registry::new(contracts)?,
    })
}
