import type { AgentResult, ProgramResult, PtcClient, RunHandle } from '../../client/index.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import { messageOf } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import { judgeAgentName, judgeQuestion, readVerdict } from '../checks/judge.js'
import type { CheckRuns } from '../checks/run-checks.js'
import { failed, passed, type Verdict } from '../checks/verdict.js'
import type { EvalTask } from '../tasks/load-tasks.js'
import type { ObservedRun } from './observed-run.js'
import { startOrAttach } from './task-run.js'

/** US dollars that one judge may use. */
export const judgeCostUsd = 0.1
/** Milliseconds of a judge, or of a check program. */
const checkMs = 300_000

interface CheckRunsOptions {
  readonly client: PtcClient
  readonly task: EvalTask
  readonly run: ObservedRun
  /** Id of the run that is checked; those of the checks derive from it. */
  readonly workflowId: string
  /** Model of judges without one of their own. Undefined: the model of the worker. */
  readonly judgeModel: string | undefined
  readonly hasPrice: boolean
  /** A scripted model judges, too: it costs nothing. */
  readonly isFree: boolean
  readonly signal: AbortSignal
}

/** Runs of the checks of one sample. Each has a deterministic id, so that an interrupted eval attaches to it. */
export class SampleCheckRuns implements CheckRuns {
  readonly #options: CheckRunsOptions
  /** US dollars of the judges so far. Null: unknown. */
  costUsd: number | null = 0

  constructor(options: CheckRunsOptions) {
    this.#options = options
  }

  async program(source: string, index: number): Promise<Verdict> {
    const { client, task, run, workflowId } = this.#options
    const { answer, output, status, calls, cells } = run
    const input = { answer, output: output ?? null, status, calls, cells, input: task.inputData ?? null }
    const id = `${workflowId}-check-${index}`
    try {
      const { handle } = await startOrAttach<ProgramResult>(
        // The observed run has only JSON values.
        () => client.startProgram({ source, input: toJson(input), tools: [] }, startOptions(id)),
        () => client.handle(id) as RunHandle<ProgramResult>,
      )
      const { outcome } = await this.#wait(handle)
      if (outcome.status === 'ok') return passed
      if (outcome.status === 'code_error')
        return failed(outcome.error.trim().split('\n').at(-1) ?? 'the program failed')
      return { type: 'error', reason: `the check program ended with ${outcome.status}: ${outcome.error}` }
    } catch (thrown) {
      this.#options.signal.throwIfAborted()
      return { type: 'error', reason: `the check program: ${messageOf(thrown)}` }
    }
  }

  async judge({ criteria, model }: Parameters<CheckRuns['judge']>[0], index: number): Promise<Verdict> {
    const { client, task, run, workflowId, judgeModel, hasPrice, isFree } = this.#options
    const id = `${workflowId}-judge-${index}`
    const input = {
      question: judgeQuestion(task, criteria, run),
      agent: judgeAgentName,
      budget: { turns: 6, ...(hasPrice && { costUsd: judgeCostUsd }), whenSpent: 'end' as const },
      ...(!isFree && defined({ model: model ?? judgeModel })),
    }
    try {
      const { handle } = await startOrAttach<AgentResult>(
        () => client.startAgent(input, startOptions(id)),
        () => client.handle(id) as RunHandle<AgentResult>,
      )
      const { status, output, costUsd } = await this.#wait(handle)
      this.costUsd = this.costUsd === null || costUsd === null ? null : this.costUsd + costUsd
      return readVerdict(status, output)
    } catch (thrown) {
      this.#options.signal.throwIfAborted()
      this.costUsd = null
      return { type: 'judge_failed', reason: `the judge: ${messageOf(thrown)}` }
    }
  }

  async #wait<Result>(handle: RunHandle<Result>): Promise<Result> {
    const limit = AbortSignal.any([this.#options.signal, AbortSignal.timeout(checkMs)])
    try {
      return await raceWithSignal(limit, handle.result())
    } catch (thrown) {
      if (limit.aborted && !this.#options.signal.aborted) await handle.cancel().catch(() => undefined)
      throw thrown
    }
  }
}

function startOptions(workflowId: string) {
  return { workflowId, workflowIdReusePolicy: 'REJECT_DUPLICATE' } as const
}

function toJson(value: unknown): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue
}
