/*
 * Codec server: decodes payloads for Temporal's web UI and CLI (Temporal's remote-codec protocol over HTTP).
 *
 * Owns: the HTTP server, its access control, and the form of a decoded payload.
 * Boundary: reads the value store of a project, with its encryption keys. It knows no workflow and no connection to
 * Temporal.
 *
 * Invariants:
 * 1. A payload that is unknown, or that it can't load or decrypt, is returned unchanged.
 * 2. A web page gets nothing and causes no effect, unless its origin is an allowed one.
 * 3. With a token, a request without it gets nothing. Without a token the server listens on the loopback interface
 *    only.
 * 4. It writes nothing to the store. A payload has a limit of bytes, and so has a request, for the bytes that it sends
 *    and for those that it loads. Sizes in references are checked, because the writer of the payload chose them.
 */
export { type CodecServer, type CodecServerOptions, startCodecServer } from './codec-server.js'
