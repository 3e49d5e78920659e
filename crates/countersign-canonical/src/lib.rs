//! Strict JSON with limits, the two canonical encodings, and their digests.
