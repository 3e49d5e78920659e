/// Finds where containers are first nested deeper than `limit`, in text that
/// need not be JSON.
///
/// Brackets outside of strings count, whatever surrounds them; closing ones
/// below the outermost level count as nothing; a backslash escapes in strings only.
pub(crate) fn first_too_deep(text: &[u8], limit: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (offset, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > limit {
                    return Some(offset);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::first_too_deep;

    #[test]
    fn counts_brackets_outside_strings_only() {
        for (text, expected) in [
            ("[[1]]", None),
            ("[[[", Some(2)),
            ("]]][[[", Some(5)),
            ("!{[}[[", Some(5)),
            (r#""[[[""#, None),
            (r#""\"[[["#, None),
            (r#"\"[[["#, None),
            (r"\\[[[", Some(4)),
            (r#""\\"[[["#, Some(6)),
        ] {
            assert_eq!(first_too_deep(text.as_bytes(), 2), expected, "{text}");
        }
    }
}
