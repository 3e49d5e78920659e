use crate::Value;

/// The members of a JSON object, with unique keys, sorted by code point.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Object {
    // INVARIANT: strictly ascending by key. UTF-8 orders bytes as code points.
    members: Vec<(String, Value)>,
}

impl Object {
    /// Makes an object without members.
    pub const fn new() -> Self {
        Self {
            members: Vec::new(),
        }
    }

    /// Takes members over that the caller has put into strictly ascending order.
    pub(crate) fn from_sorted(members: Vec<(String, Value)>) -> Self {
        debug_assert!(members.is_sorted_by(|left, right| left.0 < right.0));
        Self { members }
    }

    /// The value of a member.
    pub fn get(&self, key: &str) -> Option<&Value> {
        let index = self.position(key).ok()?;
        self.members.get(index).map(|(_, value)| value)
    }

    /// Whether there is such a member, null or not.
    pub fn contains_key(&self, key: &str) -> bool {
        self.position(key).is_ok()
    }

    /// Sets a member and returns the value it had.
    pub fn insert(&mut self, key: String, value: Value) -> Option<Value> {
        match self.position(&key) {
            Ok(index) => {
                let (_, held) = self.members.get_mut(index)?;
                Some(std::mem::replace(held, value))
            }
            Err(index) => {
                self.members.insert(index, (key, value));
                None
            }
        }
    }

    /// Takes a member out.
    pub fn remove(&mut self, key: &str) -> Option<Value> {
        let index = self.position(key).ok()?;
        Some(self.members.remove(index).1)
    }

    /// The members in the order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> + DoubleEndedIterator {
        self.members
            .iter()
            .map(|(key, value)| (key.as_str(), value))
    }

    /// The keys in their order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.members.iter().map(|(key, _)| key.as_str())
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.members
            .binary_search_by(|(held, _)| held.as_str().cmp(key))
    }
}

/// Of members with the same key, the last one stays.
impl<const N: usize> From<[(&str, Value); N]> for Object {
    fn from(members: [(&str, Value); N]) -> Self {
        members
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value))
            .collect()
    }
}

/// Of members with the same key, the last one stays.
impl FromIterator<(String, Value)> for Object {
    fn from_iter<I: IntoIterator<Item = (String, Value)>>(members: I) -> Self {
        let mut members: Vec<_> = members.into_iter().collect();
        members.sort_by(|left, right| left.0.cmp(&right.0));
        members.dedup_by(|later, earlier| {
            let same = later.0 == earlier.0;
            if same {
                std::mem::swap(later, earlier);
            }
            same
        });
        Self { members }
    }
}

impl IntoIterator for Object {
    type Item = (String, Value);
    type IntoIter = std::vec::IntoIter<(String, Value)>;

    fn into_iter(self) -> Self::IntoIter {
        self.members.into_iter()
    }
}
