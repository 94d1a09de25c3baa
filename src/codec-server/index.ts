/*
 * Codec server: decodes payloads for Temporal's web UI and CLI (Temporal's remote-codec protocol over HTTP).
 *
 * Owns: the paths of the server, and the form of a decoded payload.
 * Boundary: `src/http` serves it, with access control. It reads the value store of a project, with its encryption keys,
 * and knows no workflow and no connection to Temporal.
 *
 * Invariants:
 * 1. A payload that it does not know, or can't load or decrypt, is returned as it is.
 * 2. It writes nothing to the store. A payload has a limit of bytes, and so has a request, in what it sends, loads
 *    and searches. Sizes of references are checked: the author of a payload chose them.
 */
export { type CodecServer, type CodecServerOptions, startCodecServer } from './codec-server.js'
