import { randomBytes } from 'node:crypto'
import type { WorkflowOptions } from '@temporalio/client'
import type { Duration, LoadedDataConverter } from '@temporalio/common'
import { msToNumber } from '@temporalio/common/lib/time.js'
import { PtcError } from '../../common/errors.js'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { type Requester, requesterOf } from '../../common/run/requester.js'
import type { AgentInput, CallInput, ProgramInput } from '../../common/run/runs.js'
import { jsonToText } from '../../common/text/text.js'
import { checkInput, checkKeys } from './check-input.js'
import { memoKeys } from '../../common/names.js'
import { describeRun } from '../../common/run/run-texts.js'
import { dataConverterHint } from '../temporal/temporal-error.js'

/** Models accept requests of up to 32 MB. This limit leaves room for the rest of the conversation. */
const maxInputBytes = 16_000_000
/** Temporal rejects payloads over 2 MiB; larger inputs need external storage. */
const maxInlineBytes = 1_500_000

/** Options of Temporal's client that a run may have. */
const temporalOptionNames = [
  'workflowIdReusePolicy',
  'workflowIdConflictPolicy',
  'workflowExecutionTimeout',
  'workflowRunTimeout',
  'startDelay',
  'memo',
  'typedSearchAttributes',
  'priority',
] as const satisfies readonly (keyof WorkflowOptions)[]

const durationNames = ['workflowExecutionTimeout', 'workflowRunTimeout', 'startDelay'] as const

/** Options for the start of a run. They are Temporal's options and have the same meaning. */
export interface StartOptions extends Readonly<Pick<WorkflowOptions, (typeof temporalOptionNames)[number]>> {
  /** Id of the run, unique among the running runs of the namespace. Default: generated, such as `agent-x4k2m9pqrs`. */
  readonly workflowId?: string
}

/** The inputs of the runs that a client starts, by the type of their workflow. */
export interface RunInputs {
  readonly agent: AgentInput
  readonly program: ProgramInput
  readonly call: CallInput
}

/** The input and the options of a run, after all checks that need no request. */
export interface CheckedStart {
  readonly kind: keyof RunInputs
  readonly input: RunInputs[keyof RunInputs]
  /** The question, the program, or the tool with its arguments. */
  readonly text: string
  readonly options: StartOptions
}

/** @throws PtcError RUN_INPUT_INVALID */
export function checkStart(
  kind: CheckedStart['kind'],
  input: CheckedStart['input'],
  options: StartOptions,
): CheckedStart {
  checkInput(kind, input)
  checkKeys('the options', options, ['workflowId', ...temporalOptionNames])
  const text = textOf(input)
  validateStart(kind, text, options)
  checkTemporalOptions(options)
  return { kind, input, text, options }
}

function textOf(input: CheckedStart['input']): string {
  if ('question' in input) return input.question
  return 'tool' in input ? `${input.tool} ${jsonToText(input.arguments)}` : input.source
}

/**
 * Returns the workflow options of a new run: its id, and the texts in the Temporal UI.
 *
 * @param shown the text of the run, redacted
 */
export function startOptions(
  { kind, input, options }: Pick<CheckedStart, 'kind' | 'options' | 'input'>,
  taskQueue: string,
  shown: string,
): Omit<WorkflowOptions, 'args'> {
  const { workflowId = generateId(kind), memo = {}, ...temporalOptions } = options
  const { memo: ownMemo, ...texts } = describeRun(kind, shown, 'language' in input ? input.language : undefined)
  return { ...temporalOptions, taskQueue, workflowId, ...texts, memo: { ...memo, ...ownMemo } }
}

/** Returns the memo with the requester of a run, for lists of runs. */
export function requesterMemo(context: JsonObject | undefined): Readonly<Record<string, Requester>> {
  const requester = requesterOf(context)
  return requester ? { [memoKeys.requester]: requester } : {}
}

/**
 * Refuses options that Temporal's client would refuse with another type of error, and options that would replace a memo
 * of durable-ptc.
 */
function checkTemporalOptions(options: StartOptions): void {
  const { memo = {} } = options
  const reserved = Object.values(memoKeys).find((key) => Object.hasOwn(memo, key))
  if (reserved !== undefined) {
    throw new PtcError('RUN_INPUT_INVALID', `the memo has the key ${reserved}, which durable-ptc sets itself`)
  }
  for (const name of durationNames) {
    const value = options[name]
    if (value === undefined || isDuration(value)) continue
    throw new PtcError('RUN_INPUT_INVALID', `${name}: ${JSON.stringify(value)} is not a duration`, {
      hint: "Give milliseconds, or a text such as '2 hours'.",
    })
  }
}

function isDuration(value: Duration): boolean {
  try {
    return msToNumber(value) >= 0
  } catch {
    return false
  }
}

/** There are no vowels, so that ids contain no words, and no 0/o and 1/l, which look alike. */
const alphabet = '23456789bcdfghjkmnpqrstvwxz'

/** Returns a random id, such as `agent-x4k2m9pqrs`. */
export function generateId(kind: string): string {
  const letters = [...randomBytes(10)].map((byte) => alphabet[byte % alphabet.length])
  return `${kind}-${letters.join('')}`
}

const subjects = { agent: 'question', program: 'program', call: 'call' } as const

/**
 * Checks the input of a run without a request.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function validateStart(kind: CheckedStart['kind'], text: string, { workflowId }: StartOptions): void {
  const subject = subjects[kind]
  if (text.trim() === '') throw new PtcError('RUN_INPUT_INVALID', `the ${subject} is empty`)
  const bytes = Buffer.byteLength(text)
  if (bytes > maxInputBytes) {
    throw new PtcError('RUN_INPUT_INVALID', `the ${subject} has ${bytes} bytes; a run takes up to ${maxInputBytes}`, {
      hint: 'Give large data through a tool.',
    })
  }
  if (workflowId === undefined || /^[^\s\p{Cc}\p{Surrogate}]{1,200}$/u.test(workflowId)) return
  throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(workflowId)} can't be the id of a run`, {
    hint: 'An id has 1 to 200 characters, and no spaces or control characters.',
  })
}

/**
 * Rejects input data that is too large for a run, and inputs over 1.5 MB when the client has no external storage.
 *
 * @param input data for the code
 * @throws PtcError RUN_INPUT_INVALID, VALUE_STORE_UNKNOWN
 */
export function checkSize(
  text: string,
  input: JsonValue | undefined,
  dataConverter: Pick<LoadedDataConverter, 'externalStorage'>,
): void {
  const bytes = Buffer.byteLength(text) + (input === undefined ? 0 : Buffer.byteLength(JSON.stringify(input)))
  if (bytes > maxInputBytes) {
    throw new PtcError('RUN_INPUT_INVALID', `the run has ${bytes} bytes of input; it takes up to ${maxInputBytes}`, {
      hint: 'Give larger data through a tool.',
    })
  }
  checkInlineSize(bytes, dataConverter)
}

/**
 * Rejects inputs over 1.5 MB when the client has no external storage.
 *
 * @throws PtcError VALUE_STORE_UNKNOWN
 */
export function checkInlineSize(
  bytes: number,
  { externalStorage }: Pick<LoadedDataConverter, 'externalStorage'>,
): void {
  if (bytes <= maxInlineBytes || externalStorage !== undefined) return
  throw new PtcError(
    'VALUE_STORE_UNKNOWN',
    `the input has ${bytes} bytes; over ${maxInlineBytes} it needs the value store`,
    {
      hint: dataConverterHint,
    },
  )
}
