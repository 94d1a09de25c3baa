import type { ActivityOptions } from '@temporalio/workflow'
import type { SampleActivityInput, SampleActivityResult } from '../../common/calls/sampling.js'
import { activityNames } from '../../common/names.js'
import { describeContextUse } from '../../common/agent/context-window.js'
import type {
  CompactionInput,
  CompactionResult,
  EngineToolResult,
  ModelTurnInput,
  ModelTurnResult,
  ReadMoreInput,
  SearchToolsInput,
} from '../../common/agent/model-turn.js'
import type { Timeouts } from '../../common/run/run-config.js'
import { toTemporalSummary } from '../../common/text/text.js'
import { defaultRetry, onRoleQueue, scheduleEngineActivity, valueOptions } from './schedule-activity.js'

export function modelTurn(input: ModelTurnInput, timeouts: Timeouts, summary: string): Promise<ModelTurnResult> {
  return scheduleEngineActivity(activityNames.modelTurn, input, modelOptions(timeouts, summary))
}

/** Shortens the messages of a run, because the context window of its model is almost full. */
export function compactMessages(input: CompactionInput, timeouts: Timeouts): Promise<CompactionResult> {
  const summary = `compact: ${describeContextUse({ tokens: input.tokens, window: input.model.contextWindow })}`
  return scheduleEngineActivity(activityNames.compactMessages, input, modelOptions(timeouts, summary))
}

/** A service waits for the reply in the middle of a call, so it learns soon that the model fails. */
const sampleAttempts = 3

/** Gets a reply of the model for the service of a tool. */
export function sampleModel(input: SampleActivityInput, timeouts: Timeouts): Promise<SampleActivityResult> {
  const options = modelOptions(timeouts, toTemporalSummary(`${input.from} asks the model`))
  const retry = { ...options.retry, maximumAttempts: sampleAttempts }
  return scheduleEngineActivity(activityNames.sample, input, { ...options, retry })
}

function modelOptions({ modelMs, heartbeatMs }: Timeouts, summary: string): ActivityOptions {
  return {
    ...onRoleQueue('model'),
    startToCloseTimeout: modelMs,
    heartbeatTimeout: heartbeatMs,
    retry: { ...defaultRetry, initialInterval: '1s', maximumInterval: '60s' },
    summary,
  }
}

/** Reads a page of a result of which the model got only a part. */
export function readMore(input: ReadMoreInput, timeouts: Timeouts): Promise<EngineToolResult> {
  return scheduleEngineActivity(activityNames.readMore, input, valueOptions(timeouts, 'read more of a result'))
}

export function searchTools(input: SearchToolsInput, timeouts: Timeouts): Promise<EngineToolResult> {
  return scheduleEngineActivity(activityNames.searchTools, input, valueOptions(timeouts, 'search the tools'))
}
