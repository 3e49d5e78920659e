//! Which handler performs which tool, and which status operation knows what became of it.

use std::collections::BTreeMap;

use countersign_contract::ToolName;
use countersign_dispatch::{
    Execution, ExecutionOrder, Executor, NotStarted, Receipt, StatusQuestion, StatusSource,
};

/// Performs one tool.
pub trait Handler: Send + Sync {
    /// Performs the order, once.
    fn handle(&self, order: &ExecutionOrder<'_>) -> Execution;
}

impl<F> Handler for F
where
    F: Fn(&ExecutionOrder<'_>) -> Execution + Send + Sync,
{
    fn handle(&self, order: &ExecutionOrder<'_>) -> Execution {
        self(order)
    }
}

/// The handlers of all tools, by name. A tool without one is proven not to have started.
#[derive(Default)]
pub struct Handlers(BTreeMap<ToolName, Box<dyn Handler>>);

impl Handlers {
    /// No handlers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the handler of a tool, in place of an earlier one.
    #[must_use]
    pub fn with(mut self, tool: ToolName, handler: impl Handler + 'static) -> Self {
        self.0.insert(tool, Box::new(handler));
        self
    }
}

impl Executor for Handlers {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        match self.0.get(&order.call().name) {
            Some(handler) => handler.handle(order),
            None => Execution::NotStarted(NotStarted::Unreachable),
        }
    }
}

/// The status operations of all downstreams, by tool. A tool without one has no receipt to show.
#[derive(Default)]
pub struct StatusSources(BTreeMap<ToolName, Box<dyn StatusSource + Send + Sync>>);

impl StatusSources {
    /// No status operations.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the status operation of a tool, in place of an earlier one.
    #[must_use]
    pub fn with(
        mut self,
        tool: ToolName,
        source: impl StatusSource + Send + Sync + 'static,
    ) -> Self {
        self.0.insert(tool, Box::new(source));
        self
    }

    /// Tells whether a tool has one.
    #[must_use]
    pub fn knows(&self, tool: &ToolName) -> bool {
        self.0.contains_key(tool)
    }
}

impl StatusSource for StatusSources {
    fn receipt(&self, question: &StatusQuestion<'_>) -> Option<Receipt> {
        self.0.get(&question.call().name)?.receipt(question)
    }
}

impl std::fmt::Debug for StatusSources {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}

impl std::fmt::Debug for Handlers {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(self.0.keys()).finish()
    }
}
