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
    words.len() * 8 + plain_prefix_of_word::<ASCII_ONLY>(short_word(rest))
}

/// The same for one word.
#[inline]
pub(crate) const fn plain_prefix_of_word<const ASCII_ONLY: bool>(word: [u8; 8]) -> usize {
    let found = special::<ASCII_ONLY>(u64::from_le_bytes(word));
    found.trailing_zeros() as usize / 8
}

/// Makes a word of less than 8 bytes. Zeros follow them, which are special.
#[inline]
pub(crate) fn short_word(bytes: &[u8]) -> [u8; 8] {
    let word = if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // The two overlap where there are less than 8, and agree there.
        let shift = 8 * (bytes.len() - 4);
        u64::from(u32::from_le_bytes(*first)) | (u64::from(u32::from_le_bytes(*last)) << shift)
    } else {
        let [first, second, third] = match *bytes {
            [first] => [first, 0, 0],
            [first, second] => [first, second, 0],
            [first, second, third] => [first, second, third],
            _ => [0; 3],
        };
        u64::from(u32::from_le_bytes([first, second, third, 0]))
    };
    word.to_le_bytes()
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

#[cfg(test)]
mod tests {
    use super::{plain_prefix, short_word};

    #[test]
    fn short_words_hold_their_bytes_and_zeros() {
        for length in 0..8 {
            let bytes = b"abcdefg".get(..length).expect("a prefix");
            let word = short_word(bytes);
            assert!(word.starts_with(bytes));
            assert!(word.iter().skip(length).all(|byte| *byte == 0));
        }
    }

    #[test]
    fn a_prefix_ends_at_the_first_special_byte_wherever_it_stands() {
        for length in 0..20 {
            for place in 0..length {
                for byte in 0..=u8::MAX {
                    let mut bytes = vec![b'x'; length];
                    bytes[place] = byte;
                    let special = byte < 0x20 || byte == b'"' || byte == b'\\';
                    let expected = if special { place } else { length };
                    assert_eq!(plain_prefix::<false>(&bytes), expected);
                    let expected = if special || byte >= 0x7f {
                        place
                    } else {
                        length
                    };
                    assert_eq!(plain_prefix::<true>(&bytes), expected);
                }
            }
        }
    }
}
