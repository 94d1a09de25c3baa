import { join } from 'node:path'
import type { AgentInput, AgentResult, Conversation, PtcClient, RunHandle } from '../../client/index.js'
import type { Budget } from '../../common/budget/budget.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import type { RunCounts } from '../../common/run/runs.js'
import type { EvalTask } from '../tasks/load-tasks.js'

/** The result of the work on a task. */
interface TaskResult extends Pick<AgentResult, 'answer' | 'output'> {
  readonly status: string
  readonly counts: RunCounts
}

/** The durable work on a task: one run, or one conversation. */
export interface TaskRun {
  readonly handle: Pick<RunHandle<unknown>, 'workflowId' | 'tree' | 'waits' | 'cancel'>
  /** The work had begun before, and this process attached to it. */
  readonly isAttached: boolean
  result(): Promise<TaskResult>
  /** Releases what outlives the work. It is called after the result is recorded. */
  close(): Promise<void>
}

export interface StartTaskOptions {
  readonly client: PtcClient
  readonly task: EvalTask
  readonly workflowId: string
  /** Name of the agent that answers. Undefined: no agent. */
  readonly agent: string | undefined
  readonly tools: readonly string[]
  /** The price of the model is known, so the run can have a budget of US dollars. */
  readonly hasPrice: boolean
}

/** Starts the work on a task, or attaches to it when it has begun or ended before. */
export function startTask(options: StartTaskOptions): Promise<TaskRun> {
  const { prompt, setup } = options.task
  return Array.isArray(prompt) || setup.history !== undefined ? startConversation(options) : startAgent(options)
}

/**
 * Starts a run, or returns the one that has this id: running, or ended.
 *
 * @throws PtcError
 */
export async function startOrAttach<Result>(
  start: () => Promise<RunHandle<Result>>,
  attach: () => RunHandle<Result>,
): Promise<{ readonly handle: RunHandle<Result>; readonly isAttached: boolean }> {
  try {
    return { handle: await start(), isAttached: false }
  } catch (thrown) {
    if (PtcError.isInstance(thrown) && thrown.code === 'RUN_EXISTS') return { handle: attach(), isAttached: true }
    throw thrown
  }
}

async function startAgent(options: StartTaskOptions): Promise<TaskRun> {
  const { client, task, workflowId } = options
  const { prompt, setup, folder } = task
  const attachments = (setup.attachments ?? []).map((file) => ({ file: join(folder, file) }))
  const input: AgentInput = {
    ...commonInput(options),
    question: [prompt].flat().join('\n'),
    ...(attachments.length > 0 && { attachments }),
    ...defined({ mode: setup.mode }),
  }
  const { handle, isAttached } = await startOrAttach(
    () => client.startAgent(input, { workflowId, workflowIdReusePolicy: 'REJECT_DUPLICATE' }),
    // The id belongs to this eval, which starts only agents under it.
    () => client.handle(workflowId) as RunHandle<AgentResult>,
  )
  return {
    handle,
    isAttached,
    async result() {
      const { status, answer, output, ...counts } = await handle.result()
      return { status, answer, counts, ...defined({ output }) }
    },
    close: async () => undefined,
  }
}

/** Milliseconds after which a conversation ends whose harness was killed before it could close it. */
const closeAfterMs = 60 * 60_000

async function startConversation(options: StartTaskOptions): Promise<TaskRun> {
  const { client, task, workflowId } = options
  const { history } = task.setup
  const conversation: Conversation = client.conversation(workflowId, {
    ...commonInput(options),
    closeAfterMs,
    ...(history && { messages: history }),
  })
  const prompts = [task.prompt].flat()
  // A message that was sent before under its id is not worked on again.
  const first = await conversation.send(prompts[0] ?? '', { id: 'message-1' })
  const handle = client.handle(conversation.workflowId)
  return {
    handle,
    isAttached: false,
    async result() {
      let answer = await first.answer()
      for (const [index, text] of prompts.slice(1).entries()) {
        if (answer.status !== 'answered') break
        answer = await (await conversation.send(text, { id: `message-${index + 2}` })).answer()
      }
      if (answer.status === 'failed') {
        const { error } = answer
        throw new PtcError('INTERNAL', `the conversation failed: ${error?.code ?? ''} ${error?.message ?? ''}`)
      }
      const { turns, cells, toolCalls, usage, costUsd } = await conversation.status()
      const counts = { turns, cells, toolCalls, usage, costUsd }
      return { status: answer.status, answer: answer.answer, counts, ...defined({ output: answer.output }) }
    },
    close: async () => void (await conversation.close()),
  }
}

function commonInput({ task, workflowId, agent, tools, hasPrice }: StartTaskOptions) {
  const { setup, inputData, limits } = task
  const { turns, toolCalls, tokens, costUsd } = limits
  const budget: Budget = { turns, toolCalls, tokens, ...(hasPrice && { costUsd }), whenSpent: 'end' }
  return {
    // Each sample has a user of its own, so that no memory or session of one sample reaches another.
    context: { user: workflowId, ...setup.context, ptcEval: workflowId },
    budget,
    ...(agent === undefined ? { tools } : { agent }),
    ...(inputData !== undefined && { input: inputData }),
  }
}
