//! Finding the end of a run of bytes that are copied as they are, eight at a time.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// The length of the longest prefix without a quote, a backslash or a control
/// character below U+0020, and, for `ASCII_ONLY`, without 0x7f and above.
#[inline]
pub(crate) fn plain_prefix<const ASCII_ONLY: bool>(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let plain = plain_prefix_of_word::<ASCII_ONLY>(*word);
        if plain < word.len() {
            return index * 8 + plain;
        }
    }
    let tail = rest
        .iter()
        .position(|byte| !is_plain::<ASCII_ONLY>(*byte))
        .unwrap_or(rest.len());
    words.len() * 8 + tail
}

/// The same for one word.
#[inline]
pub(crate) const fn plain_prefix_of_word<const ASCII_ONLY: bool>(word: [u8; 8]) -> usize {
    let found = special::<ASCII_ONLY>(u64::from_le_bytes(word));
    found.trailing_zeros() as usize / 8
}

#[inline]
const fn is_plain<const ASCII_ONLY: bool>(byte: u8) -> bool {
    byte >= 0x20 && byte != b'"' && byte != b'\\' && (!ASCII_ONLY || byte < 0x7f)
}

/// Marks the special bytes of a word in their highest bits. The lowest mark is
/// exact; a borrow can put wrong ones only above it.
#[inline]
const fn special<const ASCII_ONLY: bool>(word: u64) -> u64 {
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero_byte(word ^ (ONES * b'"' as u64));
    let backslash = zero_byte(word ^ (ONES * b'\\' as u64));
    let mut found = below_space | quote | backslash;
    if ASCII_ONLY {
        found |= word | zero_byte(word ^ (ONES * 0x7f));
    }
    found & HIGHS
}

#[inline]
const fn zero_byte(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word
}
