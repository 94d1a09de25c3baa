/*
 * Calls of remote tools: activities, workflows and Nexus operations that a worker of another application executes.
 *
 * Owns: how such a call is scheduled, and the input of the other worker. `remote-outcome.ts` decides how the call
 * ended.
 * Boundary: the other side knows Temporal and JSON. It does not know the value store, the schemas or the outcomes of
 * the engine.
 *
 * Invariants:
 * 1. The other side gets arguments that the input schema of the tool has parsed, inline, of at most
 *    `maxRemoteArgumentBytes`. Its result reaches the code after activity `tool.result` has checked it.
 * 2. At most `largeCalls` arguments and results over `inlineBytes` are in commands at once: a workflow task has at most
 *    4 MiB.
 * 3. Every call ends: an activity has a schedule-to-start and a start-to-close timeout, a workflow and a Nexus
 *    operation have one timeout for everything.
 * 4. A cancelled call cancels what executes it, and does not wait for that.
 * 5. With an audit log, the start of a call is stored before the call is scheduled. The log has no end of a cancelled
 *    call.
 */

import { type RawValue, rawValueTypeInfo } from '@temporalio/common'
import {
  type ActivityOptions,
  ApplicationFailure,
  createNexusServiceClient,
  executeChild,
  scheduleActivity,
} from '@temporalio/workflow'
import { defined } from '../../../common/defined.js'
import type { FloatMask } from '../../../common/json/floats.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import { callActivityId, callWorkflowId, memoKeys } from '../../../common/names.js'
import type { CallOutcome, CallStatus } from '../../../common/calls/outcomes.js'
import type { RemoteActivity, RemoteNexusOperation, RemoteWorkflow } from '../../../common/calls/tool-config.js'
import { toTemporalSummary, utf8Length } from '../../../common/text/text.js'
import { isExternal, refOf } from '../../../common/json/external-value.js'
import { checkToolResult, prepareArguments } from '../../temporal/activities.js'
import { metrics } from '../../temporal/metrics.js'
import { priorityOf, retryPolicyOf } from '../call-options.js'
import { type RemoteToolConfig, toPreparationOutcome, toRemoteOutcome, toResultOutcome } from './remote-outcome.js'
import { inputOf, readRemoteResult, remoteCallOf, withFloats } from './remote-payloads.js'
import { runSubagent } from '../subagent/call-subagent.js'
import { reportBegin, reportEnd } from './report-call.js'
import type { AdmittedCall, RunCall } from '../run-call.js'

/** A larger result is checked while it holds one of the slots for large calls. */
const inlineBytes = 4_096

/**
 * Keeps a result undecoded. Otherwise the SDK decodes it before the workflow sees it, and a failure to decode it fails
 * the workflow task.
 */
const rawOutput = { outputType: rawValueTypeInfo }

/** A call of a remote tool. */
type RemoteToolCall = AdmittedCall & { readonly tool: RemoteToolConfig }

function isRemote(call: AdmittedCall): call is RemoteToolCall {
  return call.tool.remote !== undefined
}

/**
 * Executes a call of a remote tool. Every failure is an outcome.
 *
 * @throws CancelledFailure when the run or the scope of the call is cancelled
 */
export async function callRemoteTool(call: AdmittedCall): Promise<CallOutcome> {
  const { tool } = call
  if (!isRemote(call)) throw ApplicationFailure.nonRetryable(`${tool.name} is not a remote tool`, 'INTERNAL')
  const startedAt = Date.now()
  let status: CallStatus = 'cancelled'
  try {
    const work = () => execute(call)
    const outcome = await (isLarge(call) ? call.calls.largeCalls.run(work) : work()) // invariant 2
    status = outcome.status
    return outcome
  } finally {
    metrics.add('ptc_tool_calls_total', 1, { tool: tool.name, status })
    metrics.observe('ptc_tool_call_latency_milliseconds', Date.now() - startedAt, { tool: tool.name })
  }
}

/** True for a call that holds a slot for large calls from its start. */
function isLarge({ described }: RunCall): boolean {
  return isExternal(described.arguments)
}

async function execute(call: RemoteToolCall): Promise<CallOutcome> {
  let args: JsonObject
  try {
    args = await argumentsFor(call)
    await reportBegin(call, { type: 'call.started', digest: call.described.digest }) // invariant 5
  } catch (thrown) {
    return toPreparationOutcome(thrown)
  }
  const outcome = await executeRemotely(call, args)
  // The call has happened, and a failure to report it must not repeat it.
  const { status } = outcome
  const event = status === 'ok' ? ({ type: 'call.completed' } as const) : ({ type: 'call.failed', status } as const)
  await reportEnd(call, event)
  return outcome
}

async function executeRemotely(call: RemoteToolCall, args: JsonObject): Promise<CallOutcome> {
  const { tool } = call
  const agent = tool.remote.kind === 'workflow' ? tool.remote.agent : undefined
  if (agent) {
    const end = await runSubagent(call, agent, args)
    if (end.type === 'failed') return end.outcome
    return checkedOutcome(call, { value: end.value, bytes: utf8Length(JSON.stringify(end.value)) })
  }
  let raw: RawValue | undefined
  try {
    raw = await schedule(call, args)
  } catch (thrown) {
    return toRemoteOutcome(thrown, tool)
  }
  const result = readRemoteResult(raw?.payload)
  if (result.status === 'unreadable') return { status: 'tool_error', message: `${tool.name}: ${result.reason}` }
  return checkedOutcome(call, result)
}

async function checkedOutcome(
  call: RemoteToolCall,
  { value, bytes, floats }: { readonly value: JsonValue; readonly bytes: number; readonly floats?: FloatMask },
): Promise<CallOutcome> {
  const { toolSet, limits, timeouts } = call.run.config
  const { documentation: _, signatures: __, ...tools } = toolSet
  const input = { tool: call.tool.name, position: call.position, value, tools, resultBytes: limits.resultBytes }
  const check = () => checkToolResult(input, timeouts) // invariant 1
  try {
    const checked = await (isLarge(call) || bytes <= inlineBytes ? check() : call.calls.largeCalls.run(check))
    call.run.addStoredBytes(refOf(checked)?.bytes ?? 0)
    return { status: 'ok', value: checked, ...defined({ floats }) }
  } catch (thrown) {
    return toResultOutcome(thrown, call.tool)
  }
}

/** Returns the arguments of a call. Small arguments that were parsed where the call was described need no activity. */
async function argumentsFor({ run, described, position, tool: { remote } }: RemoteToolCall): Promise<JsonObject> {
  const nexusEndpoint = remote.kind === 'nexus' ? remote.endpoint : undefined
  if (described.isParsed && !isExternal(described.arguments) && nexusEndpoint === undefined) return described.arguments
  const { digest, documentation } = run.config.toolSet
  const { tool, arguments: args } = described
  const input = { tool, position, arguments: args, tools: { digest, documentation } }
  return prepareArguments({ ...input, ...defined({ nexusEndpoint }) }, run.config.timeouts)
}

function schedule(call: RemoteToolCall, args: JsonObject): Promise<RawValue | undefined> {
  const { remote } = call.tool
  switch (remote.kind) {
    case 'activity':
      return scheduleRemoteActivity(call, remote, args)
    case 'workflow':
      return executeRemoteWorkflow(call, remote, args)
    case 'nexus':
      return executeNexusOperation(call, remote, args)
  }
}

function scheduleRemoteActivity(
  call: RemoteToolCall,
  remote: RemoteActivity,
  args: JsonObject,
): Promise<RawValue | undefined> {
  const { tool } = call
  const { taskQueue, heartbeatMs } = remote
  const options: ActivityOptions = {
    ...defined({ taskQueue }),
    activityId: callActivityId(call.position),
    summary: toTemporalSummary(call.described.summary),
    scheduleToStartTimeout: remote.scheduleToStartMs, // invariant 3
    startToCloseTimeout: tool.timeoutMs,
    ...defined({ heartbeatTimeout: heartbeatMs }),
    cancellationType: 'TRY_CANCEL', // invariant 4
    ...priorityOf(call.run, tool),
    retry: retryPolicyOf(tool, tool.attempts),
  }
  return scheduleActivity(remote.type, inputOf(call, remote, args), options, rawOutput)
}

function executeRemoteWorkflow(
  call: RemoteToolCall,
  remote: RemoteWorkflow,
  args: JsonObject,
): Promise<RawValue | undefined> {
  const { taskQueue } = remote
  const { tool, position, idempotencyKey } = call
  return executeChild<() => Promise<RawValue | undefined>>(remote.type, {
    args: inputOf(call, remote, args) as never,
    // After a reset, the repeated call has the same workflow id.
    workflowId: callWorkflowId(tool.name, idempotencyKey),
    workflowIdReusePolicy: tool.effect === 'once' ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
    ...defined({ taskQueue }),
    workflowExecutionTimeout: tool.timeoutMs,
    parentClosePolicy: 'REQUEST_CANCEL',
    cancellationType: 'TRY_CANCEL',
    staticSummary: toTemporalSummary(call.described.summary),
    memo: { [memoKeys.call]: { tool: tool.name, position, idempotencyKey } },
    ...priorityOf(call.run, tool),
    typeInfo: rawOutput,
  })
}

function executeNexusOperation(
  call: RemoteToolCall,
  { endpoint, service, operation, passCall }: RemoteNexusOperation,
  args: JsonObject,
): Promise<RawValue | undefined> {
  // The SDK creates such a definition from the types of a service. These types are unknown here.
  type Service = Parameters<typeof createNexusServiceClient>[0]['service']
  const definition = {
    name: service,
    operations: { [operation]: { name: operation, ...rawOutput } },
  } as unknown as Service
  // An operation has one input. The context can't be in its headers, because headers are not encrypted.
  const { floats, summary } = call.described
  const input = passCall
    ? withFloats(
        { arguments: args, call: remoteCallOf(call) as unknown as JsonObject },
        floats && { arguments: floats },
      )
    : withFloats(args, floats)
  return createNexusServiceClient({ endpoint, service: definition }).executeOperation(operation, input, {
    scheduleToCloseTimeout: call.tool.timeoutMs,
    cancellationType: 'TRY_CANCEL',
    summary: toTemporalSummary(summary),
  }) as Promise<RawValue | undefined>
}
