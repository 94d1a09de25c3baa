import {
  ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  setCurrentDetails,
  workflowInfo,
} from '@temporalio/workflow'
import type { ErrorCode } from '../common/errors.js'
import type { CellOutcome } from '../common/outcomes.js'
import type { RunOptions } from '../common/runs.js'
import { type Executed, type ExecuteInput, executionBytes, type InterruptSignal } from '../common/sessions.js'
import type { SessionResult, SessionStatus } from '../common/sessions.js'
import { plural, utf8Length } from '../common/text.js'
import { closeNotebook, type Notebook, openNotebook } from './notebook.js'
import { outcomeOf } from './cell-outcome.js'
import { runCell } from './run-cell.js'
import { type Run, startRun } from './run.js'

/** Temporal ends a workflow for good at 51,200 events or 50 MB; the cell that comes last needs room too. */
const history = { events: 25_000, bytes: 25_000_000 } as const

interface Opened {
  readonly run: Run
  readonly notebook: Notebook
}

export interface Execution {
  /** Of its update. */
  readonly id: string
  /** The session began with it. */
  readonly isNew: boolean
}

/** A session between its executions: whose turn it is, and when its time is over. */
export class OwnedSession {
  readonly #name: string
  readonly #createdAt = Date.now()
  readonly #cells = new CancellationScope()
  readonly #opening: Promise<Opened>
  #opened: Opened | undefined
  /** Executions that were accepted, and those of them that run or wait their turn. */
  #accepted = 0
  #pending = 0
  #turn: Promise<unknown> = Promise.resolve()
  /** Id of the execution whose turn it is, and of those that are to stop before it is theirs. */
  #current: string | undefined
  readonly #withdrawn = new Set<string>()
  #lastUsedAt = this.#createdAt
  #ended: SessionResult['ended'] | undefined

  constructor(name: string, options: RunOptions) {
    this.#name = name
    this.#opening = this.#open(options)
    // Thrown where it is waited for.
    this.#opening.catch(() => undefined)
  }

  /** @throws ApplicationFailure when this can't be executed; then it leaves no trace */
  check({ source, sandbox }: ExecuteInput): void {
    if (typeof source !== 'string' || source.trim() === '') throw refusal('RUN_INPUT_INVALID', 'the program is empty')
    const bytes = utf8Length(source)
    if (bytes > executionBytes) {
      throw refusal('RUN_INPUT_INVALID', `the program has ${bytes} bytes; a session takes up to ${executionBytes}`)
    }
    if (this.#ended !== undefined) throw refusal('SESSION_EXPIRED', `session ${this.#name} is about to end`)
    if (this.#opened === undefined) return
    const { plan } = this.#opened.run
    const { backend } = this.#opened.notebook.session.sandbox
    if (sandbox !== undefined && backend !== 'auto' && sandbox !== 'auto' && sandbox !== backend) {
      throw refusal('RUN_INPUT_INVALID', `session ${this.#name} runs in ${backend}, not in ${sandbox}`)
    }
    const { historyLength, historySize } = workflowInfo()
    if (this.#accepted >= plan.sessions.executions) {
      throw refusal(
        'SESSION_FULL',
        `session ${this.#name} has had ${plural(this.#accepted, 'execution')}, all it takes`,
      )
    }
    if (historyLength > history.events || historySize > history.bytes) {
      throw refusal('SESSION_FULL', `the history of session ${this.#name} is as long as Temporal keeps one`)
    }
  }

  /** Executes code when its turn has come. @throws ApplicationFailure SESSION_CLOSED, and what opening a sandbox throws */
  async execute({ source }: ExecuteInput, execution: Execution): Promise<Executed> {
    this.#accepted += 1
    this.#pending += 1
    const executed = this.#turn.then(() => this.#takeTurn(source, execution))
    this.#turn = executed.catch(() => undefined)
    try {
      return await executed
    } finally {
      this.#pending -= 1
      this.#lastUsedAt = Date.now()
    }
  }

  /** Stops one execution, and nothing else of the session. */
  interrupt({ execution = this.#current }: InterruptSignal): void {
    if (execution === undefined) return
    if (execution === this.#current) this.#opened?.notebook.session.interruption.want()
    else this.#withdrawn.add(execution) // its turn is to come, or it has not even arrived
  }

  /** Stops what is executed; {@link untilOver} then returns. */
  close(): void {
    this.#ended ??= 'closed'
    this.#cells.cancel()
  }

  /** Waits until the session was closed, or nothing was executed for too long. What is executed is never cut by that. */
  async untilOver(): Promise<SessionResult> {
    const { run } = await this.#opening
    const { idleMs } = run.plan.sessions
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
  async removeSandbox(): Promise<void> {
    if (this.#opened) await closeNotebook(this.#opened.notebook)
  }

  status(): SessionStatus {
    const idleMs = this.#opened?.run.plan.sessions.idleMs
    const isIdle = this.#pending === 0 && this.#ended === undefined && idleMs !== undefined
    const sandbox = this.#opened?.notebook.session.sandbox
    const running = sandbox?.state === 'parked' ? 'parked' : 'busy'
    return {
      state: this.#ended === undefined ? (isIdle ? 'idle' : running) : 'ending',
      backend: sandbox?.backend ?? 'auto',
      createdAt: this.#createdAt,
      lastUsedAt: this.#lastUsedAt,
      expiresAt: isIdle ? this.#lastUsedAt + idleMs : null,
      cells: this.#opened?.run.counts.cells ?? 0,
      toolCalls: this.#opened?.run.counts.toolCalls ?? 0,
    }
  }

  async #open(options: RunOptions): Promise<Opened> {
    const run = await startRun(options)
    // No model reads it: whoever executes gets all that was captured.
    this.#opened = { run, notebook: openNotebook(run, { outputCharacters: run.plan.limits.capturedCharacters }) }
    return this.#opened
  }

  async #takeTurn(source: string, { id, isNew }: Execution): Promise<Executed> {
    const opened = await this.#opening
    if (this.#ended !== undefined) throw this.#closed()
    const { counts } = opened.run
    const toolCalls = counts.toolCalls
    const outcome = this.#withdrawn.delete(id) ? neverBegun : await this.#runCell(source, id, opened)
    return { outcome, cell: counts.cells, toolCalls: counts.toolCalls - toolCalls, isNew }
  }

  async #runCell(source: string, id: string, { run, notebook }: Opened): Promise<CellOutcome> {
    this.#current = id
    run.quota.calls = 0
    try {
      return await this.#cells.run(async () => outcomeOf(await runCell(run, notebook, source), run))
    } catch (thrown) {
      if (isCancellation(thrown)) throw this.#closed()
      // The engine failed in the middle of a cell; the next one starts from the state before it.
      notebook.openCalls.dropCell()
      await notebook.session.dropCell()
      throw thrown
    } finally {
      this.#current = undefined
    }
  }

  #closed(): ApplicationFailure {
    return refusal('SESSION_CLOSED', `session ${this.#name} was closed before the code had come to its end`)
  }

  #showIdle({ counts, plan }: Run): void {
    const until = new Date(this.#lastUsedAt + plan.sessions.idleMs).toISOString()
    setCurrentDetails(
      `**waits for code until ${until}**\n\ncells ${counts.cells} of at most ${plan.sessions.executions} · tool calls ${counts.toolCalls}`,
    )
  }
}

const neverBegun: CellOutcome = {
  status: 'stopped',
  output: '',
  error: 'KeyboardInterrupt: the code was stopped before it had begun',
  sessionKept: true,
}

function refusal(code: ErrorCode, message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, code)
}
