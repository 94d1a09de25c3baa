/*
 * Activities are thin: each converts a payload into a call of tools, values, models or sandbox, and its result into a
 * payload. They do not depend on workflows, the client or the worker.
 *
 * Invariants:
 * 1. Every activity runs in `runActivity`: it heartbeats while the work lasts, and every error becomes a failure in
 *    failures.ts.
 * 2. Large values are externalized before an activity returns, so that results stay under Temporal's 2 MiB.
 * 3. Nothing from a sandbox or a model is passed on unchecked (session/describe-step-result.ts,
 *    tools/describe-call.ts).
 * 4. The latest attempt of a tool call is the only one that starts the tool (tool-call/latest-attempts.ts).
 */

import type { AuditLog } from '../audit/index.js'
import { activityNames } from '../common/names.js'
import type { BackendName } from '../common/runs/run-config.js'
import type { PromptOptions } from '../models/prompt/prompt.js'
import type { ModelProviders } from '../models/providers.js'
import type { StreamPublisher } from '../stream/index.js'
import type { ToolRegistry } from '../tools/registry.js'
import type { Values } from '../values/values.js'
import { joinText } from './join-text.js'
import { loadValue } from './load-value.js'
import { appendJournal } from './session/journal.js'
import { streamCompaction } from './compaction-events.js'
import { compactMessages } from './model/compaction/compact-messages.js'
import { modelTurn } from './model/model-turn.js'
import { readMore } from './model/read-more.js'
import { searchTools } from './model/search-tools.js'
import { loadRunConfig, type RunConfiguration, type SearchAttributeLookup } from './run/load-run-config.js'
import { FollowUps } from './session/follow-ups.js'
import { auditCallEvent } from './tool-call/audit-call-event.js'
import { announceClientCall } from './tool-call/announce-client-call.js'
import { checkToolResult } from './tool-call/check-tool-result.js'
import { prepareArguments } from './tool-call/prepare-arguments.js'
import { type ApprovalRequest, requestApproval } from './tool-call/request-approval.js'
import { announcePause } from './run/announce-pause.js'
import { requestSlot } from './tool-call/request-slot.js'
import { toolCall } from './tool-call/run-tool-call.js'
import { startSession } from './session/start-session.js'
import { snapshotSession } from './session/snapshots.js'
import { executeStep, type StepExecutor } from './session/execute-step.js'
import { closeSession, interruptSession, openSession, parkSession } from './session/session-activities.js'

/** The activities of role `workflow`. */
export function workflowActivities(
  configuration: RunConfiguration,
  values: Values,
  lookUpSearchAttributes: SearchAttributeLookup,
  audit: AuditLog | undefined,
  stream: StreamPublisher | undefined,
) {
  const { registry } = configuration
  return {
    [activityNames.loadRunConfig]: loadRunConfig(configuration, values, lookUpSearchAttributes, stream),
    [activityNames.appendJournal]: appendJournal(values),
    [activityNames.joinText]: joinText(values),
    [activityNames.loadValue]: loadValue(values),
    [activityNames.readMore]: readMore(values),
    [activityNames.searchTools]: searchTools(registry, values),
    [activityNames.requestSlot]: requestSlot(registry),
    [activityNames.startSession]: startSession(),
    // For calls of client tools.
    [activityNames.clientCall]: announceClientCall(registry, values, audit, stream),
    [activityNames.checkToolResult]: checkToolResult(registry, values),
    [activityNames.auditCall]: auditCallEvent(audit),
    [activityNames.announcePause]: announcePause(stream),
  }
}

/** The activities of role `tools` except the tools themselves. */
export function toolActivities(
  registry: ToolRegistry,
  values: Values,
  audit: AuditLog | undefined,
  onApprovalRequest: ((request: ApprovalRequest) => void | Promise<void>) | undefined,
  stream: StreamPublisher | undefined,
) {
  return {
    [activityNames.checkToolResult]: checkToolResult(registry, values),
    [activityNames.prepareArguments]: prepareArguments(registry, values),
    [activityNames.auditCall]: auditCallEvent(audit),
    [activityNames.requestApproval]: requestApproval(registry, values, onApprovalRequest, stream),
  }
}

/** The activities of role `model`. */
export function modelActivities(
  providers: ModelProviders,
  registry: ToolRegistry,
  values: Values,
  options: Pick<PromptOptions, 'hasPackages'>,
  audit: AuditLog | undefined,
  stream: StreamPublisher | undefined,
) {
  return {
    [activityNames.modelTurn]: modelTurn(providers, registry, values, options, audit, stream),
    [activityNames.compactMessages]: streamCompaction(
      stream,
      compactMessages(providers, { registry, values, options }),
    ),
  }
}

/** The activities of role `sandbox`: some run on any host, others on the host of the session. */
export function sandboxActivities(
  executor: StepExecutor,
  followUps: FollowUps,
  hostQueueOf: (backend: BackendName) => string,
) {
  const { host, registry, values } = executor
  return {
    anyHost: { [activityNames.openSession]: openSession(host, registry, values, hostQueueOf) },
    ownHost: {
      [activityNames.executeStep]: executeStep(executor, followUps),
      [activityNames.interruptSession]: interruptSession(host),
      [activityNames.parkSession]: parkSession(host),
      [activityNames.snapshotSession]: snapshotSession(host, values),
      [activityNames.closeSession]: closeSession(host),
    },
  }
}

export { type ApprovalRequest, FollowUps, toolCall }
