import type { ValueRef } from '../common/values.js'
import type { Fence, ValuePiece } from './protocol/messages.js'
import { pieceUnits, piecesOf } from './protocol/pieces.js'

/**
 * The JSON text of a value kept elsewhere, in chunks. What it throws is the answer of the step that needs the value; it may be
 * asked for the same value again. `signal` aborts when nobody wants the rest.
 *
 * @throws PtcError VALUE_MISSING, VALUE_CORRUPT, VALUE_STORE_UNAVAILABLE
 */
export type ReadValue = (ref: ValueRef, signal: AbortSignal) => AsyncIterable<string>

export interface TransferOptions {
  readonly fence: Fence
  readonly readValue: ReadValue
  /** Settles when there is room for more. */
  readonly send: (piece: ValuePiece) => Promise<void>
  readonly frameBytes: number
  readonly signal: AbortSignal
}

/**
 * Streams values to the runner, one after the other and piece by piece: the next is read when there is room for it. Ends
 * early, without an error, when `signal` aborts; the source is not waited for then.
 */
export async function transferValues(refs: readonly ValueRef[], options: TransferOptions): Promise<void> {
  const { fence, readValue, send, frameBytes, signal } = options
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  for (const ref of refs) {
    const pieces = piecesOf(readValue(ref, signal), pieceUnits(frameBytes))
    try {
      for (let piece = 0; ; piece += 1) {
        const next = await Promise.race([aborted, pieces.next()])
        if (signal.aborted || next === undefined) return
        if (next.done === true) break
        await Promise.race([aborted, send({ type: 'value', fence, value: ref.sha256, piece, ...next.value })])
      }
    } finally {
      // Of a source that no one reads any more, no error is news.
      pieces.return(undefined).catch(() => undefined)
    }
  }
}
