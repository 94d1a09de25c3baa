import { z } from 'zod'
import type { JsonObject, JsonValue } from '../../common/json.js'

/**
 * The step protocol between host and runner: length-prefixed JSON frames (see frames.ts) over the sandbox's own stdio.
 * Everything the runner says is hostile until these schemas say otherwise.
 */
export const protocolVersion = 2

/**
 * Order of authority: epoch of the session, then step, then attempt of the activity. The runner refuses whatever is lower
 * than the highest it has seen, so a stale worker never drives a program.
 */
export type Fence = readonly [epoch: number, step: number, attempt: number]

export function isSameFence(one: Fence, other: Fence): boolean {
  return one.every((part, place) => part === other[place])
}

/** What the runner knows of a tool. */
export interface ToolSignature {
  readonly name: string
  /** Parameter names in the order of the definition. */
  readonly parameters: readonly string[]
  readonly required: readonly string[]
  readonly documentation: string
}

/**
 * A part of a value's JSON text, ahead of the step of this fence that names it by `ref`. Values come one after the other, a
 * piece never ends inside a surrogate pair, and piece 0 begins a value (again). Answered only when one is not the piece that
 * was to come, or the text not that of the hash: `refused`, as `incomplete`. A step that is taken forgets what it did not name.
 */
export interface ValuePiece {
  readonly type: 'value'
  readonly fence: Fence
  /** SHA-256 of the value: what `ref` says. */
  readonly value: string
  readonly piece: number
  readonly text: string
  readonly last: boolean
}

/** What tells a step from another of its number, which a reset makes possible: of all that it says. Absent: nobody asks. */
interface Told {
  readonly digest?: string
}

export type HostMessage =
  | {
      readonly type: 'hello'
      readonly protocol: number
      readonly fence: Fence
      readonly session: string
      readonly seed: number
      /** Milliseconds since the epoch: with `now` of a step it is the program's time. Absent: the runner takes its own. */
      readonly started_at?: number
      readonly tools: readonly ToolSignature[]
      readonly limits: {
        readonly cell_seconds: number
        readonly calls_per_cell: number
        readonly captured_characters: number
        readonly frame_bytes: number
        readonly argument_bytes: number
        readonly memory_bytes: number
      }
    }
  | ValuePiece
  | ({
      readonly type: 'cell'
      readonly fence: Fence
      readonly step: number
      readonly now: number
      /** Milliseconds since the last answer: see `Step`. */
      readonly waited?: number
      readonly cell: number
    } & Told &
      ({ readonly source: string } | { readonly ref: string }))
  | (Told & {
      readonly type: 'advance'
      readonly fence: Fence
      readonly step: number
      readonly now: number
      readonly waited?: number
      readonly results: readonly {
        readonly call: number
        readonly outcome: {
          readonly status: string
          readonly value?: JsonValue
          /** Of a value that was sent in pieces before. */
          readonly ref?: string
          readonly message?: string
        }
      }[]
      /** Why the cell is to be abandoned instead; then there are no results. */
      readonly stop?: string
    })
  /**
   * Between two cells: put the program into bytes, of this many before compression, within so many seconds. Answered with
   * `snapshot` pieces or `no_snapshot`; a runner that does not know it repeats its answer to the step.
   */
  | {
      readonly type: 'snapshot'
      readonly fence: Fence
      /** The last that was answered. */
      readonly step: number
      readonly bytes: number
      readonly seconds: number
    }
  /** The first step of a runner: be what the snapshot (a value sent before) is of, and go on after this step. */
  | (Told & { readonly type: 'restore'; readonly fence: Fence; readonly step: number; readonly ref: string })
  | { readonly type: 'close'; readonly fence: Fence }

const step = z.int().min(0)

/** Of the frame that is answered: everybody who is attached to the sandbox hears it, its sender is meant. */
const fence = z.tuple([z.int(), z.int(), z.int()])

const call = z.strictObject({
  call: z.int().min(1),
  tool: z.string().min(1).max(64),
  /** Any object that JSON can say: what is in it is only looked at by `checkSize`, which gives up at a limit. */
  arguments: z.custom<JsonObject>((value) => typeof value === 'object' && value !== null && !Array.isArray(value)),
})

/** In one suspension; an honest runner puts some 400 bytes of it aside for each. */
const maximumCalls = 2_500

/** Counted before a call is looked at. */
const calls = z
  .custom<readonly unknown[]>((value) => Array.isArray(value) && value.length <= maximumCalls)
  .pipe(z.array(call))

/** What every answer to a step says. */
const answer = {
  step,
  /** Of the step, as its sender told it: who else is attached may wait for another of the same number. */
  digest: z.string().max(64).optional(),
}

/** Of an answer of code. */
const end = {
  ...answer,
  output: z.string(),
  /** Milliseconds after the step had begun that an interrupt from outside reached its code; the first, if there were several. */
  interrupted_after: z.int().min(0).optional(),
}

/** What the runner may say. */
export const runnerMessage = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('ready'),
    protocol: z.int(),
    session: z.string().max(200),
    /** The last step the runner has answered; 0 when none. */
    step,
    language: z.string().max(100),
  }),
  /** Printed text, as it appears; the authoritative copy is in the answer. */
  z.strictObject({ type: z.literal('output'), step, text: z.string() }),
  /** The host's interrupt has reached the code; what the code makes of it is its own. */
  z.strictObject({ type: z.literal('interrupted') }),
  z.strictObject({
    ...end,
    type: z.literal('suspended'),
    calls,
    /** Seconds until a timer of the program is due. */
    wake_in: z.number().min(0).max(1e9).nullable(),
  }),
  z.strictObject({ ...end, type: z.literal('completed') }),
  z.strictObject({
    ...end,
    type: z.literal('failed'),
    kind: z.enum(['code_error', 'timed_out', 'limit_exceeded', 'stopped']),
    error: z.string(),
  }),
  /** A part of a snapshot, in Base64; only the last may end in padding. */
  z.strictObject({
    type: z.literal('snapshot'),
    step,
    fence,
    piece: z.int().min(0),
    text: z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/),
    last: z.boolean(),
  }),
  /** The program can't be put into bytes, and why; it goes on as it was. */
  z.strictObject({ type: z.literal('no_snapshot'), step, fence, reason: z.string().max(1_000) }),
  /** The answer to `restore`; after a problem the runner is of no more use. */
  z.strictObject({ ...answer, type: z.literal('restored'), problem: z.string().max(1_000).nullable() }),
  /** The frame was stale, out of order, or of a value that did not arrive, and changed nothing. */
  z.strictObject({
    type: z.literal('refused'),
    step,
    fence,
    /** `fenced`: somebody newer drives. `incomplete`: a value did not arrive whole, begin again. `invalid`: a mistake. */
    kind: z.enum(['fenced', 'incomplete', 'invalid']),
    reason: z.string().max(1_000),
  }),
])

export type RunnerMessage = z.infer<typeof runnerMessage>

/** The host's message that is a step. */
export type StepMessage = Extract<HostMessage, { type: 'cell' | 'advance' | 'restore' }>

/** The runner's message that answers one. */
export type AnswerMessage = Extract<RunnerMessage, { type: 'suspended' | 'completed' | 'failed' | 'restored' }>
