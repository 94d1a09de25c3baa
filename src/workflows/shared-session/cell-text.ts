import { ApplicationFailure } from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'
import type { TextParts } from '../../common/agent/messages.js'
import type { SessionOwner } from '../../common/run/run-config.js'
import type { CellResult } from '../../common/session/shared-cells.js'
import { toToolResultText } from '../cell/cell-result.js'

export interface CellText {
  readonly text: string | TextParts
  readonly isError: boolean
}

const closed: ErrorCode = 'SESSION_CLOSED'

/** Failures that the model reads. Any other failure ends the run, as in a run with its own session. */
const outcomeCodes: readonly string[] = [
  closed,
  'SESSION_EXPIRED',
  'SESSION_FULL',
  'RUN_INPUT_INVALID',
] satisfies readonly ErrorCode[]

export function ownerName(owner: SessionOwner): string {
  return owner.type === 'parent' ? 'the sandbox of the parent' : `session ${owner.name}`
}

/**
 * Describes for the model how a cell in the session of another workflow ended.
 *
 * @throws ApplicationFailure a failure of the engine
 */
export function cellText(result: CellResult, owner: SessionOwner): CellText {
  if (result.type === 'failed') {
    const { code, message } = result
    if (!outcomeCodes.includes(code)) throw ApplicationFailure.nonRetryable(message, code)
    if (code !== closed) return { text: `[denied] ${message}`, isError: true }
    return { text: `[lost] ${message}.${owner.type === 'named' ? ` ${variablesLost}` : ''}`, isError: true }
  }
  const { text, isError } = toToolResultText(result)
  if (!result.isNew) return { text, isError }
  const note = `(${ownerName(owner)} is new: it has no variables of earlier code.)`
  if (typeof text === 'string') return { text: `${text}\n${note}`, isError }
  return { text: { ...text, suffix: [text.suffix, note].filter(Boolean).join('\n') }, isError }
}

const variablesLost = 'Look which variables are left: the next code may start a new session.'
