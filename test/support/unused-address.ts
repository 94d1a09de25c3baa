/**
 * An address where nothing listens: only root may listen on port 1, and no service does. Another process may take a
 * port that was free a moment ago.
 */
export const unusedAddress = '127.0.0.1:1'
