import type { Client, WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client'
import { defaultTaskQueue, workflowNames } from '../common/names.js'
import type { AgentInput, AgentResult, ProgramInput, ProgramResult } from '../common/runs.js'
import type { ValueReader } from './history/index.js'
import { checkInput, checkKeys } from './check-input.js'
import { listRuns, type ListOptions } from './list-runs.js'
import { type RunHandle, runHandle } from './run-handle.js'
import type { RunInfo } from './run-info.js'
import { createSessions, type Sessions } from './sessions/sessions.js'
import { checkRoom, type StartOptions, startOptions } from './start-options.js'
import { temporalError } from './temporal-error.js'

export interface PtcClientOptions {
  /** A connected client of Temporal; it stays yours to close. */
  readonly client: Client
  /** The task queue of the workers' configuration. Default {@link defaultTaskQueue}. */
  readonly taskQueue?: string
  /** The workers' values, where they can be reached: trees show more than the beginnings of those that are kept there. */
  readonly values?: ValueReader
}

/** Starts and follows runs. */
export interface PtcClient {
  readonly taskQueue: string
  /** @throws PtcError RUN_INPUT_INVALID, RUN_EXISTS, TEMPORAL_UNREACHABLE, VALUE_STORE_UNKNOWN and others of the store */
  startAgent(input: AgentInput, options?: StartOptions): Promise<RunHandle<AgentResult>>
  /** @throws PtcError RUN_INPUT_INVALID, RUN_EXISTS, TEMPORAL_UNREACHABLE */
  startProgram(input: ProgramInput, options?: StartOptions): Promise<RunHandle<ProgramResult>>
  /** A run by its id; asks nothing of the server yet. Without `runId`: the latest run of that id. */
  handle(workflowId: string, runId?: string): RunHandle<AgentResult | ProgramResult>
  /**
   * The newest runs first.
   *
   * @throws PtcError RUN_INPUT_INVALID, TEMPORAL_UNREACHABLE
   */
  list(options?: ListOptions): Promise<readonly RunInfo[]>
  /** Sandboxes with a name, whose variables outlive a run. */
  readonly sessions: Sessions
}

const optionNames = ['client', 'taskQueue', 'values'] as const satisfies readonly (keyof PtcClientOptions)[]

/**
 * A client for runs, on top of Temporal's.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function createPtcClient(options: PtcClientOptions): PtcClient {
  checkKeys('the options', options, optionNames)
  const { client, taskQueue = defaultTaskQueue, values } = options
  async function start<Result>(
    kind: 'agent' | 'program',
    input: AgentInput | ProgramInput,
    textOf: () => string,
    given: StartOptions,
  ): Promise<RunHandle<Result>> {
    checkInput(kind, input)
    const text = textOf()
    const prepared = startOptions(kind, text, taskQueue, given)
    checkRoom(text, client.options.loadedDataConverter)
    let started: WorkflowHandleWithFirstExecutionRunId
    try {
      started = await client.workflow.start(workflowNames[kind], { ...prepared, args: [input] })
    } catch (thrown) {
      throw temporalError(thrown, 'start a run')
    }
    return runHandle(client, started, started.firstExecutionRunId, values)
  }
  return {
    taskQueue,
    startAgent: (input, options = {}) => start('agent', input, () => input.question, options),
    startProgram: (input, options = {}) => start('program', input, () => input.source, options),
    handle: (workflowId, runId) => runHandle(client, client.workflow.getHandle(workflowId, runId), runId, values),
    list: (options = {}) => listRuns(client, taskQueue, options),
    sessions: createSessions(client, taskQueue),
  }
}
