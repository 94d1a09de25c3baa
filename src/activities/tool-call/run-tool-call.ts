import { activityInfo } from '@temporalio/activity'
import { lostWorkerRetries } from '../../common/calls/calls.js'
import type { FollowedCall, ToolActivityInput } from '../../common/calls/call-activities.js'
import type { CompensateInput } from '../../common/calls/compensation.js'
import { defined } from '../../common/defined.js'
import { failpoint } from '../../common/failpoint.js'
import { PtcError } from '../../common/errors.js'
import type { Limits } from '../../common/run/limits.js'
import { requesterOf } from '../../common/run/requester.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import { type StoredFile, toolFilePath } from '../../common/files/files.js'
import { type Externalizable, externalValue, refOf } from '../../common/json/external-value.js'
import { yieldToEventLoop } from '../../sandbox/protocol/rate-limiter.js'
import type { Credentials } from '../../tools/credentials/credentials.js'
import { FoundImages, storeFile as store } from '../../files/index.js'
import type { StoreFile } from '../../tools/calls/file-result.js'
import { runTool } from '../../tools/calls/run-tool.js'
import type { Tool } from '../../tools/tool.js'
import { labelsOf } from './labels-of-result.js'
import { redactSummary, summarizeCall } from '../../tools/calls/summary.js'
import { describeAttempt } from './attempt-report.js'
import { failUnregisteredTool, unknownActivity } from './unregistered-tool.js'
import type { EventSinks } from '../observe.js'
import { publishReturnedFile } from '../session/observe-files.js'
import type { ActivityParts } from '../run-activity.js'
import type { FollowUps } from '../session/follow-ups.js'
import { LatestAttempts } from './latest-attempts.js'
import { compensate, isCompensation } from './run-compensation.js'
import { measureCall, observeCall } from './observe-call.js'
import { loadArguments } from './prepare-arguments.js'
import { sampleFor } from './sample.js'
import { completionTokenOf } from './request-approval.js'
import { runAttempts } from './run-attempts.js'

export interface ToolCallParts extends ActivityParts, EventSinks {
  readonly limits: Limits
  /** Undefined in a worker without sandboxes. */
  readonly followUps?: FollowUps | undefined
  readonly credentials?: Credentials | undefined
}

/**
 * The activity of every tool. It is Temporal's default activity, which handles all activity types that are not
 * registered.
 */
export function toolCall(parts: ToolCallParts) {
  const findTool = (name: string): Tool | undefined => {
    const tool = parts.registry.get(name)
    return tool?.remote ? undefined : tool
  }
  const latest = new LatestAttempts()
  return async (
    call: ToolActivityInput | CompensateInput | undefined,
  ): Promise<Externalizable | FollowedCall | void> => {
    const { activityType } = activityInfo()
    if (isCompensation(call, activityType)) {
      const compensatedTool = findTool(call.tool)
      if (!compensatedTool?.compensates) return failUnregisteredTool(call.tool)
      return compensate({ ...parts, latest }, compensatedTool, call)
    }
    if (!isToolCall(call, activityType)) throw unknownActivity(activityType)
    const tool = findTool(call.tool)
    return tool ? runToolCall({ ...parts, latest }, tool, call) : failUnregisteredTool(call.tool)
  }
}

/**
 * Returns whether the input is a tool call. A workflow of a user and a remote tool may schedule an unregistered
 * activity, and its input is theirs, or comes from code.
 */
function isToolCall(input: unknown, activityType: string): input is ToolActivityInput {
  return (
    typeof input === 'object' &&
    input !== null &&
    'idempotencyKey' in input &&
    'tool' in input &&
    input.tool === activityType
  )
}

function runToolCall(
  parts: ToolCallParts & { readonly latest: LatestAttempts },
  tool: Tool,
  input: ToolActivityInput,
): Promise<Externalizable | FollowedCall> {
  const { registry, values, limits: configured, latest, followUps, credentials } = parts
  const {
    limits: allowed,
    inputDigest,
    followUp,
    withLabels,
    deferred,
    answers,
    returnsFile,
    agent,
    context: runContext = {},
    ...call
  } = input
  const describe = (attempt: number) => describeAttempt(call, attempt, tool, registry)
  const attempts = { limit: tool.attempts, describe, agent, runContext, credentials }
  return runAttempts(attempts, async (scope, { attempt, unregisteredSince, context, reportMilestone }) => {
    const { signal } = scope
    // An attempt that was lost has made the call, and later ones with effects.
    if (scope.storedResult !== undefined) return scope.storedResult as FollowedCall
    assertNotLost(tool, attempt)
    assertUnchanged(tool, inputDigest)
    if (tool.returnsFile !== returnsFile) throw toolChanged(tool, 'Start a new run, which has the new definition.')
    // This worker has the tool. If the next worker lacks it, the time limit starts again.
    if (unregisteredSince !== undefined) context.heartbeat()
    failpoint('tool.begins')
    await latest.claim(call.idempotencyKey, scope.attempt, signal)
    const args = await loadArguments(values, call, signal)
    // Checking large arguments takes a while, and many calls may start at once.
    if (refOf(call.arguments) !== undefined) await yieldToEventLoop()
    const token = deferred && { completionToken: completionTokenOf(call.idempotencyKey, deferred) }
    const limits = { ...configured, ...allowed }
    const sample = tool.samples && sampleFor({ ...scope, ...call, values }, tool.samples)
    const loaded = { ...call, arguments: args }
    const summary = summarizeCall(registry, loaded)
    const observed = { ...loaded, summary, isDeferred: deferred !== undefined }
    const origin = { ...scope, requester: requesterOf(runContext) }
    let file: StoredFile | undefined
    const storeFile: StoreFile = async ({ name, content, mediaType, redact }, storeSignal) => {
      const path = toolFilePath(call.idempotencyKey, name)
      const { preview, ...stored } = await store(values, { path, content, mediaType }, storeSignal)
      return (file = { ...stored, ...(preview !== undefined && { preview: redact(preview) }) })
    }
    const images = limits.images === undefined ? undefined : new FoundImages()
    const result = await observeCall(parts, observed, origin, (publishMilestone) =>
      measureCall(call, { attempt, signal }, () => {
        // The tools of a source may have changed meanwhile.
        assertUnchanged(registry.get(call.tool) ?? tool, inputDigest)
        return runTool(registry, loaded, limits, {
          ...context,
          ...token,
          answers,
          sample,
          storeFile,
          addImage: images?.add,
          milestone: (text) => {
            const line = redactSummary(registry, call.tool, text)
            reportMilestone(line)
            publishMilestone(line)
          },
        }).catch(asQuestions)
      }),
    ).catch((thrown: unknown) => {
      throw inputDigest === tool.inputDigest ? thrown : toToolChangedError(tool, thrown)
    })
    // The call has not failed: people must answer before it is executed again.
    if (PtcError.isInstance(result)) throw result
    failpoint('tool.ran')
    // The store is retried here, because the tool has run and must not run again.
    const externalized =
      images && !images.isEmpty
        ? externalValue({
            ...(await values.store(result, signal)),
            images: await images.store(values, limits.images ?? 0, signal),
          })
        : await values.externalize(result, signal)
    failpoint('tool.ends')
    const labels = withLabels ? labelsOf(registry.get(call.tool), result) : undefined
    if (file) await publishReturnedFile(parts, call, file, origin)
    if (followUp === undefined && !withLabels && !file) return externalized
    const made = { value: externalized, ...defined({ labels, file }) }
    const steps = followUp && (await followUps?.afterCall({ ...input, followUp }, made, scope))
    return { ...made, followUps: steps ?? [] }
  })
}

/**
 * Enforces the maximum attempts of a tool. Temporal's retry policy can't do this, because it also counts attempts on
 * workers without the tool.
 */
function assertNotLost({ name, effect, attempts }: ToolConfig, attempt: number): void {
  if (effect === 'once' && attempt > 1) {
    throw new PtcError('TOOL_OUTCOME_UNKNOWN', 'the worker that ran it was lost')
  }
  if (attempt > attempts + lostWorkerRetries) {
    throw new PtcError('TOOL_LOST', `${name} was lost with its worker in each attempt`)
  }
}

/** Refuses a call of a run that recorded another definition, if another program may change the definition. */
function assertUnchanged(tool: Tool, recordedDigest: string): void {
  if (!tool.refusesChanges || tool.inputDigest === recordedDigest) return
  throw toolChanged(tool, 'Start a new run, which has the new definition.')
}

/** Returns the error by which a tool asks people. @throws any other */
function asQuestions(thrown: unknown): PtcError {
  if (PtcError.isInstance(thrown) && thrown.code === 'TOOL_INPUT_REQUIRED') return thrown
  throw thrown
}

function toToolChangedError(tool: ToolConfig, thrown: unknown): unknown {
  if (!PtcError.isInstance(thrown) || thrown.code !== 'TOOL_INPUT_INVALID') return thrown
  return toolChanged(tool, thrown.message)
}

function toolChanged({ name }: ToolConfig, consequence: string): PtcError {
  return new PtcError('TOOL_CHANGED', `${name} was changed after this run began. ${consequence}`)
}
