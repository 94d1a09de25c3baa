/*
 * Activities are thin: each converts a payload into a call of tools, values, models or sandbox, and its result into a
 * payload. They do not depend on workflows, the client or the worker.
 *
 * Invariants:
 * 1. Every activity runs in `runActivity`: it heartbeats while the work lasts, and every error becomes a failure in
 *    failures.ts.
 * 2. Large values are externalized before an activity returns, so that results stay under Temporal's 2 MiB.
 * 3. Nothing from a sandbox or a model is passed on unchecked (session/describe-step-result.ts,
 *    tools/calls/describe-call.ts).
 * 4. The latest attempt of a tool call is the only one that starts the tool (tool-call/latest-attempts.ts).
 */

import { activityNames } from '../common/names.js'
import { joinText, loadValue } from './load-values.js'
import { appendJournal } from './session/journal.js'
import { compactMessages } from './model/compaction/compact-messages.js'
import { modelTurn, type ModelParts } from './model/model-turn.js'
import { sampleModel } from './model/sample.js'
import { readMore, searchTools } from './model/engine-tools.js'
import { type ContentsLookup, loadRunConfig, type SearchAttributeLookup } from './run/load-run-config.js'
import type { RunConfiguration } from '../config/run/resolve-run.js'
import { announceClientCall, announcePause, auditCallEvent } from './announce.js'
import type { EventSinks } from './observe.js'
import type { ActivityParts } from './run-activity.js'
import { executeStep, type StepParts } from './session/execute-step.js'
import { FollowUps } from './session/follow-ups.js'
import {
  closeSession,
  interruptSession,
  openSession,
  parkSession,
  type SandboxParts,
  startSession,
} from './session/session-activities.js'
import { snapshotSession } from './session/snapshots.js'
import { storeFiles } from './session/store-files.js'
import { checkToolResult } from './tool-call/check-tool-result.js'
import { announceQuestion, checkAnswer } from './tool-call/questions.js'
import { prepareArguments } from './tool-call/prepare-arguments.js'
import { requestApproval, type ApprovalParts } from './tool-call/request-approval.js'
import { requestSlot } from './tool-call/request-slot.js'
import { toolCall } from './tool-call/run-tool-call.js'

interface WorkflowParts extends ActivityParts, EventSinks {
  readonly configuration: RunConfiguration
  readonly lookUpSearchAttributes: SearchAttributeLookup
  /** Undefined without role `sandbox`. */
  readonly contentsOf: ContentsLookup | undefined
}

/** The activities of role `workflow`. */
export function workflowActivities(parts: WorkflowParts) {
  const { configuration, values, lookUpSearchAttributes, stream, contentsOf } = parts
  return {
    [activityNames.loadRunConfig]: loadRunConfig(configuration, values, lookUpSearchAttributes, { stream, contentsOf }),
    [activityNames.appendJournal]: appendJournal(parts),
    [activityNames.joinText]: joinText(parts),
    [activityNames.loadValue]: loadValue(parts),
    [activityNames.readMore]: readMore(parts),
    [activityNames.searchTools]: searchTools(parts),
    [activityNames.requestSlot]: requestSlot(parts),
    [activityNames.startSession]: startSession(),
    // For calls of client tools.
    [activityNames.clientCall]: announceClientCall(parts),
    [activityNames.checkToolResult]: checkToolResult(parts),
    [activityNames.auditCall]: auditCallEvent(parts),
    [activityNames.announcePause]: announcePause(parts),
  }
}

/** The activities of role `tools` except the tools themselves. */
export function toolActivities(parts: ApprovalParts) {
  return {
    [activityNames.checkToolResult]: checkToolResult(parts),
    [activityNames.prepareArguments]: prepareArguments(parts),
    [activityNames.auditCall]: auditCallEvent(parts),
    [activityNames.requestApproval]: requestApproval(parts),
    [activityNames.announceQuestion]: announceQuestion(),
    [activityNames.checkAnswer]: checkAnswer(),
  }
}

/** The activities of role `model`. */
export function modelActivities(parts: ModelParts) {
  return {
    [activityNames.modelTurn]: modelTurn(parts),
    [activityNames.compactMessages]: compactMessages(parts),
    [activityNames.sample]: sampleModel(parts),
  }
}

/** The activities of role `sandbox`: some run on any host, others on the host of the session. */
export function sandboxActivities(parts: SandboxParts & StepParts) {
  return {
    anyHost: { [activityNames.openSession]: openSession(parts) },
    ownHost: {
      [activityNames.executeStep]: executeStep(parts),
      [activityNames.interruptSession]: interruptSession(parts),
      [activityNames.parkSession]: parkSession(parts),
      [activityNames.snapshotSession]: snapshotSession(parts),
      [activityNames.storeFiles]: storeFiles(parts),
      [activityNames.closeSession]: closeSession(parts),
    },
  }
}

export { FollowUps, toolCall }
