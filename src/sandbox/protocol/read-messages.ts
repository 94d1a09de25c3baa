import { PtcError } from '../../common/errors.js'
import { FrameDecoder, parseFrame } from './frames.js'
import { anyRunnerMessageSchema, type RunnerMessage, type RunnerNetworkMessage } from './messages.js'
import { yieldToEventLoop, RateLimiter } from './rate-limiter.js'
import type { RunnerFrameLimits } from './runner-limits.js'
import { countStructuralBytes } from '../../common/json/structural-bytes.js'

/** Bytes that are decoded without a pause; a stream may deliver a MiB at once. */
const sliceBytes = 64 * 1024

/** Cost of reading, in units of one forwarded byte. */
const costs = { chunk: 4_000, frame: 1_000, structure: 32 } as const

/**
 * A larger frame, or the same number of bytes of smaller frames, gets a separate turn of the event loop, over all
 * sandboxes.
 */
const smallFrameBytes = 16 * 1024

interface ReadOptions {
  /** True when the bytes may begin in the middle of a frame. */
  readonly resume: boolean
  /** Returns whether a message is expected. While none is, frames are skipped without parsing. */
  readonly isExpectingMessage: () => boolean
}

/**
 * Reads and validates the messages of a runner. Reads a sandbox that sends too much more slowly (see {@link
 * RateLimiter}).
 *
 * @throws PtcError SANDBOX_PROTOCOL for the first invalid frame; the message contains no text of the sandbox
 */
export async function* readMessages(
  received: AsyncIterable<Uint8Array>,
  limits: RunnerFrameLimits,
  { resume, isExpectingMessage }: ReadOptions,
): AsyncGenerator<RunnerMessage | RunnerNetworkMessage, void, undefined> {
  const decoder = new FrameDecoder(limits.bytes, { resume })
  const rateLimiter = new RateLimiter()
  let bytesSinceYield = 0
  for await (const chunk of received) {
    await rateLimiter.consume(costs.chunk + chunk.length)
    for (let start = 0; start < chunk.length; start += sliceBytes) {
      const slice = chunk.subarray(start, start + sliceBytes)
      bytesSinceYield += slice.length
      // A socket may deliver many chunks in one turn of the event loop: timers may not have run between two chunks.
      if (bytesSinceYield > smallFrameBytes) {
        await yieldToEventLoop()
        bytesSinceYield = 0
      }
      for (const body of decoder.push(slice)) {
        if (!isExpectingMessage()) continue
        const isSmall = body.length <= smallFrameBytes
        if (!isSmall) await yieldToEventLoop()
        const structuralBytes = checkStructure(body, limits.structuralBytes)
        await rateLimiter.consume(costs.frame + costs.structure * structuralBytes)
        const message = validateMessage(parseFrame(body))
        // The consumer of the message also needs time for it.
        if (!isSmall) await yieldToEventLoop()
        yield message
      }
    }
  }
}

/** Maximum depth of nesting. An honest runner stays below, because Python's encoder stops at a depth of about 1,000. */
const maxDepth = 5_000

/**
 * Counts the bytes of a frame outside of strings.
 *
 * @throws PtcError SANDBOX_PROTOCOL
 */
export function checkStructure(frame: Uint8Array, maxBytes: number): number {
  const { bytes, problem } = countStructuralBytes(frame, { bytes: maxBytes, depth: maxDepth })
  if (problem !== undefined) throw new PtcError('SANDBOX_PROTOCOL', `the sandbox sent a frame that ${problem}`)
  return bytes
}

function validateMessage(frame: unknown): RunnerMessage | RunnerNetworkMessage {
  const { success, data } = anyRunnerMessageSchema.safeParse(frame)
  if (success) return data
  throw new PtcError('SANDBOX_PROTOCOL', 'the sandbox broke the protocol: it sent an unknown or malformed message')
}
