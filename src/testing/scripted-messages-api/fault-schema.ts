import { z } from 'zod'

/** Where in a response a fault strikes. In a response that is no stream, every place but `bytes` is its middle. */
export type FaultPlace =
  /** After so many bytes of the body. */
  | { readonly bytes: number }
  /** Half-way through the deltas of the block with this index, from 0. */
  | { readonly insideBlock: number }
  /** Before the first event of this name. */
  | { readonly before: string }

/** How a connection goes down: a clean end of the response, the socket closed, or reset (RST). */
export type CutManner = 'end' | 'close' | 'reset'

/** What goes wrong. `delay` and `garbage` leave the rest as it is; of the others, the first of an attempt counts. */
export type Fault =
  /** The response begins so much later. */
  | { readonly type: 'delay'; readonly ms: number }
  /** An error instead of a reply. */
  | {
      readonly type: 'status'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>>
      /** Default: the type the API gives the status, and a text to match. */
      readonly error?: { readonly type?: string; readonly message?: string }
    }
  /** The connection closes before any byte of a response. */
  | { readonly type: 'close'; readonly manner?: 'close' | 'reset' }
  /** The response stops in the middle. */
  | { readonly type: 'cut'; readonly at: FaultPlace; readonly manner?: CutManner }
  /** Nothing more is sent, the connection stays open until the client or the server closes it. */
  | { readonly type: 'stall'; readonly at: FaultPlace }
  /** A stream ends with an `error` event. */
  | {
      readonly type: 'error_event'
      readonly at: FaultPlace
      readonly error?: { readonly type?: string; readonly message?: string }
    }
  /** A piece of text that is no event gets into the stream; default: an event with broken JSON. */
  | { readonly type: 'garbage'; readonly at: FaultPlace; readonly text?: string }

/** A fault and the attempts it strikes: the n-th request for the same state of a conversation, from 1. */
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
  z.strictObject({ type: z.literal('close'), attempt, manner: z.enum(['close', 'reset']).optional() }),
  z.strictObject({ type: z.literal('cut'), attempt, at, manner: z.enum(['end', 'close', 'reset']).optional() }),
  z.strictObject({ type: z.literal('stall'), attempt, at }),
  z.strictObject({ type: z.literal('error_event'), attempt, at, error }),
  z.strictObject({ type: z.literal('garbage'), attempt, at, text: z.string().min(1).optional() }),
])

/** The faults that strike this attempt, in the order of the script. */
export function faultsOf(faults: readonly ScriptedFault[], attemptNumber: number): readonly Fault[] {
  return faults.filter(({ attempt }) => {
    if (attempt === 'every') return true
    return typeof attempt === 'number' ? attempt === attemptNumber : attempt.includes(attemptNumber)
  })
}
