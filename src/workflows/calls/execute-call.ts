import { isQuestion } from '../../common/calls/deferred-calls.js'
import { deriveIdempotencyKey } from '../../common/calls/call-identity.js'
import type { Caller, CallPosition, FollowUpInput } from '../../common/calls/calls.js'
import { sharesSandbox } from '../../common/runs/tool-config.js'
import { callActivityId } from '../../common/names.js'
import type { CallOutcome } from '../../common/calls/outcomes.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { showCall } from '../run/progress.js'
import type { Run } from '../run/run.js'
import { publishQuestion } from '../run/search-attributes.js'
import { type CalledTool, callTool, denied, findTool } from './call-tool.js'
import { maxDurationOf } from './call-options.js'
import { type OnWait, runInSlot } from '../cell/pending-calls.js'

type RecordCall = (called: CalledTool) => void

interface CallOptions {
  readonly followUp?: FollowUpInput | undefined
  readonly onWait?: OnWait
}

/**
 * Executes one tool call, and records its outcome. A call that needs approval waits for it first.
 *
 * @throws CancelledFailure when the run or the scope of the call is cancelled
 */
export async function executeCall(
  run: Run,
  call: DescribedCall,
  caller: Caller,
  position: CallPosition,
  record: RecordCall,
  options: CallOptions = {},
): Promise<void> {
  const execute = (approved: DescribedCall) => executeApprovedCall(run, approved, caller, position, record, options)
  if (run.tools.get(call.tool)?.approval === undefined) return execute(call)
  // A limit that refuses the call now may not refuse it a moment later, so only an approval of the call skips this
  // check.
  const refused = run.approvals.has(run, call, position) ? undefined : refusalOf(run, call, caller)
  const outcome = refused ?? (await run.approvals.run(run, { call, caller, position }, options.onWait, execute))
  if (outcome) record({ outcome, followUps: [] })
}

function refusalOf(run: Run, call: DescribedCall, caller: Caller): CallOutcome | undefined {
  const found = call.refused ?? findTool(run, call, caller)
  return 'status' in found ? found : undefined
}

/**
 * Executes a call that needs no approval, or has it. A call of a tool with a concurrency limit waits for a slot of the
 * tool first, and holds it until it has its outcome.
 *
 * @throws CancelledFailure when the run or the scope of the call is cancelled
 */
function executeApprovedCall(
  run: Run,
  call: DescribedCall,
  caller: Caller,
  position: CallPosition,
  record: RecordCall,
  options: CallOptions,
): Promise<void> {
  const execute = () => executeStartedCall(run, call, caller, position, record, options)
  const { tools, identity, toolSlots } = run
  const tool = tools.get(call.tool)
  if (tool?.concurrency === undefined) return execute()
  const key = deriveIdempotencyKey(identity, position, call.digest)
  // A call that has a slot from the execution before this one must give it back, even if it is refused now. A limit
  // that refuses the call now may not refuse it a moment later, so only a slot of the tool skips this check.
  const refused = toolSlots.has(key) ? undefined : refusalOf(run, call, caller)
  if (refused) {
    record({ outcome: refused, followUps: [] })
    return Promise.resolve()
  }
  const { onWait } = options
  const closeCall = showCall(run, callActivityId(position), call.summary, { waitsForSlotOf: tool.name })
  onWait?.('slot')
  return toolSlots
    .run({
      tool: { name: tool.name, concurrency: tool.concurrency },
      key,
      maxHoldMs: maxDurationOf(tool),
      execute: () => {
        onWait?.(undefined)
        closeCall()
        return execute()
      },
      refuse: (reason) => record({ outcome: denied(`${tool.name} has no slot free: ${reason}`), followUps: [] }),
    })
    .finally(closeCall)
}

/**
 * Executes one tool call, and records its outcome. A call that is not deferred holds a slot of `callSlots` until its
 * outcome is recorded: when no slot is acquired, every started call has its outcome. A deferred call holds one while
 * its activity runs; then `deferredCalls` has the call.
 *
 * @throws CancelledFailure when the run or the scope of the call is cancelled
 */
async function executeStartedCall(
  run: Run,
  call: DescribedCall,
  caller: Caller,
  position: CallPosition,
  record: RecordCall,
  { followUp, onWait }: CallOptions,
): Promise<void> {
  const { callSlots, deferredCalls, tools, identity } = run
  const tool = tools.get(call.tool)
  if (tool?.deferred === undefined) {
    if (tool && sharesSandbox(tool)) return record(await callTool(run, call, caller, position))
    return runInSlot(callSlots, onWait, async () => record(await callTool(run, call, caller, position, followUp)))
  }
  const idempotencyKey = deriveIdempotencyKey(identity, position, call.digest)
  // In the execution before this one the call may have begun to wait.
  if (!deferredCalls.has(idempotencyKey)) {
    await runInSlot(callSlots, onWait, async () => {
      const called = await callTool(run, call, caller, position)
      if (!deferredCalls.has(idempotencyKey)) record(called)
    })
  }
  if (!deferredCalls.has(idempotencyKey)) return
  onWait?.('result')
  const wait = deferredCalls.waitOf(idempotencyKey)
  const waitsFor = isQuestion(call.arguments) ? 'answer' : 'result'
  const closeCall = showCall(run, callActivityId(position), call.summary, wait && { ...wait, waitsFor })
  if (waitsFor === 'answer') publishQuestion(run)
  try {
    await deferredCalls.waitForOutcome(idempotencyKey)
  } finally {
    closeCall()
    if (waitsFor === 'answer') publishQuestion(run)
  }
  record({ outcome: deferredCalls.takeOutcome(idempotencyKey), followUps: [] })
}
