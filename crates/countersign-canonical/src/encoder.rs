use std::{fmt, marker::PhantomData};

use crate::{
    DomainError, Form, InDomain, Number, Value,
    domain::{check_integer, check_text},
    encode::{write_integer, write_number, write_value},
    sink::Sink,
    text::write_text,
};

/// Writes one value of a fixed shape, without building it.
///
/// Commas are its work; the order of the keys is its caller's, and a debug
/// build stops at a key that is not behind the one before it. In the form
/// [`ToolResult`](crate::ToolResult) it notes the first thing outside the value
/// domain.
pub struct Encoder<'s, F: Form, S: Sink> {
    sink: &'s mut S,
    form: PhantomData<F>,
    depth: usize,
    comma: bool,
    outside: Option<DomainError>,
    #[cfg(debug_assertions)]
    keys: Vec<Option<String>>,
}

impl<'s, F: Form, S: Sink> Encoder<'s, F, S> {
    /// Starts a value behind what the sink already holds.
    pub(crate) fn new(sink: &'s mut S) -> Self {
        Self {
            sink,
            form: PhantomData,
            depth: 0,
            comma: false,
            outside: None,
            #[cfg(debug_assertions)]
            keys: Vec::new(),
        }
    }

    /// Opens an object.
    pub fn begin_object(&mut self) -> &mut Self {
        self.open(b'{')
    }

    /// Closes the innermost object.
    pub fn end_object(&mut self) -> &mut Self {
        self.close(b'}')
    }

    /// Opens an array.
    pub fn begin_array(&mut self) -> &mut Self {
        self.open(b'[')
    }

    /// Closes the innermost array.
    pub fn end_array(&mut self) -> &mut Self {
        self.close(b']')
    }

    /// Starts a member. Keys come in the order of their code points.
    pub fn key(&mut self, key: &str) -> &mut Self {
        #[cfg(debug_assertions)]
        if let Some(before) = self.keys.last_mut() {
            debug_assert!(
                before.as_deref().is_none_or(|before| before < key),
                "the keys of an object come in ascending order"
            );
            *before = Some(key.to_owned());
        }
        self.note(|depth| check_text(key, depth));
        self.separate();
        write_text::<F, _>(key, self.sink);
        self.sink.push(b':');
        self.comma = false;
        self
    }

    /// Writes a string.
    pub fn string(&mut self, text: &str) -> &mut Self {
        self.note(|depth| check_text(text, depth));
        self.separate();
        write_text::<F, _>(text, self.sink);
        self
    }

    /// Writes a string, or `null` where there is none.
    pub fn optional_string(&mut self, text: Option<&str>) -> &mut Self {
        match text {
            Some(text) => self.string(text),
            None => self.null(),
        }
    }

    /// Writes an integer.
    pub fn integer(&mut self, value: i64) -> &mut Self {
        self.note(|depth| check_integer(value, depth));
        self.separate();
        write_integer(value, self.sink);
        self
    }

    /// Writes a number as its kind demands.
    pub fn number(&mut self, number: &Number) -> &mut Self {
        self.note(|depth| crate::domain::check_number(number, depth));
        self.separate();
        write_number(number, self.sink);
        self
    }

    /// Writes a truth value.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.literal(if value { b"true" } else { b"false" })
    }

    /// Writes `null`.
    pub fn null(&mut self) -> &mut Self {
        self.literal(b"null")
    }

    /// Writes a whole value.
    pub fn value(&mut self, value: &Value) -> &mut Self {
        self.note(|depth| InDomain::check_at(value, depth).map(|_| ()));
        self.separate();
        write_value::<F, _>(value, self.sink);
        self
    }

    /// Writes a whole value that has been checked, of which only the depth is left to see.
    pub fn checked(&mut self, value: &InDomain<'_>) -> &mut Self {
        self.note(|depth| value.fits_at(depth));
        self.separate();
        write_value::<F, _>(value.value(), self.sink);
        self
    }

    pub(crate) fn into_result(self) -> Result<(), DomainError> {
        self.outside.map_or(Ok(()), Err)
    }

    fn open(&mut self, bracket: u8) -> &mut Self {
        self.note(crate::domain::check_depth);
        self.separate();
        self.sink.push(bracket);
        self.comma = false;
        self.depth += 1;
        #[cfg(debug_assertions)]
        self.keys.push(None);
        self
    }

    fn close(&mut self, bracket: u8) -> &mut Self {
        self.sink.push(bracket);
        self.comma = true;
        self.depth = self.depth.saturating_sub(1);
        #[cfg(debug_assertions)]
        self.keys.pop();
        self
    }

    fn literal(&mut self, text: &[u8]) -> &mut Self {
        self.note(crate::domain::check_depth);
        self.separate();
        self.sink.write(text);
        self
    }

    fn separate(&mut self) {
        if self.comma {
            self.sink.push(b',');
        }
        self.comma = true;
    }

    fn note(&mut self, check: impl FnOnce(usize) -> Result<(), DomainError>) {
        if F::CHECKED && self.outside.is_none() {
            self.outside = check(self.depth).err();
        }
    }
}

impl<F: Form, S: Sink> fmt::Debug for Encoder<'_, F, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Encoder")
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}
