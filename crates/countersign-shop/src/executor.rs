//! Lets calls act on the shop, over a line that can fail in every way that matters.

use countersign_contract::Risk;
use countersign_dispatch::{Execution, ExecutionOrder, Executor, NotStarted};

use crate::shop::Shop;

/// What goes wrong between the host and the shop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Disturbance {
    /// Nothing.
    #[default]
    None,
    /// The deadline passes before anything begins.
    TimeoutBeforeExecute,
    /// The shop takes no more for now.
    RateLimit,
    /// The shop cannot be reached.
    Unreachable,
    /// The shop acts, and its answer is lost; it has a receipt.
    AnswerLost,
    /// The shop acts, its answer is lost, and it finds no receipt.
    AnswerAndReceiptLost,
}

/// Executes calls on the shop under one disturbance.
#[derive(Clone, Copy, Debug)]
pub struct ShopExecutor<'s> {
    /// The shop.
    pub shop: &'s Shop,
    /// What goes wrong.
    pub disturbance: Disturbance,
}

impl Executor for ShopExecutor<'_> {
    fn execute(&self, order: &ExecutionOrder<'_>) -> Execution {
        match self.disturbance {
            Disturbance::TimeoutBeforeExecute => {
                Execution::NotStarted(NotStarted::DeadlineExceeded)
            }
            Disturbance::RateLimit => Execution::NotStarted(NotStarted::RateLimited),
            Disturbance::Unreachable => Execution::NotStarted(NotStarted::Unreachable),
            Disturbance::None => self.act(order, true),
            Disturbance::AnswerLost => self.act_unheard(order, true),
            Disturbance::AnswerAndReceiptLost => self.act_unheard(order, false),
        }
    }
}

impl ShopExecutor<'_> {
    fn act_unheard(&self, order: &ExecutionOrder<'_>, keeps_receipt: bool) -> Execution {
        self.act(order, keeps_receipt);
        Execution::AnswerLost
    }

    fn act(&self, order: &ExecutionOrder<'_>, keeps_receipt: bool) -> Execution {
        let arguments = &order.call().arguments;
        let answer = match order.contract().risk {
            Risk::Read => self.shop.order_answer(arguments),
            Risk::Write => self.shop.create_draft(arguments),
        };
        let Some(answer) = answer else {
            return Execution::Failed;
        };
        if let (true, Some(status_ref)) = (keeps_receipt, order.status_ref()) {
            self.shop
                .keep_receipt(status_ref, *order.request(), &answer);
        }
        Execution::Answered(answer)
    }
}
