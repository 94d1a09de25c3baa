/*
 * Sub-agents: calls of a tool that is an agent of the configuration, or that starts clones of the agent that calls.
 * Each is a child workflow `agent`.
 *
 * Owns: the start of the child, its lease, and what its end means for the caller. `usage-report.ts` has the report that
 * a child without a result sends to its parent.
 * Boundary: `remote/remote-call.ts` does the rest of the call: its arguments, the check of its result, the audit log.
 * `src/common/budget/leases.ts` computes leases.
 *
 * Invariants:
 * 1. The workflow id is derived from the identity of the call. A rebuilt sandbox gets the recorded result; no call
 *    starts two children.
 * 2. The lease is reserved before the child starts. It counts as used until the usage of the child is known: from its
 *    result, or from its report. Without either, for a terminated child, it stays.
 * 3. Every end of the child is an outcome for the caller.
 * 4. A cancelled call requests the cancellation of the child, and does not wait for that. So does the end of the run.
 */

import { startChild } from '@temporalio/workflow'
import type { CallOutcome } from '../../../common/calls/outcomes.js'
import { defined } from '../../../common/defined.js'
import type { JsonValue, JsonObject } from '../../../common/json/json.js'
import { callWorkflowId, defaultLanguageName, memoKeys, workflowNames } from '../../../common/names.js'
import type { SubagentTarget } from '../../../common/calls/tool-config.js'
import { describeRun } from '../../../common/run/run-texts.js'
import type { AgentResult, AgentStatus, SubagentInput } from '../../../common/run/runs.js'
import { truncateMiddle } from '../../../common/text/text.js'
import { priorityOf } from '../call-options.js'
import { labelsMember } from '../data-flow/data-flow.js'
import { type RemoteToolConfig, toRemoteOutcome } from '../remote/remote-outcome.js'
import type { Run } from '../../run/run.js'
import { searchAttributesForChild } from '../../run/search-attributes.js'
import type { AdmittedCall } from '../run-call.js'

type SubagentEnd =
  | { readonly type: 'answered'; readonly value: JsonValue }
  | { readonly type: 'failed'; readonly outcome: CallOutcome }

/**
 * Runs a sub-agent to its end.
 *
 * @param args the parsed arguments
 * @throws CancelledFailure when the run or the scope of the call is cancelled
 */
export async function runSubagent(
  call: AdmittedCall & { readonly tool: RemoteToolConfig },
  agent: SubagentTarget,
  { task }: JsonObject,
): Promise<SubagentEnd> {
  const { run, tool, position, idempotencyKey: key } = call
  // The schema of the tool has checked it.
  if (typeof task !== 'string') return failed({ status: 'invalid_arguments', message: 'task must be a text' })
  const lease = run.budget.lease(key, agent.budget) // invariant 2
  if (lease.status === 'refused') return failed({ status: 'denied', message: `${tool.name}: ${lease.reason}` })
  const { context, backend, isRedacted, clone } = run.config
  const labels = call.calls.dataFlow.ofCaller(call.caller)
  const input: SubagentInput = {
    question: task,
    ...(agent.name === undefined ? clone : { agent: agent.name }),
    sandbox: backend,
    ...defined({ context }),
    ...(agent.sharesSandbox && ownerOf(run, key)),
    lease: { key, amounts: lease.amounts },
    callKey: key,
    ...labelsMember(labels),
  }
  // Of the call, the workers have redacted only the summary.
  const texts = describeRun('agent', isRedacted ? call.described.summary : task)
  const { borrowers } = call.calls
  let isStarted = false
  const helper = { workflowId: callWorkflowId(tool.name, key) } // invariant 1
  run.progress.helpers.add(helper)
  if (agent.sharesSandbox && !run.config.sessionOwner) borrowers.add(key)
  try {
    const child = await startChild<(input: SubagentInput) => Promise<AgentResult>>(workflowNames.agent, {
      ...texts,
      args: [input],
      ...helper,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      parentClosePolicy: 'REQUEST_CANCEL',
      cancellationType: 'TRY_CANCEL', // invariant 4
      memo: { ...texts.memo, [memoKeys.call]: { tool: tool.name, position, idempotencyKey: key, isSubagent: true } },
      typedSearchAttributes: searchAttributesForChild(),
      ...priorityOf(run, tool),
    })
    isStarted = true
    const result = await child.result()
    run.settleLease(key, result)
    call.inheritedLabels = { ...labels, ...result.labels }
    return endOf(tool.name, result)
  } catch (thrown) {
    if (!isStarted) run.budget.closeLease(key)
    // The text of the failure may have whatever the sub-agent has read.
    else call.inheritedLabels = call.calls.dataFlow.everyLabel(`${tool.name} in turn ${position.turn}`)
    return failed(toRemoteOutcome(thrown, tool)) // invariant 3
  } finally {
    if (borrowers.delete(key)) call.calls.onReturn(key)
    run.progress.helpers.delete(helper)
  }
}

/**
 * Returns the owner of the session that the sub-agent uses: this run, or the owner of the session that this run uses.
 */
function ownerOf(
  { config, identity }: Run,
  key: string,
): Pick<SubagentInput, 'session' | 'sandbox' | 'sandboxOwner' | 'language'> {
  const { sessionOwner } = config
  const language = config.language !== defaultLanguageName && { language: config.language }
  if (sessionOwner?.type === 'named')
    return { session: sessionOwner.name, sandbox: sessionOwner.sandbox ?? 'auto', ...language }
  const {
    workflowId,
    key: ownerKey,
    image,
  } = sessionOwner ?? { workflowId: identity.workflowId, key, image: config.image }
  return { sandboxOwner: { workflowId, key: ownerKey, ...defined({ image }) }, ...language }
}

function endOf(name: string, { status, answer, output }: AgentResult): SubagentEnd {
  if (status === 'answered') return { type: 'answered', value: output ?? answer }
  const text = answer.trim() === '' ? '' : ` Its last text: ${truncateMiddle(answer, maxAnswerCharacters)}`
  return failed({ status: 'tool_error', message: `${name} ended as ${status}: ${reasons[status]}.${text}` })
}

function failed(outcome: CallOutcome): SubagentEnd {
  return { type: 'failed', outcome }
}

const maxAnswerCharacters = 2_000

const reasons = {
  turn_limit: 'it has taken all its turns',
  refused: 'its model declined',
  truncated: 'its reply reached the token limit, twice',
  context_full: "its work is larger than its model's context window",
  no_answer: 'its model did not answer',
  budget_spent: 'it has used its budget',
  invalid_answer: 'its answer did not fit its output schema',
  gave_up: 'it gave up',
  invalid_plan: 'its model submitted no valid plan',
  withheld: 'its answer was withheld',
  tool_error: 'its code or a call failed',
} as const satisfies Record<Exclude<AgentStatus, 'answered'>, string>
