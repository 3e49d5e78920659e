//! Keeps values for as long as the shelf stands, so that states may borrow them while the world around changes.

use std::cell::{Cell, OnceCell};

/// A place for a bounded number of values. What is put on it stays where it is.
#[derive(Debug)]
pub(crate) struct Shelf<T> {
    places: Vec<OnceCell<Box<T>>>,
    used: Cell<usize>,
}

impl<T> Shelf<T> {
    pub(crate) fn with_places(count: usize) -> Self {
        Self {
            places: std::iter::repeat_with(OnceCell::new).take(count).collect(),
            used: Cell::new(0),
        }
    }

    /// Puts a value on the shelf; nothing where it is full.
    pub(crate) fn keep(&self, value: T) -> Option<&T> {
        let place = self.places.get(self.used.get())?;
        self.used.set(self.used.get() + 1);
        Some(place.get_or_init(|| Box::new(value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_what_it_has_places_for() {
        let shelf = Shelf::with_places(2);
        let (one, two) = (shelf.keep(1), shelf.keep(2));
        assert_eq!((one, two, shelf.keep(3)), (Some(&1), Some(&2), None));
    }
}
