use countersign_canonical::Limits;

/// Bounds on a raw response: 16 MiB, and deep enough for arguments of 128 levels in any envelope.
pub const RESPONSE_LIMITS: Limits = Limits {
    bytes: 16 << 20,
    depth: 144,
    nodes: 1 << 19,
    string_chars: 16 << 20,
    members: 1 << 16,
};

/// Bounds on arguments that come as text inside a response: 4 MiB, 128 levels.
pub const ARGUMENT_LIMITS: Limits = Limits {
    bytes: 4 << 20,
    depth: 128,
    nodes: 1 << 18,
    string_chars: 4 << 20,
    members: 1 << 16,
};

/// The most tool calls of one response.
pub const MAX_CALLS: usize = 256;

/// The most items (output items, blocks, steps, parts) of one response.
pub const MAX_ITEMS: usize = 4096;
