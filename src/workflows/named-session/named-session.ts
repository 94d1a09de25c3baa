import {
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow'
import type { ErrorCode } from '../../common/errors.js'
import type { CellOutcome } from '../../common/outcomes.js'
import type { RunOptions } from '../../common/runs.js'
import {
  type ExecuteResult,
  type ExecuteInput,
  maxExecuteSourceBytes,
  type InterruptSignalInput,
  type SessionResult,
  type SessionStatus,
} from '../../common/session.js'
import { pluralize, utf8Length } from '../../common/text.js'
import { closeRuntime, type CodeRuntime, createCodeRuntime } from '../cell/code-runtime.js'
import { toCellOutcome } from '../cell/cell-result.js'
import { runCell } from '../cell/run-cell.js'
import { type Run, startRun } from '../run.js'

/** Temporal ends a workflow for good at 51,200 events or 50 MB; the cell that comes last needs room too. */
const historyLimit = { events: 25_000, bytes: 25_000_000 } as const

interface ReadySession {
  readonly run: Run
  readonly runtime: CodeRuntime
}

export interface Execution {
  /** Of its update. */
  readonly id: string
  /** The session began with it. */
  readonly isNew: boolean
}

/** A session between its executions: whose turn it is, and when its time is over. */
export class NamedSession {
  readonly #name: string
  readonly #createdAt = Date.now()
  readonly #cells = new CancellationScope()
  readonly #starting: Promise<ReadySession>
  #ready: ReadySession | undefined
  /** Executions that were accepted, and those of them that run or wait their turn. */
  #accepted = 0
  #pending = 0
  #queueTail: Promise<unknown> = Promise.resolve()
  /** Id of the execution whose turn it is, and of those that are to stop before it is theirs. */
  #currentExecution: string | undefined
  readonly #interruptedBeforeStart = new Set<string>()
  #lastUsedAt = this.#createdAt
  #ended: SessionResult['ended'] | undefined

  constructor(name: string, options: RunOptions) {
    this.#name = name
    this.#starting = this.#start(options)
    // Thrown where it is waited for.
    this.#starting.catch(() => undefined)
  }

  /** @throws ApplicationFailure when this can't be executed; then it leaves no trace */
  validate({ source, sandbox }: ExecuteInput): void {
    if (typeof source !== 'string' || source.trim() === '') throw rejection('RUN_INPUT_INVALID', 'the program is empty')
    const bytes = utf8Length(source)
    if (bytes > maxExecuteSourceBytes) {
      throw rejection(
        'RUN_INPUT_INVALID',
        `the program has ${bytes} bytes; a session takes up to ${maxExecuteSourceBytes}`,
      )
    }
    if (this.#ended !== undefined) throw rejection('SESSION_EXPIRED', `session ${this.#name} is about to end`)
    if (this.#ready === undefined) return
    const { config } = this.#ready.run
    const { backend } = this.#ready.runtime.session.sandbox
    if (sandbox !== undefined && backend !== 'auto' && sandbox !== 'auto' && sandbox !== backend) {
      throw rejection('RUN_INPUT_INVALID', `session ${this.#name} runs in ${backend}, not in ${sandbox}`)
    }
    const { historyLength, historySize } = workflowInfo()
    if (this.#accepted >= config.sessions.executions) {
      throw rejection(
        'SESSION_FULL',
        `session ${this.#name} has had ${pluralize(this.#accepted, 'execution')}, all it takes`,
      )
    }
    if (historyLength > historyLimit.events || historySize > historyLimit.bytes) {
      throw rejection('SESSION_FULL', `the history of session ${this.#name} is as long as Temporal keeps one`)
    }
  }

  /** Executes code when its turn has come. @throws ApplicationFailure SESSION_CLOSED, and what opening a sandbox throws */
  async execute({ source }: ExecuteInput, execution: Execution): Promise<ExecuteResult> {
    this.#accepted += 1
    this.#pending += 1
    const executed = this.#queueTail.then(() => this.#executeNow(source, execution))
    this.#queueTail = executed.catch(() => undefined)
    try {
      return await executed
    } finally {
      this.#pending -= 1
      this.#lastUsedAt = Date.now()
    }
  }

  /** Stops one execution, and nothing else of the session. */
  interrupt({ updateId = this.#currentExecution }: InterruptSignalInput): void {
    if (updateId === undefined) return
    if (updateId === this.#currentExecution) this.#ready?.runtime.session.interruption.request()
    else this.#interruptedBeforeStart.add(updateId) // its turn is to come, or it has not even arrived
  }

  /** Stops what is executed; {@link waitUntilEnded} then returns. */
  close(): void {
    this.#ended ??= 'closed'
    this.#cells.cancel()
  }

  /** Waits until the session was closed, or nothing was executed for too long. What is executed is never cut by that. */
  async waitUntilEnded(): Promise<SessionResult> {
    const { run } = await this.#starting
    const { idleMs } = run.config.sessions
    let ended = this.#ended
    while (ended === undefined) {
      await condition(() => this.#pending === 0 || this.#ended !== undefined)
      this.#showIdle(run)
      const inTime = await condition(() => this.#pending > 0 || this.#ended !== undefined, idleMs)
      // What came at the very moment is served.
      if (!inTime && this.#pending === 0) this.#ended ??= 'idle'
      ended = this.#ended
    }
    const { cells, toolCalls } = run.counts
    return { ended, cells, toolCalls }
  }

  /** Never cancelled; a host that is gone does not fail it. */
  async closeRuntime(): Promise<void> {
    if (this.#ready) await closeRuntime(this.#ready.runtime)
  }

  status(): SessionStatus {
    const idleMs = this.#ready?.run.config.sessions.idleMs
    const isIdle = this.#pending === 0 && this.#ended === undefined && idleMs !== undefined
    const sandbox = this.#ready?.runtime.session.sandbox
    const running = sandbox?.state === 'parked' ? 'parked' : 'busy'
    return {
      state: this.#ended === undefined ? (isIdle ? 'idle' : running) : 'ending',
      backend: sandbox?.backend ?? 'auto',
      createdAt: this.#createdAt,
      lastUsedAt: this.#lastUsedAt,
      expiresAt: isIdle ? this.#lastUsedAt + idleMs : null,
      cells: this.#ready?.run.counts.cells ?? 0,
      toolCalls: this.#ready?.run.counts.toolCalls ?? 0,
    }
  }

  async #start(options: RunOptions): Promise<ReadySession> {
    const run = await startRun(options)
    // No model reads it: whoever executes gets all that was captured.
    this.#ready = { run, runtime: createCodeRuntime(run, { outputCharacters: run.config.limits.capturedCharacters }) }
    return this.#ready
  }

  async #executeNow(source: string, { id, isNew }: Execution): Promise<ExecuteResult> {
    const opened = await this.#starting
    if (this.#ended !== undefined) throw this.#closedFailure()
    const { counts } = opened.run
    const toolCalls = counts.toolCalls
    const outcome = this.#interruptedBeforeStart.delete(id)
      ? interruptedBeforeStart
      : await this.#runCell(source, id, opened)
    return { outcome, cell: counts.cells, toolCalls: counts.toolCalls - toolCalls, isNew }
  }

  async #runCell(source: string, id: string, { run, runtime }: ReadySession): Promise<CellOutcome> {
    this.#currentExecution = id
    run.quota.calls = 0
    try {
      return await this.#cells.run(async () => toCellOutcome(await runCell(run, runtime, source), run))
    } catch (thrown) {
      if (isCancellation(thrown)) throw this.#closedFailure()
      // The engine failed in the middle of a cell; the next one starts from the state before it.
      runtime.pendingCalls.dropCell()
      await runtime.session.dropCell()
      throw thrown
    } finally {
      this.#currentExecution = undefined
    }
  }

  #closedFailure(): ApplicationFailure {
    return rejection('SESSION_CLOSED', `session ${this.#name} was closed before the code had come to its end`)
  }

  #showIdle({ counts, config }: Run): void {
    const until = new Date(this.#lastUsedAt + config.sessions.idleMs).toISOString()
    setCurrentDetails(
      `**waits for code until ${until}**\n\ncells ${counts.cells} of at most ${config.sessions.executions} · tool calls ${counts.toolCalls}`,
    )
  }
}

const interruptedBeforeStart: CellOutcome = {
  status: 'stopped',
  output: '',
  error: 'KeyboardInterrupt: the code was stopped before it had begun',
  sessionKept: true,
}

function rejection(code: ErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, code)
}
