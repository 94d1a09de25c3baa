/*
 * Codec server: decodes payloads for Temporal's web UI and CLI (Temporal's remote-codec protocol over HTTP).
 *
 * Owns: the HTTP server, its access control, and the form of a decoded payload.
 * Boundary: reads the value store of a project, with its encryption keys. It knows no workflow and no connection to
 * Temporal.
 *
 * Invariants:
 * 1. A payload that it does not know, or can't load or decrypt, is returned as it is.
 * 2. A web page of another origin than those allowed gets nothing, not even an effect.
 * 3. With a token, nobody without it gets anything. Without a token it listens on the loopback interface only.
 * 4. It writes nothing to the store. A payload has a limit of bytes, and so has a request, in what it sends, loads
 *    and searches. Sizes of references are checked: whoever wrote a payload chose them.
 */
export { type CodecServer, type CodecServerOptions, startCodecServer } from './codec-server.js'
