/**
 * Owns: the messages between host and runner. They are length-prefixed JSON frames (frames.ts) on the stdio of the
 * sandbox.
 *
 * Boundary: imports `common` only; no timer, no connection, no backend.
 *
 * Invariants: 1. A frame of a runner is limited, measured, parsed and validated, in this order. 2. Text of a runner is
 * only a part of a reason. 3. Every message of the host has a fence, and the runner refuses a lower fence than it has
 * seen. 4. A step is identified by its number and digest. 5. Values precede the step that references them.
 */
import { z } from 'zod'
import { type FloatMask, isFloatMask } from '../../common/json/floats.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import { maxFoundFiles } from '../../common/files/files.js'
import { maxTextRanges } from '../../common/text/text-ranges.js'

/** Incremented when either side would misunderstand the other. */
export const protocolVersion = 5

/**
 * A fencing token, ordered by the epoch of the session, then the step, then the attempt of the activity. The runner
 * refuses a fence lower than the highest one so far, so a stale worker never drives a program.
 */
export type Fence = readonly [epoch: number, step: number, attempt: number]

export function isSameFence(one: Fence, other: Fence): boolean {
  return one.every((part, index) => part === other[index])
}

/** The data of a tool for the runner. */
export interface ToolSignature {
  readonly name: string
  /** Name of the tool, if it differs from the name of the function. */
  readonly tool?: string
  /** Parameter names in the order of the definition. */
  readonly parameters: readonly string[]
  readonly required: readonly string[]
  /** The tool takes arguments of other names, too. */
  readonly open?: true
  readonly documentation: string
  /** For a runner that converts texts to arguments: the dispatcher. */
  readonly description?: string
  /** JSON Schema of the arguments. */
  readonly schema?: JsonObject
}

/**
 * A piece of the JSON text of a value. It precedes the step of the same fence, which references the value by `ref`.
 * Values are sent one after the other; a piece never ends inside a surrogate pair; piece 0 starts a value, also for a
 * second time. The runner responds only to a piece in the wrong order, or a text with another hash: `refused` as
 * `incomplete`. When a step starts, the runner drops values that the step does not reference.
 */
export interface ValuePiece {
  readonly type: 'value'
  readonly fence: Fence
  /** SHA-256 of the value, as in `ref`. */
  readonly value: string
  readonly piece: number
  /** UTF-8, of whole characters. In the frame, it follows the line of JSON without escapes. */
  readonly text: Uint8Array
  readonly last: boolean
}

/**
 * A message about one TCP connection of a program to the proxy of the worker, in either direction
 * (`runner/dispatcher/ptc_dispatcher/network/tunnel.py`). The fence is that of the worker's `hello`: the runner ignores
 * the messages of other workers, and each worker those for other workers.
 */
export type NetworkMessage = { readonly type: 'network'; readonly fence: Fence; readonly connection: number } & (
  | { readonly kind: 'end' | 'close' }
  /** `text`: bytes in Base64. */
  | { readonly kind: 'data'; readonly text: string }
  /** The receiver may send so many bytes more. */
  | { readonly kind: 'window'; readonly bytes: number }
)

/** Bytes of a connection that each side may send before the other side has passed them on. */
export const networkWindowBytes = 128 * 1024

/** Maximum bytes in one message of a connection. */
export const networkDataBytes = 32 * 1024

/** Fields of a step that its digest does not cover. */
interface StepRequestFields {
  /** Milliseconds since the start of the session, and since the last result: see `StepTimes`. */
  readonly now: number
  readonly waited?: number
  /** Number of the last step with a result in the history. No worker requests these steps again. */
  readonly recorded?: number
}

/**
 * Digest of the content of a step, without its times: a repeated request for a step may have another time. After a
 * reset, two steps may have the same number.
 */
interface StepDigest {
  readonly digest: string
}

export type HostMessage =
  | {
      readonly type: 'hello'
      readonly protocol: number
      readonly fence: Fence
      readonly session: string
      readonly seed: number
      /** Start of the session in milliseconds since the epoch; with `now` of a step it gives the program's time. */
      readonly started_at: number
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
      readonly cell: number
      /** The language of the code. Absent: the first language of the session. */
      readonly language?: string
      /**
       * The value of variable `input_data`, set before the code runs. `ref`: a value that was sent in pieces before.
       */
      readonly input_data?: { readonly value: JsonValue } | { readonly ref: string }
      /**
       * The runner ends the tasks and timers of the code with the cell: later cells may have tools that this cell does
       * not have.
       */
      readonly restricted?: true
      /** The runner looks for mistakes in the code, and does not run it when it finds one. */
      readonly checked?: true
    } & StepDigest &
      StepRequestFields &
      ({ readonly source: string } | { readonly ref: string }))
  | (StepDigest &
      StepRequestFields & {
        readonly type: 'resume'
        readonly fence: Fence
        readonly step: number
        readonly results: readonly {
          readonly call: number
          readonly outcome: {
            readonly status: string
            readonly value?: JsonValue
            /** SHA-256 of a value that was sent in pieces before. */
            readonly ref?: string
            /** Marks the numbers of the value that are floats. */
            readonly floats?: FloatMask
            readonly message?: string
          }
        }[]
        /** The reason to stop the cell. A message with a reason has no results. */
        readonly stop?: string
      })
  /**
   * Sent between two cells: the runner serializes the program's state, within these limits (bytes before compression).
   * The runner responds with `snapshot` pieces or `no_snapshot`.
   */
  | {
      readonly type: 'snapshot'
      readonly fence: Fence
      /** The last step, which has its result. */
      readonly step: number
      readonly bytes: number
      readonly seconds: number
    }
  /**
   * A step between two cells, or while a cell is suspended, that writes a part of a file, and what was before it there.
   * `ref`: the part in Base64, as a JSON string. The runner responds as to a cell; one that is suspended stays so.
   */
  | (StepDigest &
      StepRequestFields & {
        readonly type: 'file'
        readonly fence: Fence
        readonly step: number
        readonly path: string
        /** Of the part, in bytes. 0 replaces a file. */
        readonly offset: number
        readonly ref: string
      })
  /**
   * Sent between two cells: the runner reads a part of a file. It responds as to `snapshot`, with the bytes in place of
   * the state.
   */
  | {
      readonly type: 'read_file'
      readonly fence: Fence
      /** The last step, which has its result. */
      readonly step: number
      readonly path: string
      readonly offset: number
      readonly bytes: number
    }
  /**
   * The first step of a fresh runner: it restores the state of a snapshot (a value that was sent before) and continues
   * after this step.
   */
  | (StepDigest & { readonly type: 'restore'; readonly fence: Fence; readonly step: number; readonly ref: string })
  | NetworkMessage

const stepSchema = z.int().min(0)

/** A text for people and models. Python's strings, and a hostile runner, may have lone surrogates. */
const textSchema = z.string().overwrite((text) => text.toWellFormed())

/**
 * The fence of the request of a response. Every attached driver receives the response, but it is only for the sender.
 */
const fenceSchema = z.tuple([z.int(), z.int(), z.int()])

const callSchema = z.strictObject({
  call: z.int().min(1),
  tool: textSchema.min(1).max(64),
  /** Any JSON object. Its content is validated later, by code that stops at a limit. */
  arguments: z.custom<JsonObject>(isJsonObject),
  /** Marks the numbers of the arguments that are floats. Absent or not a mask: no float looks like an integer. */
  floats: z
    .custom<FloatMask>((value) => isFloatMask(value))
    .optional()
    .catch(undefined),
})

/** Maximum calls in one suspension. The runner reserves about 400 bytes of a suspension for each. */
const maximumCalls = 2_500

/** Checks the number of calls before it validates any of them. */
const callsSchema = z
  .custom<readonly unknown[]>((value) => Array.isArray(value) && value.length <= maximumCalls)
  .pipe(z.array(callSchema))

/** Fields of every response to a step. */
const responseFields = {
  step: stepSchema,
  /** The digest of the step: another attached driver may wait for another step of the same number. */
  digest: z.string().max(64).optional(),
  /** The times at which the step was executed: the times of the first request, if the request was repeated. */
  now: z.number().min(0).optional(),
  waited: z.number().min(0).optional(),
}

/** Fields of every response of executed code. */
const codeResponseFields = {
  ...responseFields,
  /** Text that was printed to stdout and stderr during the step, in the order of printing. */
  output: textSchema,
  /**
   * The parts of `output` that were printed to stderr: start and end of each, in UTF-16 code units, in ascending order.
   * Absent: nothing was. A list that does not fit `output` is dropped.
   */
  stderr: z
    .array(z.tuple([z.int().min(0), z.int().min(0)]))
    .max(maxTextRanges)
    .optional(),
  /** Milliseconds between the start of the step and the first interrupt from outside that reached its code. */
  interrupted_after: z.int().min(0).optional(),
}

/** A file, or the reason why the runner can't read it. The bytes are read later, and may be others by then. */
const foundFileSchema = z.strictObject({
  path: textSchema.min(1).max(4_096),
  bytes: z.int().min(0),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
  problem: textSchema.max(200).optional(),
})

/** Fields of a response that ends a cell. */
const cellEndFields = {
  ...codeResponseFields,
  /** The exit code of the program, or of the process that ran the cell. Absent: 0 for `completed`, 1 for `failed`. */
  exit_code: z.int().min(0).max(255).optional(),
  /** What the cell used, from its first step on. Measured by the runner, so only as true as the runner. */
  usage: z
    .strictObject({
      /** Milliseconds for which the code ran. Waiting for tools and timers is not counted. */
      run_ms: z.int().min(0),
      /** Milliseconds of CPU time of the process and of its children that have ended. Absent: unknown. */
      cpu_ms: z.int().min(0).optional(),
      /** The highest memory of the process during the cell, without its children. Absent: unknown. */
      peak_memory_bytes: z.int().min(0).optional(),
    })
    .optional(),
  /** The files in the folder for artifacts that the cell has created or changed. Absent: none, or no such folder. */
  files: z.array(foundFileSchema).max(maxFoundFiles).optional(),
}

const base64Schema = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/)

export const runnerMessageSchema = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('ready'),
    protocol: z.int(),
    session: z.string().max(200),
    /** Number of the last step that the runner has started; 0 when there is none. */
    step: stepSchema,
    language: textSchema.max(100),
  }),
  /** Printed text while the code runs; the response contains the authoritative copy. */
  z.strictObject({ type: z.literal('output'), step: stepSchema, text: textSchema }),
  /** The host's interrupt has reached the code. The code may handle it. */
  z.strictObject({ type: z.literal('interrupted') }),
  z.strictObject({
    ...codeResponseFields,
    type: z.literal('suspended'),
    calls: callsSchema,
    /** Seconds until a timer of the program is due. */
    wake_in: z.number().min(0).max(1e9).nullable(),
    /** True when the program continues only with the results of all its calls, or with an error. */
    waits_for_all: z.literal(true).optional(),
  }),
  z.strictObject({ ...cellEndFields, type: z.literal('completed') }),
  z.strictObject({
    ...cellEndFields,
    type: z.literal('failed'),
    kind: z.enum(['code_error', 'timed_out', 'limit_exceeded', 'stopped']),
    error: textSchema,
  }),
  /** A piece of a snapshot or a file, in Base64; only the last may end in padding. */
  z.strictObject({
    type: z.literal('snapshot'),
    step: stepSchema,
    fence: fenceSchema,
    piece: z.int().min(0),
    text: base64Schema,
    last: z.boolean(),
  }),
  /** The reason why the program can't be serialized, or the file not read; the state is unchanged. */
  z.strictObject({
    type: z.literal('no_snapshot'),
    step: stepSchema,
    fence: fenceSchema,
    reason: textSchema.max(1_000),
  }),
  /** The response to `restore`; after a problem the runner is unusable. */
  z.strictObject({ ...responseFields, type: z.literal('restored'), problem: textSchema.max(1_000).nullable() }),
  /** The message was stale, out of order, or references a missing value; the runner ignored it. */
  z.strictObject({
    type: z.literal('refused'),
    step: stepSchema,
    fence: fenceSchema,
    /** `fenced`: a newer driver exists. `incomplete`: a value is missing pieces. `invalid`: a protocol error. */
    kind: z.enum(['fenced', 'incomplete', 'invalid']),
    reason: textSchema.max(1_000),
  }),
])

export type RunnerMessage = z.infer<typeof runnerMessageSchema>

const networkFields = { type: z.literal('network'), fence: fenceSchema, connection: z.int().min(1) }

/** See {@link NetworkMessage}. `open`: a program has connected. */
const networkSchema = z.discriminatedUnion('kind', [
  z.strictObject({ ...networkFields, kind: z.enum(['open', 'end', 'close']) }),
  z.strictObject({
    ...networkFields,
    kind: z.literal('data'),
    text: base64Schema.max(4 * Math.ceil(networkDataBytes / 3)),
  }),
  z.strictObject({ ...networkFields, kind: z.literal('window'), bytes: z.int().min(1).max(networkWindowBytes) }),
])

/** A message of a runner about a connection of a program. */
export type RunnerNetworkMessage = z.infer<typeof networkSchema>

/** All that a runner may send. */
export const anyRunnerMessageSchema = z.discriminatedUnion('type', [runnerMessageSchema, networkSchema])

/** A message of the host that is a step. */
export type StepMessage = Extract<HostMessage, { type: 'cell' | 'resume' | 'file' | 'restore' }>

/** A response of the runner to a step. */
export type StepResponse = Extract<RunnerMessage, { type: 'suspended' | 'completed' | 'failed' | 'restored' }>
