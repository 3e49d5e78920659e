//! A table that can take back what the running transaction did.

use std::collections::BTreeMap;

#[derive(Debug)]
pub(super) struct Table<K, V> {
    rows: BTreeMap<K, V>,
    undo: Vec<(K, Option<V>)>,
}

impl<K, V> Default for Table<K, V> {
    fn default() -> Self {
        Self {
            rows: BTreeMap::new(),
            undo: Vec::new(),
        }
    }
}

impl<K: Ord + Clone, V: Clone> Table<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        self.rows.get(key)
    }

    pub(super) fn rows(&self) -> &BTreeMap<K, V> {
        &self.rows
    }

    pub(super) fn put(&mut self, key: K, value: V) {
        let before = self.rows.insert(key.clone(), value);
        self.undo.push((key, before));
    }

    pub(super) fn remove(&mut self, key: &K) {
        let before = self.rows.remove(key);
        self.undo.push((key.clone(), before));
    }

    /// Keeps what was done; tells whether anything was.
    pub(super) fn commit(&mut self) -> bool {
        let has_changed = !self.undo.is_empty();
        self.undo.clear();
        has_changed
    }

    pub(super) fn roll_back(&mut self) {
        while let Some((key, before)) = self.undo.pop() {
            match before {
                Some(value) => self.rows.insert(key, value),
                None => self.rows.remove(&key),
            };
        }
    }
}
