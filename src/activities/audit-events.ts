import { createHash } from 'node:crypto'
import type { AuditLog } from '../audit/index.js'
import { callDigest } from '../common/calls/call-identity.js'
import type { CallDecision, ToolCallInput } from '../common/calls/calls.js'
import { PtcError } from '../common/errors.js'
import type { JsonValue } from '../common/json/json.js'
import { toCallStatus } from '../common/calls/outcomes.js'
import { toolUseCaller } from '../common/runs/hosted-code.js'
import type { Requester } from '../common/runs/requester.js'
import type { SessionRef } from '../common/session/session.js'
import type { DescribedCall, DescribedStepResult, Step } from '../common/session/steps.js'
import type { Values } from '../values/values.js'
import type { ActivityScope } from './run-activity.js'
import { takeStart } from '../common/text/text.js'

type Origin = Pick<ActivityScope, 'workflowId' | 'runId' | 'signal'> & {
  readonly attempt: number
  readonly requester: Requester | undefined
}

type ReportedCall = Pick<ToolCallInput, 'tool' | 'caller' | 'position' | 'idempotencyKey'>

function callFields({ tool, caller, position, idempotencyKey }: ReportedCall) {
  const { turn, cell, index } = position
  return { tool, caller, ...toolUseCaller(position), turn, cell, call: index, idempotencyKey }
}

/** Returns the events that report a call: its start and its end, and the decision if it is deferred. */
export function callEvents(call: ReportedCall, { workflowId, runId, attempt, requester }: Omit<Origin, 'signal'>) {
  const fields = { workflowId, runId, attempt, ...requester, ...callFields(call) }
  return {
    begin: (digest: string) =>
      ({ ...fields, id: `${call.idempotencyKey}/call.begins`, type: 'call.started', digest }) as const,
    end: (status: string) =>
      ({ ...fields, id: `${call.idempotencyKey}/call.ends/${attempt}`, type: 'call.completed', status }) as const,
    decision: (decision: CallDecision) => {
      const digest = 'digest' in decision ? decision.digest : 'expired'
      return {
        ...fields,
        ...decision,
        id: `${call.idempotencyKey}/call.decided/${digest}`,
        type: 'call.decided',
      } as const
    },
  }
}

/** Runs a compensation between the two events that report it. */
export async function auditCompensation(
  audit: AuditLog | undefined,
  call: ReportedCall,
  { workflowId, runId, attempt, requester, signal }: Origin,
  run: () => Promise<void>,
): Promise<void> {
  if (audit === undefined) return run()
  const fields = { workflowId, runId, attempt, ...requester, ...callFields(call) }
  const end = (status: string) => {
    const kind = 'compensation.completed'
    return audit.after({ ...fields, id: `${call.idempotencyKey}/${kind}/${attempt}`, kind, status })
  }
  await audit.before(
    { ...fields, id: `${call.idempotencyKey}/compensation.begins`, type: 'compensation.started' },
    signal,
  )
  try {
    await run()
    await end('ok')
  } catch (thrown) {
    await end(signal.aborted ? 'cancelled' : toCallStatus(PtcError.isInstance(thrown) ? thrown.code : ''))
    throw thrown
  }
}

/** Runs a tool call between the two events that report it. */
export async function auditCall<Result>(
  audit: AuditLog | undefined,
  call: ToolCallInput,
  { signal, ...origin }: Origin,
  run: () => Promise<Result>,
): Promise<Result> {
  if (audit === undefined) return run()
  const events = callEvents(call, origin)
  const end = (status: string) => audit.after(events.end(status))
  await audit.before(events.begin(callDigest(call.tool, call.arguments)), signal)
  try {
    const result = await run()
    await end('ok')
    return result
  } catch (thrown) {
    await end(signal.aborted ? 'cancelled' : toCallStatus(PtcError.isInstance(thrown) ? thrown.code : ''))
    throw thrown
  }
}

/**
 * Executes a step between the two events that report its code. A step that delivers results does not start code, but
 * may end it.
 */
export async function auditStep(
  audit: AuditLog | undefined,
  values: Values,
  { session, step }: { readonly session: Pick<SessionRef, 'id' | 'epoch'>; readonly step: Step },
  { workflowId, runId, attempt, requester, signal }: Origin,
  execute: () => Promise<DescribedStepResult>,
): Promise<DescribedStepResult> {
  if (audit === undefined) return execute()
  const { input, number } = step
  const origin = { workflowId, runId, attempt, requester }
  const fields = { workflowId, runId, attempt, ...requester, session: session.id, epoch: session.epoch, step: number }
  const id = `${session.id}/${session.epoch}/${number}`
  if (input.type === 'cell') {
    const { cell } = input
    const code = toText(await values.load(input.source, `the code of cell ${cell}`, signal))
    const codeSha256 = createHash('sha256').update(code).digest('hex')
    const text = { codeSha256, codeBytes: Buffer.byteLength(code), ...audit.codeField(code) }
    await audit.before({ ...fields, id: `${id}/code.begins`, type: 'cell.started', cell, ...text }, signal)
  }
  const result = await execute()
  if (result.type === 'suspended') await auditRefusals(audit, result.calls, id, origin)
  else await audit.after({ ...fields, id: `${id}/code.ends`, type: 'cell.completed', result: result.type })
  return result
}

/** Reports the calls that were refused. A refused call never begins. */
export async function auditRefusals(
  audit: AuditLog | undefined,
  calls: readonly DescribedCall[],
  id: string,
  origin: Omit<Origin, 'signal'>,
): Promise<void> {
  const refused = calls.flatMap(({ refused, ...call }) => (refused ? [{ ...call, status: refused.status }] : []))
  for (const { tool, index, digest, status } of refused) {
    const { workflowId, runId, attempt, requester } = origin
    const eventId = `${id}/${index}/call.refused`
    // The model or its code chooses the name, so its length is limited.
    const event = { tool: takeStart(tool, 100), call: index, digest, status, type: 'call.refused' } as const
    await audit?.after({ workflowId, runId, attempt, ...requester, id: eventId, ...event })
  }
}

/** Returns the code of a cell. Code is text; another value from the model is reported as JSON. */
function toText(source: JsonValue): string {
  return typeof source === 'string' ? source : JSON.stringify(source)
}
