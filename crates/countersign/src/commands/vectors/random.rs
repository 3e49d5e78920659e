//! A small deterministic source of choices: the same seed, the same choices, on every machine and in every version.

/// The generator `SplitMix64`. It is for test data; nothing that must not be guessed may come from it.
pub(super) struct Random {
    state: u64,
}

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(super) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`; zero where that is zero. The slight bias does not matter here.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % bound).unwrap_or(0)
    }

    /// True in one of `of` cases.
    pub(super) fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    /// One of the items; the default where there is none.
    pub(super) fn pick<T: Clone + Default>(&mut self, items: &[T]) -> T {
        let index = self.below(items.len());
        items.get(index).cloned().unwrap_or_default()
    }

    /// Lower-case hexadecimal digits.
    pub(super) fn hex(&mut self, length: usize) -> String {
        (0..length)
            .filter_map(|_| char::from_digit(u32::try_from(self.below(16)).unwrap_or(0), 16))
            .collect()
    }

    /// A random (version 4) UUID.
    pub(super) fn uuid(&mut self) -> String {
        let variant = self.pick(&["8", "9", "a", "b"]);
        format!(
            "{}-{}-4{}-{variant}{}-{}",
            self.hex(8),
            self.hex(4),
            self.hex(3),
            self.hex(3),
            self.hex(12)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of the published algorithm, which must never change under our vectors.
    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        let found: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(
            found,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn uuids_are_of_version_4() {
        let mut random = Random::new(1);
        for _ in 0..100 {
            let uuid = random.uuid();
            assert!(
                countersign_governed::ActionId::parse(&uuid).is_ok(),
                "{uuid}"
            );
        }
    }
}
