//! Reads an object of an exact field set and collects every fault on the way.

use crate::fault::{Fault, FaultKind, Location};
use crate::number::Number;
use crate::value::{Members, Value};

/// Reads the members of one object; [`FieldReader::finish`] refuses those never asked for.
pub(crate) struct FieldReader<'document, 'faults> {
    members: &'document Members,
    faults: &'faults mut Vec<Fault>,
    container: Location,
    place: fn(&'static str) -> Location,
    known: usize,
}

impl<'document, 'faults> FieldReader<'document, 'faults> {
    pub(crate) fn new(
        members: &'document Members,
        faults: &'faults mut Vec<Fault>,
        container: Location,
        place: fn(&'static str) -> Location,
    ) -> Self {
        Self {
            members,
            faults,
            container,
            place,
            known: 0,
        }
    }

    /// The member of that name, which must be present. Ask once for each name.
    pub(crate) fn value(&mut self, name: &'static str) -> Option<&'document Value> {
        let value = self.members.get(name);
        match value {
            Some(_) => self.known += 1,
            None => self.fault(name, FaultKind::Missing),
        }
        value
    }

    /// A text that `parse` accepts; `kind` is the fault otherwise.
    pub(crate) fn text<T>(
        &mut self,
        name: &'static str,
        kind: FaultKind,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.value(name)?;
        let parsed = match value.as_text() {
            Some(text) => parse(text).ok_or(kind),
            None => Err(FaultKind::NotText),
        };
        parsed.map_err(|kind| self.fault(name, kind)).ok()
    }

    /// The number one, as integer or float.
    pub(crate) fn one(&mut self, name: &'static str) {
        if let Some(value) = self.value(name)
            && !value.as_number().is_some_and(Number::is_one)
        {
            self.fault(name, FaultKind::NotOne);
        }
    }

    /// A time: any number above zero.
    pub(crate) fn time(&mut self, name: &'static str) -> Option<Number> {
        let Some(number) = self.value(name)?.as_number() else {
            self.fault(name, FaultKind::NotANumber);
            return None;
        };
        if !number.is_positive() {
            self.fault(name, FaultKind::NotPositive);
            return None;
        }
        Some(number)
    }

    pub(crate) fn fault(&mut self, name: &'static str, kind: FaultKind) {
        self.faults.push(Fault::new((self.place)(name), kind));
    }

    /// Refuses members that no call asked for.
    pub(crate) fn finish(self) {
        if self.members.len() > self.known {
            self.faults
                .push(Fault::new(self.container, FaultKind::UnknownField));
        }
    }
}
