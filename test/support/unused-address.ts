/**
 * An address without a listener: only root may listen on port 1, and no service does. A port that was free a moment ago
 * may be in use by another process.
 */
export const unusedAddress = '127.0.0.1:1'
