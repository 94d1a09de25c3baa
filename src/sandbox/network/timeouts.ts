/** Milliseconds for the connection to a target, and for a ClientHello. */
export const connectTimeoutMs = 30_000

/** Milliseconds without a byte after which a connection to a target ends. */
export const idleTimeoutMs = 5 * 60_000
