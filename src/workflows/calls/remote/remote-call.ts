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
  createNexusServiceClient,
  executeChild,
  isCancellation,
  scheduleActivity,
} from '@temporalio/workflow'
import { deriveIdempotencyKey } from '../../../common/calls/call-identity.js'
import type { AuditCallInput, Caller, CallPosition } from '../../../common/calls/calls.js'
import type { FloatMask } from '../../../common/json/floats.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import { callActivityId, callWorkflowId, memoKeys } from '../../../common/names.js'
import type { CallOutcome, CallStatus } from '../../../common/calls/outcomes.js'
import type {
  RemoteActivity,
  RemoteNexusOperation,
  RemoteTarget,
  RemoteWorkflow,
} from '../../../common/runs/tool-config.js'
import type { ToolConfig } from '../../../common/runs/tool-config.js'
import type { DescribedCall } from '../../../common/session/steps.js'
import { toTemporalSummary, utf8Length } from '../../../common/text/text.js'
import { isExternal, refOf } from '../../../common/json/external-value.js'
import { auditCallEvent, checkToolResult, prepareArguments } from '../../temporal/activities.js'
import { metrics } from '../../temporal/metrics.js'
import type { Run } from '../../run/run.js'
import { priorityOf, retryPolicyOf } from '../call-options.js'
import { inputOf, remoteCallOf, withFloats } from './remote-input.js'
import { toPreparationOutcome, toRemoteOutcome, toResultOutcome } from './remote-outcome.js'
import { readRemoteResult } from './remote-result.js'
import { runSubagent } from '../subagent/call-subagent.js'

/** A larger result is checked while it holds one of the slots for large calls. */
const inlineBytes = 4_096

/**
 * Keeps a result undecoded. Otherwise the SDK decodes it before the workflow sees it, and a failure to decode it fails
 * the workflow task.
 */
const rawOutput = { outputType: rawValueTypeInfo }

export interface RemoteToolConfig extends ToolConfig {
  readonly remote: RemoteTarget
}

export function isRemote(tool: ToolConfig): tool is RemoteToolConfig {
  return tool.remote !== undefined
}

interface Position {
  readonly caller: Caller
  readonly position: CallPosition
}

/**
 * Executes a call of a remote tool. Every failure is an outcome.
 *
 * @throws CancelledFailure when the run or the scope of the call is cancelled
 */
export async function callRemoteTool(
  run: Run,
  tool: RemoteToolConfig,
  call: DescribedCall,
  where: Position,
): Promise<CallOutcome> {
  const startedAt = Date.now()
  let status: CallStatus = 'cancelled'
  try {
    const isLarge = isExternal(call.arguments)
    const work = () => execute(run, tool, call, where, isLarge)
    const outcome = await (isLarge ? run.largeCalls.run(work) : work())
    status = outcome.status
    return outcome
  } finally {
    metrics.add('ptc_tool_calls_total', 1, { tool: tool.name, status })
    metrics.observe('ptc_tool_call_latency_milliseconds', Date.now() - startedAt, { tool: tool.name })
  }
}

/** @param isLarge the call holds a slot for large calls */
async function execute(
  run: Run,
  tool: RemoteToolConfig,
  call: DescribedCall,
  where: Position,
  isLarge: boolean,
): Promise<CallOutcome> {
  let args: JsonObject
  const idempotencyKey = deriveIdempotencyKey(run.identity, where.position, call.digest)
  const identity = { ...where, idempotencyKey }
  try {
    args = await argumentsFor(run, tool, call, where.position)
    await report(run, tool, identity, { kind: 'call.begins', digest: call.digest })
  } catch (thrown) {
    return toPreparationOutcome(thrown)
  }
  const outcome = await executeRemotely(run, tool, { ...call, arguments: args }, identity, isLarge)
  // The call has happened, and a failure to report it must not repeat it.
  await report(run, tool, identity, { kind: 'call.ends', status: outcome.status }).catch(throwCancellation)
  return outcome
}

/** Reports an event to the audit log of the workers, if they have one. */
async function report(
  { config }: Run,
  { name: tool }: RemoteToolConfig,
  identity: CallIdentity,
  event: AuditCallInput['event'],
): Promise<void> {
  if (!config.isAudited) return
  const { context, timeouts } = config
  await auditCallEvent({ tool, ...identity, ...(context && { context }), event }, timeouts)
}

function throwCancellation(thrown: unknown): void {
  if (isCancellation(thrown)) throw thrown
}

async function executeRemotely(
  run: Run,
  tool: RemoteToolConfig,
  call: ReadyCall,
  identity: CallIdentity,
  isLarge: boolean,
): Promise<CallOutcome> {
  const agent = tool.remote.kind === 'workflow' ? tool.remote.agent : undefined
  if (agent) {
    const end = await runSubagent(run, tool, agent, call, identity)
    if (end.type === 'failed') return end.outcome
    const returned = { value: end.value, bytes: utf8Length(JSON.stringify(end.value)) }
    return checkedOutcome(run, tool, identity, returned, isLarge)
  }
  let raw: RawValue | undefined
  try {
    raw = await schedule(run, tool, call, identity)
  } catch (thrown) {
    return toRemoteOutcome(thrown, tool)
  }
  const result = readRemoteResult(raw?.payload)
  if (result.status === 'unreadable') return { status: 'tool_error', message: `${tool.name}: ${result.reason}` }
  return checkedOutcome(run, tool, identity, result, isLarge)
}

async function checkedOutcome(
  run: Run,
  tool: RemoteToolConfig,
  identity: CallIdentity,
  { value, bytes, floats }: { readonly value: JsonValue; readonly bytes: number; readonly floats?: FloatMask },
  isLarge: boolean,
): Promise<CallOutcome> {
  const { toolSet, limits, timeouts } = run.config
  const { documentation: _, signatures: __, ...tools } = toolSet
  const input = { tool: tool.name, position: identity.position, value, tools, resultBytes: limits.resultBytes }
  const check = () => checkToolResult(input, timeouts)
  try {
    const isSmall = isLarge || bytes <= inlineBytes
    const checked = await (isSmall ? check() : run.largeCalls.run(check))
    run.stored.bytes += refOf(checked)?.bytes ?? 0
    return { status: 'ok', value: checked, ...(floats !== undefined && { floats }) }
  } catch (thrown) {
    return toResultOutcome(thrown, tool)
  }
}

/** Returns the arguments of a call. Small arguments that were parsed where the call was described need no activity. */
async function argumentsFor(
  run: Run,
  { remote }: RemoteToolConfig,
  call: DescribedCall,
  position: CallPosition,
): Promise<JsonObject> {
  const nexusEndpoint = remote.kind === 'nexus' ? remote.endpoint : undefined
  if (call.isParsed && !isExternal(call.arguments) && nexusEndpoint === undefined) return call.arguments
  const { digest, documentation } = run.config.toolSet
  const input = { tool: call.tool, position, arguments: call.arguments, tools: { digest, documentation } }
  return prepareArguments({ ...input, ...(nexusEndpoint !== undefined && { nexusEndpoint }) }, run.config.timeouts)
}

/** A call with parsed arguments. */
type ReadyCall = Pick<DescribedCall, 'summary' | 'arguments' | 'digest' | 'floats'>

function schedule(
  run: Run,
  tool: RemoteToolConfig,
  call: ReadyCall,
  identity: CallIdentity,
): Promise<RawValue | undefined> {
  const { remote } = tool
  switch (remote.kind) {
    case 'activity':
      return scheduleRemoteActivity(run, tool, remote, call, identity)
    case 'workflow':
      return executeRemoteWorkflow(run, tool, remote, call, identity)
    case 'nexus':
      return executeNexusOperation(run, tool, remote, call, identity)
  }
}

/** The parts of a call that identify it. */
export type CallIdentity = Position & { readonly idempotencyKey: string }

function scheduleRemoteActivity(
  run: Run,
  tool: RemoteToolConfig,
  remote: RemoteActivity,
  call: ReadyCall,
  identity: CallIdentity,
): Promise<RawValue | undefined> {
  const { taskQueue, heartbeatMs } = remote
  const options: ActivityOptions = {
    ...(taskQueue !== undefined && { taskQueue }),
    activityId: callActivityId(identity.position),
    summary: toTemporalSummary(call.summary),
    scheduleToStartTimeout: remote.scheduleToStartMs,
    startToCloseTimeout: tool.timeoutMs,
    ...(heartbeatMs !== undefined && { heartbeatTimeout: heartbeatMs }),
    cancellationType: 'TRY_CANCEL',
    ...priorityOf(run, tool),
    retry: retryPolicyOf(tool, tool.attempts),
  }
  return scheduleActivity(remote.type, inputOf(run, tool.name, remote, call, identity), options, rawOutput)
}

function executeRemoteWorkflow(
  run: Run,
  tool: RemoteToolConfig,
  remote: RemoteWorkflow,
  call: ReadyCall,
  identity: CallIdentity,
): Promise<RawValue | undefined> {
  const { taskQueue } = remote
  const { position, idempotencyKey } = identity
  return executeChild<() => Promise<RawValue | undefined>>(remote.type, {
    args: inputOf(run, tool.name, remote, call, identity) as never,
    // After a reset, the repeated call has the same workflow id.
    workflowId: callWorkflowId(tool.name, idempotencyKey),
    workflowIdReusePolicy: tool.effect === 'once' ? 'REJECT_DUPLICATE' : 'ALLOW_DUPLICATE',
    ...(taskQueue !== undefined && { taskQueue }),
    workflowExecutionTimeout: tool.timeoutMs,
    parentClosePolicy: 'REQUEST_CANCEL',
    cancellationType: 'TRY_CANCEL',
    staticSummary: toTemporalSummary(call.summary),
    memo: { [memoKeys.call]: { tool: tool.name, position, idempotencyKey } },
    ...priorityOf(run, tool),
    typeInfo: rawOutput,
  })
}

function executeNexusOperation(
  run: Run,
  tool: RemoteToolConfig,
  { endpoint, service, operation, passCall }: RemoteNexusOperation,
  call: ReadyCall,
  identity: CallIdentity,
): Promise<RawValue | undefined> {
  // The SDK creates such a definition from the types of a service. These types are unknown here.
  type Service = Parameters<typeof createNexusServiceClient>[0]['service']
  const definition = {
    name: service,
    operations: { [operation]: { name: operation, ...rawOutput } },
  } as unknown as Service
  // An operation has one input. The context can't be in its headers, because headers are not encrypted.
  const { arguments: args, floats } = call
  const input = passCall
    ? withFloats(
        { arguments: args, call: remoteCallOf(run, tool.name, identity) as unknown as JsonObject },
        floats && { arguments: floats },
      )
    : withFloats(args, floats)
  return createNexusServiceClient({ endpoint, service: definition }).executeOperation(operation, input, {
    scheduleToCloseTimeout: tool.timeoutMs,
    cancellationType: 'TRY_CANCEL',
    summary: toTemporalSummary(call.summary),
  }) as Promise<RawValue | undefined>
}
