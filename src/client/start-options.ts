import { randomBytes } from 'node:crypto'
import type { WorkflowOptions } from '@temporalio/client'
import type { LoadedDataConverter } from '@temporalio/common'
import { PtcError } from '../common/errors.js'
import { checkKeys } from './check-input.js'
import { memoNames } from '../common/names.js'
import { summaryOf } from '../common/text.js'

/** Models take requests of up to 32 MB; some room for what goes with it. */
const inputBytes = 16_000_000
/** Temporal refuses payloads over 2 MiB; more than this needs a store. */
const inlineBytes = 1_500_000

export interface StartOptions {
  /** Unique among the running runs of the namespace. Default: made up, such as `agent-x4k2m9pq`. */
  readonly workflowId?: string
}

/**
 * What a run is started with, beside its argument: its id, and what the Temporal UI shows of it.
 *
 * @param text the question or the program
 * @throws PtcError RUN_INPUT_INVALID
 */
export function startOptions(
  kind: 'agent' | 'program',
  text: string,
  taskQueue: string,
  options: StartOptions,
): Omit<WorkflowOptions, 'args'> {
  checkKeys('the options', options, ['workflowId'])
  const { workflowId = madeUpName(kind) } = options
  checkStart(kind, text, { workflowId })
  const summary = summaryOf(text)
  return {
    taskQueue,
    workflowId,
    staticSummary: summary,
    staticDetails: kind === 'agent' ? quoted(text) : fenced(text),
    // The summary again: a list of runs has the memo, and would need one more request a run for the summary.
    memo: { [memoNames.summary]: summary },
  }
}

/** Easy to read aloud and to tell apart: no vowels (no words), no 0/o and 1/l. */
const alphabet = '23456789bcdfghjkmnpqrstvwxz'

/** A name that nobody else has, such as `agent-x4k2m9pqrs`. */
export function madeUpName(kind: string): string {
  const letters = [...randomBytes(10)].map((byte) => alphabet[byte % alphabet.length])
  return `${kind}-${letters.join('')}`
}

/**
 * Could a run be started with this? Asks nobody.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function checkStart(kind: 'agent' | 'program', text: string, { workflowId }: StartOptions): void {
  const what = kind === 'agent' ? 'question' : 'program'
  if (text.trim() === '') throw new PtcError('RUN_INPUT_INVALID', `the ${what} is empty`)
  const bytes = Buffer.byteLength(text)
  if (bytes > inputBytes) {
    throw new PtcError('RUN_INPUT_INVALID', `the ${what} has ${bytes} bytes; a run takes up to ${inputBytes}`, {
      hint: 'Give large data through a tool.',
    })
  }
  if (workflowId === undefined || /^\S{1,200}$/.test(workflowId)) return
  throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(workflowId)} can't be the id of a run`, {
    hint: 'An id has 1 to 200 characters and no spaces.',
  })
}

/**
 * Does it fit in a history, or does the client know a store for it?
 *
 * @throws PtcError VALUE_STORE_UNKNOWN
 */
export function checkRoom(text: string, { externalStorage }: Pick<LoadedDataConverter, 'externalStorage'>): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= inlineBytes || externalStorage !== undefined) return
  throw new PtcError(
    'VALUE_STORE_UNKNOWN',
    `the input has ${bytes} bytes; over ${inlineBytes} it needs the value store`,
    {
      hint: storeHint,
    },
  )
}

/** For a client that was not told where values are. */
export const storeHint =
  'Give the Temporal client what createDataConverter of durable-ptc/client makes, as its dataConverter.'

/** Temporal keeps 20 KB of details at most. */
const detailsLength = 8_000

function quoted(text: string): string {
  return cut(text)
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
}

function fenced(text: string): string {
  // Longer than any fence in the program itself.
  const longest = Math.max(0, ...[...text.matchAll(/`{3,}/g)].map(([fence]) => fence.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}python\n${cut(text)}\n${fence}`
}

function cut(text: string): string {
  return text.length <= detailsLength ? text : `${text.slice(0, detailsLength)}\n…`
}
