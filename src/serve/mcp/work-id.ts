import type { ExecutionId } from '../../client/index.js'
import { PtcError } from '../../common/errors.js'

/** Durable work that a request waits for. */
export type WorkId = ({ readonly type: 'code' } & ExecutionId) | { readonly type: 'run'; readonly workflowId: string }

/** The text of an id, for clients: `code:SESSION:RUN_ID:UPDATE_ID` or `run:WORKFLOW_ID`. */
export function formatWorkId(id: WorkId): string {
  return id.type === 'run' ? `run:${id.workflowId}` : `code:${id.session}:${id.runId}:${id.updateId}`
}

const codePattern = /^code:([\w.-]{1,100}):([\da-f-]{36}):([\da-f-]{36})$/
const runPattern = /^run:([^\s\p{Cc}\p{Surrogate}]{1,200})$/u

/** @throws PtcError RUN_INPUT_INVALID */
export function parseWorkId(text: string): WorkId {
  const [, session, runId, updateId] = codePattern.exec(text) ?? []
  if (session !== undefined && runId !== undefined && updateId !== undefined)
    return { type: 'code', session, runId, updateId }
  const [, workflowId] = runPattern.exec(text) ?? []
  if (workflowId !== undefined) return { type: 'run', workflowId }
  throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(text.slice(0, 100))} is not the id of work`, {
    hint: 'The results of execute_code and run_agent have it, as `id`.',
  })
}
