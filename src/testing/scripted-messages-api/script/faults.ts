import { z } from 'zod'

/** Position of a fault in a response. Without streaming, every position except `bytes` is the middle of the body. */
export type FaultPosition =
  /** After this many bytes of the body. */
  | { readonly bytes: number }
  /** In the middle of the deltas of the block with this index, from 0. */
  | { readonly insideBlock: number }
  /** Before the first event of this name. */
  | { readonly before: string }

/** How the response ends: properly, by closing the socket, or by a reset (RST). */
export type DisconnectMode = 'end' | 'close' | 'reset'

/** A fault. `delay` and `garbage` combine with others; of the other types, an attempt gets only the first. */
export type Fault =
  /** Delays the start of the response. */
  | { readonly type: 'delay'; readonly ms: number }
  /** Sends an error instead of a reply. */
  | {
      readonly type: 'status'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      /** Default: the API's type for the status, with a matching text. */
      readonly error?: { readonly type?: string; readonly message?: string }
    }
  /** Closes the connection before the first byte. */
  | { readonly type: 'close'; readonly mode?: 'close' | 'reset' }
  /** Ends the response at the position. */
  | { readonly type: 'cut'; readonly at: FaultPosition; readonly mode?: DisconnectMode }
  /** Sends nothing more and keeps the connection open until the client or the server closes it. */
  | { readonly type: 'stall'; readonly at: FaultPosition }
  /** Ends a stream with an `error` event. */
  | {
      readonly type: 'error_event'
      readonly at: FaultPosition
      readonly error?: { readonly type?: string; readonly message?: string }
    }
  /** Inserts a text into the stream; default: an event with invalid JSON. */
  | { readonly type: 'garbage'; readonly at: FaultPosition; readonly text?: string }

/** A fault and the attempts it applies to. An attempt is the n-th request for the same conversation state, from 1. */
export type ScriptedFault = Fault & { readonly attempt: number | readonly number[] | 'every' }

const attempt = z.union([z.int().min(1), z.array(z.int().min(1)).min(1), z.literal('every')])
const milliseconds = z.number().min(0).max(3_600_000)
const error = z.strictObject({ type: z.string().min(1).optional(), message: z.string().optional() }).optional()

const eventNames = [
  'message_start',
  'ping',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
] as const

const at = z.union(
  [
    z.strictObject({ bytes: z.int().min(0) }),
    z.strictObject({ insideBlock: z.int().min(0) }),
    z.strictObject({ before: z.enum(eventNames) }),
  ],
  {
    error: `must be { bytes: n }, { insideBlock: n } or { before: ${eventNames.map((name) => `'${name}'`).join(' | ')} }`,
  },
)

export const faultSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('delay'), attempt, ms: milliseconds }),
  z.strictObject({
    type: z.literal('status'),
    attempt,
    status: z.int().min(400).max(599),
    headers: z.record(z.string(), z.string()).optional(),
    error,
  }),
  z.strictObject({ type: z.literal('close'), attempt, mode: z.enum(['close', 'reset']).optional() }),
  z.strictObject({ type: z.literal('cut'), attempt, at, mode: z.enum(['end', 'close', 'reset']).optional() }),
  z.strictObject({ type: z.literal('stall'), attempt, at }),
  z.strictObject({ type: z.literal('error_event'), attempt, at, error }),
  z.strictObject({ type: z.literal('garbage'), attempt, at, text: z.string().min(1).optional() }),
])

/** The faults of this attempt, in the order of the script. */
export function faultsForAttempt(faults: readonly ScriptedFault[], attemptNumber: number): readonly Fault[] {
  return faults.filter(({ attempt }) => {
    if (attempt === 'every') return true
    return typeof attempt === 'number' ? attempt === attemptNumber : attempt.includes(attemptNumber)
  })
}
