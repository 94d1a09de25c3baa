/**
 * A connection to a sandbox that continues over connections that break and lose bytes.
 *
 * Owns: numbered bytes in both directions between a host and the relay in a sandbox (runner/relay), what is sent again,
 * which host owns the sandbox, and the lease of the sandbox.
 * Boundary: a backend opens connections of bytes and knows what became of a sandbox. It does not know the step protocol,
 * which is in the bytes, nor Kubernetes.
 *
 * Invariants:
 * 1. Each byte arrives once and in order, over any number of connections of one owner, or the connection ends. The next
 *    owner gets what the owner before has not acknowledged, and may begin in the middle of a frame.
 * 2. The newest owner counts. An older one learns this from the next packet, ends as `replaced`, and its packets are
 *    ignored.
 * 3. A reader that does not read never stops a connection: the relay sends no more than a window beyond what was read.
 * 4. An exit is known with its exit code after the last byte. A relay waits with its own exit until this is known.
 * 5. A connection without a packet for 45 seconds is broken: both sides send one at least every 15 seconds.
 * 6. A sandbox ends by itself when no owner has sent a packet during its lease.
 * 7. What a relay sends is untrusted. Work and memory for it are linear in its bytes, and bounded.
 *
 * packets.ts finds packets in damaged bytes; resumable-stream.ts has the numbers, without input and output;
 * resumable-connection.ts has connections and time.
 */
export {
  type Handlers,
  openResumable,
  readExit,
  type ResumableConnection,
  type ResumableOptions,
  type Transport,
} from './resumable-connection.js'
