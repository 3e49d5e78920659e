//! What is on the screen, and what a key does to it. It reaches for nothing: whoever drives it does what it asks.

use countersign_contract::StatusRef;
use countersign_ledger::{Moment, Note, OperationDetail, Record};
use zeroize::Zeroizing;

use super::form::GrantForm;
use super::keys::Key;

/// The most characters of what is typed.
const MAX_TYPED_CHARS: usize = 1000;
/// What whoever has no key is told.
pub(super) const NO_KEY: &str = "approving needs a key: end this, and start it again to make one";
/// How far a page goes, whatever the screen's size: it leaves some lines in common on any screen.
const PAGE_LINES: usize = 10;

/// The screen.
pub(super) struct Model {
    pub(super) approver: String,
    pub(super) now: Moment,
    /// What waits, oldest first.
    pub(super) queue: Vec<Record>,
    pub(super) selected: usize,
    pub(super) view: View,
    pub(super) notice: String,
    /// Whether a decision needs a passphrase first.
    pub(super) is_locked: bool,
    /// Whether there is a key at all.
    pub(super) has_key: bool,
}

/// What is looked at.
pub(super) enum View {
    List,
    Help,
    Call(Shown),
    Reason(Shown, String),
    Grant(Shown, GrantForm),
    Passphrase(Shown, Deed, Zeroizing<String>),
}

/// A call as it is shown. What is decided is decided about this, and nothing that took its place.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) call: OperationDetail,
    /// For the width that the screen had.
    pub(super) lines: Vec<String>,
    pub(super) scroll: usize,
    /// Whether its end was on the screen.
    pub(super) is_read: bool,
    /// Whether it took another's place on the screen, and no key was pressed since: one that is pressed then was meant for that.
    pub(super) is_replacing: bool,
}

/// What is to be done about a call that is shown.
#[derive(Clone)]
pub(super) enum Deed {
    Approve,
    Deny(Option<Note>),
    Grant(GrantForm),
}

/// What is asked of whoever drives the screen.
pub(super) enum Action {
    Quit,
    /// Show a call.
    Open(StatusRef),
    /// Open the key, and then do it.
    Unlock(Zeroizing<String>),
    /// Do it.
    Do(Deed),
}

impl Model {
    pub(super) fn new(approver: String, now: Moment) -> Self {
        Self {
            approver,
            now,
            queue: Vec::new(),
            selected: 0,
            view: View::List,
            notice: String::new(),
            is_locked: true,
            has_key: true,
        }
    }

    /// The call that is shown.
    pub(super) fn shown(&self) -> Option<&Shown> {
        match &self.view {
            View::List | View::Help => None,
            View::Call(shown)
            | View::Reason(shown, _)
            | View::Grant(shown, _)
            | View::Passphrase(shown, _, _) => Some(shown),
        }
    }

    /// Back to the list, with something to say.
    pub(super) fn leave(&mut self, notice: &str) {
        self.view = View::List;
        notice.clone_into(&mut self.notice);
    }

    /// Takes a new queue; what was chosen stays chosen.
    pub(super) fn take_queue(&mut self, queue: Vec<Record>) {
        let chosen = self.queue.get(self.selected);
        let chosen = chosen.map(|record| record.terms.status_ref);
        let place = queue
            .iter()
            .position(|record| Some(record.terms.status_ref) == chosen);
        let last = queue.len().saturating_sub(1);
        self.selected = place.unwrap_or(self.selected).min(last);
        self.queue = queue;
    }

    /// Notes what the screen has just shown.
    pub(super) fn is_shown(&mut self, rows: usize) {
        if let View::Call(shown) = &mut self.view {
            shown.is_read = shown.is_read || shown.scroll >= shown.last_scroll(rows);
        }
    }

    /// Does what a key does. `rows` is how much of a call the screen shows.
    pub(super) fn press(&mut self, key: Key, rows: usize) -> Option<Action> {
        if key == Key::Interrupt {
            return Some(Action::Quit);
        }
        self.notice.clear();
        match std::mem::replace(&mut self.view, View::List) {
            View::List => self.press_in_list(key),
            View::Help => None,
            View::Call(shown) => self.press_in_call(shown, key, rows),
            View::Reason(shown, text) => self.press_in_reason(shown, text, key),
            View::Grant(shown, form) => self.press_in_grant(shown, form, key),
            View::Passphrase(shown, deed, text) => self.press_in_passphrase(shown, deed, text, key),
        }
    }

    fn press_in_list(&mut self, key: Key) -> Option<Action> {
        let last = self.queue.len().saturating_sub(1);
        match key {
            Key::Up | Key::Character('k') => self.selected = self.selected.saturating_sub(1),
            Key::Down | Key::Character('j') => self.selected = (self.selected + 1).min(last),
            Key::Character('?') => self.view = View::Help,
            Key::Character('q') => return Some(Action::Quit),
            Key::Enter | Key::Character('s' | 'a' | 'd' | 'g') => {
                let chosen = self.queue.get(self.selected)?;
                if !matches!(key, Key::Enter | Key::Character('s')) {
                    "read it to its end, then decide".clone_into(&mut self.notice);
                }
                return Some(Action::Open(chosen.terms.status_ref));
            }
            Key::Character(_)
            | Key::Backspace
            | Key::Escape
            | Key::PageUp
            | Key::PageDown
            | Key::Interrupt => {}
        }
        None
    }

    fn press_in_call(&mut self, mut shown: Shown, key: Key, rows: usize) -> Option<Action> {
        match key {
            Key::Escape | Key::Character('q') => return None,
            Key::Up | Key::Character('k') => shown.scroll = shown.scroll.saturating_sub(1),
            Key::Down | Key::Character('j') => shown.scroll += 1,
            Key::PageUp => shown.scroll = shown.scroll.saturating_sub(PAGE_LINES),
            Key::PageDown | Key::Character(' ') => shown.scroll += PAGE_LINES,
            Key::Character('a' | 'd' | 'g') if shown.is_replacing => {
                "it has changed: read it again, then decide".clone_into(&mut self.notice);
            }
            Key::Character('a' | 'd' | 'g') if !shown.is_read => {
                "go to its end first: what is not seen is not decided".clone_into(&mut self.notice);
            }
            Key::Character('a') => return self.decide(shown, Deed::Approve),
            Key::Character('d') => {
                self.view = View::Reason(shown, String::new());
                return None;
            }
            Key::Character('g') => match GrantForm::of(&shown.call) {
                Some(form) => {
                    self.view = View::Grant(shown, form);
                    return None;
                }
                None => "only named arguments can be granted".clone_into(&mut self.notice),
            },
            Key::Character(_) | Key::Enter | Key::Backspace | Key::Interrupt => {}
        }
        shown.is_replacing = false;
        shown.scroll = shown.scroll.min(shown.last_scroll(rows));
        self.view = View::Call(shown);
        None
    }

    fn press_in_reason(&mut self, shown: Shown, mut text: String, key: Key) -> Option<Action> {
        if key == Key::Enter {
            return self.decide(shown, Deed::Deny(Note::new(&text)));
        }
        self.view = if key == Key::Escape {
            View::Call(shown)
        } else {
            edit(&mut text, key);
            View::Reason(shown, text)
        };
        None
    }

    fn press_in_grant(&mut self, shown: Shown, mut form: GrantForm, key: Key) -> Option<Action> {
        if key == Key::Enter {
            return self.decide(shown, Deed::Grant(form));
        }
        self.view = if key == Key::Escape {
            View::Call(shown)
        } else {
            form.press(key);
            View::Grant(shown, form)
        };
        None
    }

    fn press_in_passphrase(
        &mut self,
        shown: Shown,
        deed: Deed,
        mut text: Zeroizing<String>,
        key: Key,
    ) -> Option<Action> {
        if key == Key::Enter {
            self.view = View::Passphrase(shown, deed, new_secret());
            return Some(Action::Unlock(text));
        }
        self.view = if key == Key::Escape {
            View::Call(shown)
        } else {
            edit(&mut text, key);
            View::Passphrase(shown, deed, text)
        };
        None
    }

    fn decide(&mut self, shown: Shown, deed: Deed) -> Option<Action> {
        if !self.has_key && !matches!(deed, Deed::Deny(_)) {
            NO_KEY.clone_into(&mut self.notice);
            self.view = View::Call(shown);
            return None;
        }
        if self.is_locked {
            self.view = View::Passphrase(shown, deed, new_secret());
            return None;
        }
        self.view = View::Call(shown);
        Some(Action::Do(deed))
    }
}

impl Shown {
    /// The scroll at which so many rows show its end.
    pub(super) fn last_scroll(&self, rows: usize) -> usize {
        self.lines.len().saturating_sub(rows)
    }
}

/// Room for a passphrase, so that no copy of its beginning is left behind where it grows.
fn new_secret() -> Zeroizing<String> {
    Zeroizing::new(String::with_capacity(MAX_TYPED_CHARS * 4))
}

fn edit(text: &mut String, key: Key) {
    match key {
        Key::Backspace => {
            text.pop();
        }
        Key::Character(character) if text.chars().count() < MAX_TYPED_CHARS => text.push(character),
        Key::Character(_)
        | Key::Enter
        | Key::Escape
        | Key::Up
        | Key::Down
        | Key::PageUp
        | Key::PageDown
        | Key::Interrupt => {}
    }
}
