import { randomBytes } from 'node:crypto'
import type { WorkflowOptions } from '@temporalio/client'
import type { LoadedDataConverter } from '@temporalio/common'
import { PtcError } from '../../common/errors.js'
import { checkKeys } from './check-input.js'
import { describeRun } from '../../common/run-texts.js'

/** Models take requests of up to 32 MB; this leaves room for the rest of the conversation. */
const maxInputBytes = 16_000_000
/** Temporal rejects payloads over 2 MiB; larger inputs need external storage. */
const maxInlineBytes = 1_500_000

export interface StartOptions {
  /** Unique among the running runs of the namespace. Default: generated, such as `agent-x4k2m9pqrs`. */
  readonly workflowId?: string
}

/**
 * Workflow options of a new run: its id, and the texts that the Temporal UI shows.
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
  const { workflowId = generateId(kind) } = options
  validateStart(kind, text, { workflowId })
  return { taskQueue, workflowId, ...describeRun(kind, text) }
}

/** No vowels (no words), and no 0/o and 1/l, which look alike. */
const alphabet = '23456789bcdfghjkmnpqrstvwxz'

/** A random id, such as `agent-x4k2m9pqrs`. */
export function generateId(kind: string): string {
  const letters = [...randomBytes(10)].map((byte) => alphabet[byte % alphabet.length])
  return `${kind}-${letters.join('')}`
}

/**
 * Checks the input of a run without a request.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function validateStart(kind: 'agent' | 'program', text: string, { workflowId }: StartOptions): void {
  const subject = kind === 'agent' ? 'question' : 'program'
  if (text.trim() === '') throw new PtcError('RUN_INPUT_INVALID', `the ${subject} is empty`)
  const bytes = Buffer.byteLength(text)
  if (bytes > maxInputBytes) {
    throw new PtcError('RUN_INPUT_INVALID', `the ${subject} has ${bytes} bytes; a run takes up to ${maxInputBytes}`, {
      hint: 'Give large data through a tool.',
    })
  }
  if (workflowId === undefined || /^\S{1,200}$/.test(workflowId)) return
  throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(workflowId)} can't be the id of a run`, {
    hint: 'An id has 1 to 200 characters and no spaces.',
  })
}

/**
 * Rejects inputs over 1.5 MB when the client has no external storage.
 *
 * @throws PtcError VALUE_STORE_UNKNOWN
 */
export function checkInlineSize(text: string, { externalStorage }: Pick<LoadedDataConverter, 'externalStorage'>): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxInlineBytes || externalStorage !== undefined) return
  throw new PtcError(
    'VALUE_STORE_UNKNOWN',
    `the input has ${bytes} bytes; over ${maxInlineBytes} it needs the value store`,
    {
      hint: dataConverterHint,
    },
  )
}

/** For a client without external storage. */
export const dataConverterHint =
  'Pass the result of createDataConverter (durable-ptc/client) to the Temporal client as its dataConverter.'
