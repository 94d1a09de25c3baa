import type { z } from 'zod'
import type { Client } from '@temporalio/client'
import type { JsonValue } from '../common/json/json.js'
import { type Agent, isAgent } from '../agents/agent.js'
import { defaultTaskQueue } from '../common/names.js'
import { type Redact, safeRedact, unredacted } from '../common/text/redact.js'
import type { AgentInput, AgentResult, CallInput, CallResult, ProgramInput, ProgramResult } from '../common/run/runs.js'
import type { ValueReader } from './run-tree/index.js'
import type { StreamSink } from '../stream/index.js'
import { makeMessagesWellFormed } from '../values/well-formed-messages.js'
import { approveCall, type ApproveOptions, denyCall, type DenyOptions } from './calls/approve-call.js'
import { completeCall, type CompleteOptions, failCall, type FailOptions } from './calls/complete-call.js'
import { type Conversation, createConversation } from './conversations/conversation.js'
import type { ConversationOptions } from './conversations/conversation-options.js'
import { checkKeys } from './start/check-input.js'
import { listRuns, type ListOptions } from './run/list-runs.js'
import { waitsOfRun } from './calls/waits-of-run.js'
import { type WaitOfRun, type WaitsOfRunsOptions, waitsOfRuns } from './calls/open-waits.js'
import { type RunHandle, runHandle } from './run/run-handle.js'
import type { RunInfo } from './run/run-info.js'
import { type AgentResultOf, parseResult } from './run/agent-result.js'
import { createNamedSession, type NamedSession, type NamedSessionOptions } from './sessions/named-session.js'
import { createSessions, type Sessions } from './sessions/sessions.js'
import { startRun } from './run/start-run.js'
import { type CheckedStart, checkStart, type StartOptions } from './start/start-options.js'

export interface PtcClientOptions {
  /** A connected Temporal client; the caller closes it. */
  readonly client: Client
  /** The task queue of the workers' configuration. Default {@link defaultTaskQueue}. */
  readonly taskQueue?: string
  /** Reads the workers' value store: trees show external values instead of their previews. */
  readonly values?: ValueReader
  /** `stream` of the workers' configuration, which `handle.stream` reads. The caller closes it. */
  readonly stream?: StreamSink
  /**
   * `redact` of the workers' configuration: applies to the question or program in summary, details and memo of a run.
   */
  readonly redact?: Redact
}

/** Starts and follows runs. Each method throws a PtcError with a code of `docs/reference/errors.md`. */
export interface PtcClient {
  readonly taskQueue: string
  startAgent(input: AgentInput, options?: StartOptions): Promise<RunHandle<AgentResult>>
  /**
   * Starts an agent by its definition. The handle's result has `output` with the type of the agent's output schema. The
   * schema parses the output: if that fails, because the worker has another schema, the result is rejected with
   * RUN_OUTPUT_INVALID.
   */
  startAgent<Output extends z.ZodType>(
    agent: Agent<Output>,
    input: Omit<AgentInput, 'agent'>,
    options?: StartOptions,
  ): Promise<RunHandle<AgentResultOf<Output>>>
  startProgram(input: ProgramInput, options?: StartOptions): Promise<RunHandle<ProgramResult>>
  /**
   * Starts a run that makes one call of a tool of the configuration, without a model and a sandbox: as durable as a
   * call of an agent, with its approval, limits and audit. Each outcome of the call is a result of the run.
   */
  startCall(input: CallInput, options?: StartOptions): Promise<RunHandle<CallResult>>
  /** Returns the handle of a run by its id, without a request. Without `runId`: the latest run of this id. */
  handle(workflowId: string, runId?: string): RunHandle<AgentResult | ProgramResult>
  /** Lists runs, the newest first, by their start. */
  list(options?: ListOptions): Promise<readonly RunInfo[]>
  /** Lists the waits of runs that have not ended, such as waits for approvals; the oldest wait first. */
  waits(options?: WaitsOfRunsOptions): Promise<readonly WaitOfRun[]>
  /**
   * Completes a deferred call with its result. Settles when the run has checked the result against the output schema of
   * the tool, and recorded it. A second completion with the same result does nothing.
   *
   * @param token the `completionToken` of the call
   */
  completeCall(token: string, value: JsonValue, options?: CompleteOptions): Promise<void>
  /**
   * Fails a deferred call: its code gets a `ToolError` with this message. For a question of an MCP server: declines to
   * answer, or cancels the question.
   */
  failCall(token: string, message: string, options?: FailOptions): Promise<void>
  /**
   * Approves a call of a tool with `approval`: it starts, with the arguments of the approval if it has any.
   *
   * @param token the token of the request, from `onRequest` of the configuration, or from the node of the call in a
   *   tree
   * @throws PtcError TOOL_INPUT_INVALID when the tool refuses the arguments, after which the call still waits
   */
  approveCall(token: string, options?: ApproveOptions): Promise<void>
  /** Denies a call of a tool with `approval`: its code gets a `ToolDenied` with the reason. */
  denyCall(token: string, reason: string, options?: DenyOptions): Promise<void>
  /** Returns a conversation by its name, without a request: the first message starts it, with the options. */
  conversation(name: string, options?: ConversationOptions): Conversation
  /** Named sandboxes. Their variables outlive a run. */
  readonly sessions: Sessions
  /** Returns a session by its name, without a request: its first use starts it, with the options. */
  session(name: string, options?: NamedSessionOptions): NamedSession
}

const optionNames = [
  'client',
  'taskQueue',
  'values',
  'stream',
  'redact',
] as const satisfies readonly (keyof PtcClientOptions)[]

/**
 * Creates a client for runs and sessions, on top of Temporal's client.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function createPtcClient(options: PtcClientOptions): PtcClient {
  checkKeys('the options', options, optionNames)
  makeMessagesWellFormed()
  const { client, taskQueue = defaultTaskQueue, values, stream, redact: hook } = options
  const redact = hook ? safeRedact(hook) : unredacted
  async function start<Result>(
    kind: CheckedStart['kind'],
    input: CheckedStart['input'],
    runOptions: StartOptions,
  ): Promise<RunHandle<Result>> {
    return startRun({ client, taskQueue, values, stream, redact: hook }, checkStart(kind, input, runOptions))
  }
  async function startDefinedAgent<Output extends z.ZodType>(
    agent: Agent<Output>,
    input: Omit<AgentInput, 'agent'>,
    runOptions: StartOptions,
  ): Promise<RunHandle<AgentResultOf<Output>>> {
    const handle = await start<AgentResult>('agent', { ...input, agent: agent.name }, runOptions)
    return { ...handle, result: async () => parseResult(agent, await handle.result()) }
  }
  function startAgent(input: AgentInput, options?: StartOptions): Promise<RunHandle<AgentResult>>
  function startAgent<Output extends z.ZodType>(
    agent: Agent<Output>,
    input: Omit<AgentInput, 'agent'>,
    options?: StartOptions,
  ): Promise<RunHandle<AgentResultOf<Output>>>
  function startAgent(first: AgentInput | Agent, second: object = {}, third: StartOptions = {}): Promise<unknown> {
    // The overload of `first` determines the type of `second`. The checks of `start` validate it.
    if (isAgent(first)) return startDefinedAgent(first, second as Omit<AgentInput, 'agent'>, third)
    return start('agent', first, second)
  }
  return {
    taskQueue,
    startAgent,
    startProgram: (input, options = {}) => start('program', input, options),
    startCall: (input, options = {}) => start('call', input, options),
    handle: (workflowId, runId) =>
      runHandle(client, client.workflow.getHandle(workflowId, runId), runId, { values, stream }),
    list: (options = {}) => listRuns(client, taskQueue, options),
    waits: async (options = {}) =>
      options.run === undefined
        ? (await waitsOfRuns(client, taskQueue, options)).waits
        : waitsOfRun(client, options.run),
    completeCall: (token, value, options) => completeCall(client, token, { type: 'value', value }, options),
    failCall: (token, message, options) => failCall(client, token, message, options),
    approveCall: (token, options) => approveCall(client, token, options),
    denyCall: (token, reason, options) => denyCall(client, token, reason, options),
    conversation: (name, options) => createConversation({ client, taskQueue, values, redact }, name, options),
    sessions: createSessions(client, taskQueue),
    session: (name, options) => createNamedSession(client, taskQueue, name, options),
  }
}
