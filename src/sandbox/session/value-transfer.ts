import { waitForAbort } from '../../common/async/abort.js'
import type { ValueRef } from '../../common/json/external-value.js'
import type { Fence, ValuePiece } from '../protocol/messages.js'
import { splitIntoPieces } from '../protocol/text-pieces.js'

/**
 * Reads the JSON text of an external value, in chunks of UTF-8 that may end within a character. An error rejects the
 * step that needs the value. The same value may be read again. `signal` aborts when the rest is not needed.
 *
 * @throws PtcError VALUE_MISSING, VALUE_CORRUPT, VALUE_STORE_UNAVAILABLE
 */
export type ReadValue = (ref: ValueRef, signal: AbortSignal) => AsyncIterable<Uint8Array>

interface TransferOptions {
  readonly fence: Fence
  readonly readValue: ReadValue
  /** Sends a piece; settles when the connection has room for more. */
  readonly send: (piece: ValuePiece) => Promise<void>
  readonly frameBytes: number
  readonly signal: AbortSignal
}

/**
 * Streams values to the runner, one after the other and piece by piece; reads one piece while the piece before is sent.
 * When `signal` aborts, returns early without an error and without waiting for the source.
 */
export async function transferValues(refs: readonly ValueRef[], options: TransferOptions): Promise<void> {
  const { fence, readValue, send, frameBytes, signal } = options
  const aborted = waitForAbort(signal)
  for (const ref of refs) {
    const pieces = splitIntoPieces(readValue(ref, signal), Math.floor(frameBytes / 4))
    try {
      let reading = pieces.next()
      for (let piece = 0; ; piece += 1) {
        const next = await Promise.race([aborted, reading])
        if (signal.aborted || next === undefined) return
        if (next.done === true) break
        reading = pieces.next()
        // The next round has its error, unless sending fails before.
        reading.catch(() => undefined)
        await Promise.race([aborted, send({ type: 'value', fence, value: ref.sha256, piece, ...next.value })])
      }
    } finally {
      // Errors of the source are ignored, because it is not read any more.
      pieces.return(undefined).catch(() => undefined)
    }
  }
}
