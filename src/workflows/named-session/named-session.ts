/*
 * Named session: serializes the executions of one session, and ends it.
 *
 * Owns: the queue of executions, their interruption, the limits of the session, and when it ends. `workflow.ts` binds
 * these to updates, signals and a query.
 * Boundary: an execution is one cell (`cell/run-cell.ts`). It does not depend on the senders of executions: clients
 * start the workflow, send updates, and wait for their results. Runs that are bound to the session send signals, and
 * get replies (`shared-session/served-cells.ts`).
 *
 * Invariants:
 * 1. Executions run one after the other, in the order in which Temporal accepted their updates and signals.
 * 2. An accepted execution has a result: an outcome, or the failure `SESSION_CLOSED`, or a failure of the engine.
 * 3. An interrupt stops one execution. It also stops one that is queued, or one with an update that arrives later.
 * 4. The session ends only when it is closed or was idle for `sessions.idleMs`. It then removes its sandbox.
 * 5. A session does not continue as new. It accepts executions until its history reaches half of Temporal's limit. The
 *    other half is for the accepted executions.
 */

import { resultCharacters, maxSessionExecutions } from '../../common/run/limits.js'
import {
  type ApplicationFailure,
  CancellationScope,
  condition,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow'
import { defined } from '../../common/defined.js'
import { defaultLanguageName } from '../../common/names.js'
import { codeLanguagesOf, environmentLanguage, hasEnvironment } from '../../common/run/environment.js'
import type { RunConfig } from '../../common/run/run-config.js'
import { canonicalJson } from '../../common/json/canonical-json.js'
import type { CellOutcome } from '../../common/calls/outcomes.js'
import {
  type ExecuteResult,
  type ExecuteInput,
  maxExecuteSourceBytes,
  type InterruptSignalInput,
  type SessionInput,
  type SessionResult,
  type SessionStatus,
} from '../../common/session/session.js'
import { heldSessionIdleMs } from '../../common/session/held-sessions.js'
import type { ExecuteCell } from '../../common/session/shared-cells.js'
import { pluralize, utf8Length } from '../../common/text/text.js'
import { problemOfCellLanguage } from '../cell/cell-language.js'
import { interruptedBeforeStart } from '../cell/cell-result.js'
import { closeRuntime, type CodeRuntime, createCodeRuntime } from '../cell/code-runtime.js'
import { type CellCode, runCellToOutcome } from '../cell/run-cell.js'
import { historyLimit } from '../run/continue-as-new.js'
import { showProgress } from '../run/progress.js'
import type { Run } from '../run/run.js'
import { startRun } from '../start-run.js'
import { type EndedCell, runServedCell } from '../shared-session/served-cells.js'
import { rejection } from '../temporal/failures.js'
import { digestOfRules } from '../calls/data-flow/data-flow.js'
import { holdOutcome } from '../calls/data-flow/hold-answer.js'
import { publishEnd } from '../run/search-attributes.js'

type SessionOptions = Omit<SessionInput, 'name' | 'inputDigest' | 'networkDigest' | 'heldBy' | 'startedByUpdateId'>

/** An execution, from the update of a client or a cell of another run. */
export interface ExecutionRequest {
  /** The id of the update of the execution, or of the cell of a run. */
  readonly id: string
  /** True when the execution started the session. */
  readonly isNew: boolean
}

export class NamedSession {
  /** The name in messages. */
  readonly #name: string
  readonly #context: string
  readonly #digests: Pick<ExecuteInput, 'inputDigest' | 'networkDigest'>
  /** A run holds the session, which ends with it. */
  readonly #isHeld: boolean
  readonly #createdAt = Date.now()
  readonly #cells = new CancellationScope()
  readonly #starting: Promise<CodeRuntime>
  /** Undefined before the configuration is read. */
  #runtime: CodeRuntime | undefined
  #accepted = 0
  /** Number of executions that run or are queued. */
  #pending = 0
  #currentExecution: string | undefined
  /** Executions that were interrupted before their cell started. */
  readonly #interruptedBeforeStart = new Set<string>()
  #lastUsedAt = this.#createdAt
  #ended: SessionResult['ended'] | undefined

  constructor({ name, inputDigest, networkDigest, heldBy, startedByUpdateId: _, ...options }: SessionInput) {
    this.#name = heldBy?.name ?? name
    this.#isHeld = heldBy !== undefined
    this.#context = canonicalJson(options.context ?? {})
    this.#digests = defined({ inputDigest, networkDigest })
    this.#starting = this.#start(options)
    // The failure is thrown at each `await` of the promise.
    this.#starting.catch(() => undefined)
  }

  /**
   * Validates an update.
   *
   * @throws ApplicationFailure when it is rejected; a rejected update leaves no event in the history
   */
  validate({ source, ...reliedOn }: ExecuteInput): void {
    if (typeof source !== 'string' || source.trim() === '') throw rejection('RUN_INPUT_INVALID', 'the program is empty')
    const bytes = utf8Length(source)
    if (bytes > maxExecuteSourceBytes) {
      throw rejection(
        'RUN_INPUT_INVALID',
        `the program has ${bytes} bytes; a session takes up to ${maxExecuteSourceBytes}`,
      )
    }
    this.#admit(reliedOn)
  }

  #admit({ sandbox, language, cellLanguage, context, files, ...digests }: Omit<ExecuteInput, 'source'>): void {
    if (this.#ended !== undefined) throw rejection('SESSION_EXPIRED', `session ${this.#name} is ending`)
    if (context !== undefined && canonicalJson(context) !== this.#context) {
      throw rejection('RUN_INPUT_INVALID', `session ${this.#name} was started with another context`)
    }
    const { inputDigest, networkDigest } = digests
    if (inputDigest !== undefined && inputDigest !== this.#digests.inputDigest) {
      throw rejection('RUN_INPUT_INVALID', `session ${this.#name} was started with other input data`)
    }
    if (networkDigest !== undefined && networkDigest !== this.#digests.networkDigest) {
      throw rejection('RUN_INPUT_INVALID', `session ${this.#name} was started with another \`network\`, or none`)
    }
    if (this.#runtime === undefined) return
    const { config } = this.#runtime.run
    if (files) this.#runtime.run.requireUploads(files, `session ${this.#name}`)
    this.#requireLanguage(config, language, cellLanguage)
    const { backend } = this.#runtime.session.sandbox
    if (sandbox !== undefined && backend !== 'auto' && sandbox !== 'auto' && sandbox !== backend) {
      throw rejection('RUN_INPUT_INVALID', `session ${this.#name} runs in ${backend}, not in ${sandbox}`)
    }
    const { historyLength, historySize } = workflowInfo()
    if (this.#accepted >= (config.loweredLimits?.sessionExecutions ?? maxSessionExecutions)) {
      throw rejection(
        'SESSION_FULL',
        `session ${this.#name} has reached its limit of ${pluralize(this.#accepted, 'execution')}`,
      )
    }
    if (historyLength > historyLimit.events || historySize > historyLimit.bytes) {
      // Invariant 5.
      throw rejection('SESSION_FULL', `the history of session ${this.#name} has reached its limit`)
    }
  }

  /**
   * Executes code after all executions that were accepted before.
   *
   * @throws ApplicationFailure SESSION_CLOSED, and failures of the engine
   */
  execute(
    { source, language, cellLanguage, files }: ExecuteInput,
    execution: ExecutionRequest,
  ): Promise<ExecuteResult> {
    return this.#enqueue((runtime) => {
      // It was accepted before the configuration was read.
      this.#requireLanguage(runtime.run.config, language, cellLanguage)
      if (files) runtime.run.addUploads(files, `session ${this.#name}`)
      return this.#executeNow(runtime, { source, language: cellLanguage }, execution)
    })
  }

  /** @throws ApplicationFailure for code of another language */
  #requireLanguage(config: Pick<RunConfig, 'language'>, language = config.language, cellLanguage?: string): void {
    // Code needs no environment, which the session may have.
    if (language !== config.language && language !== codeLanguagesOf(config.language).join())
      throw rejection('RUN_INPUT_INVALID', `session ${this.#name} runs ${config.language}, not ${language}`)
    if (cellLanguage === environmentLanguage && !hasEnvironment(config.language))
      throw rejection('RUN_INPUT_INVALID', `session ${this.#name} was started without an environment`)
    const problem = problemOfCellLanguage(config, cellLanguage)
    if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', `session ${this.#name}: ${problem}`)
  }

  /**
   * Executes a cell of a run after all executions that were accepted before.
   *
   * @throws ApplicationFailure when the cell is refused, SESSION_CLOSED, and failures of the engine
   */
  async executeServedCell(cell: ExecuteCell, isNew: boolean): Promise<EndedCell> {
    const { id, context, sandbox, rules, files, callsBefore } = cell
    this.#admit({ context, ...defined({ sandbox, files }) })
    return this.#enqueue(async (runtime) => {
      if (files) runtime.run.addUploads(files, `session ${this.#name}`)
      this.#requireLanguage(runtime.run.config, cell.language ?? defaultLanguageName)
      // The calls of the cell are decided on by the rules of the session.
      if (rules !== undefined && rules !== digestOfRules(runtime.run.config))
        throw rejection('RUN_INPUT_INVALID', `session ${this.#name} was started with other rules on data`)
      const ended = this.#interruptedBeforeStart.delete(id)
        ? { end: interruptedBeforeStart, output: '', toolCalls: 0 }
        : await this.#runCell(id, runtime.run, () => runServedCell(this.#cells, runtime, cell), callsBefore)
      return { type: 'ended', ...ended, isNew }
    })
  }

  async #enqueue<Result>(execute: (runtime: CodeRuntime) => Promise<Result>): Promise<Result> {
    this.#accepted += 1
    this.#pending += 1
    try {
      const runtime = await this.#starting
      return await runtime.queue.run(() => {
        // Invariant 1.
        if (this.#ended !== undefined) throw this.#closedFailure()
        return execute(runtime)
      })
    } catch (thrown) {
      throw isCancellation(thrown) ? this.#closedFailure() : thrown // invariant 2
    } finally {
      this.#pending -= 1
      this.#lastUsedAt = Date.now()
    }
  }

  interrupt({ updateId = this.#currentExecution }: InterruptSignalInput): void {
    if (updateId === undefined) return
    if (updateId === this.#currentExecution) this.#runtime?.session.interruption.request()
    else this.#interruptedBeforeStart.add(updateId) // it is queued, or its update has not arrived yet (invariant 3)
  }

  /** Cancels all executions. {@link waitUntilEnded} then returns. */
  close(): void {
    this.#ended ??= 'closed'
    this.#cells.cancel()
  }

  /** Waits until the session is closed, or idle for too long. A session with a queued execution is not idle. */
  async waitUntilEnded(): Promise<SessionResult> {
    const { run } = await this.#starting
    return publishEnd(
      run,
      () => this.#waitForEnd(run),
      ({ ended }) => ended,
    )
  }

  async #waitForEnd(run: Run): Promise<SessionResult> {
    const idleMs = this.#idleMs(run.config)
    let ended = this.#ended
    while (ended === undefined) {
      await condition(() => this.#pending === 0 || this.#ended !== undefined)
      showProgress(run, { type: 'idle', until: Date.now() + idleMs })
      const isUsed = await condition(() => this.#pending > 0 || this.#ended !== undefined, idleMs, {
        summary: 'end the idle session',
      })
      // An execution that arrives with the timer is accepted, and keeps the session.
      if (!isUsed && this.#pending === 0) this.#ended ??= 'idle' // invariant 4
      ended = this.#ended
    }
    const { cells, toolCalls } = run.counts
    return { ended, cells, toolCalls }
  }

  /** Closes the runtime. A cancellation does not stop this, and a host that does not answer does not fail it. */
  async closeRuntime(): Promise<void> {
    if (this.#runtime) await closeRuntime(this.#runtime)
  }

  status(): SessionStatus {
    const idleMs = this.#runtime && this.#idleMs(this.#runtime.run.config)
    const isIdle = this.#pending === 0 && this.#ended === undefined && idleMs !== undefined
    const sandbox = this.#runtime?.session.sandbox
    const running = sandbox?.state === 'parked' ? 'parked' : 'busy'
    return {
      state: this.#ended === undefined ? (isIdle ? 'idle' : running) : 'ending',
      backend: sandbox?.backend ?? 'auto',
      ...defined({ language: this.#runtime?.run.config.language }),
      createdAt: this.#createdAt,
      lastUsedAt: this.#lastUsedAt,
      expiresAt: isIdle ? this.#lastUsedAt + idleMs : null,
      cells: this.#runtime?.run.counts.cells ?? 0,
      toolCalls: this.#runtime?.run.counts.toolCalls ?? 0,
    }
  }

  async #start(options: SessionOptions): Promise<CodeRuntime> {
    const calls = await startRun({ kind: 'session', options, session: this.#name })
    // No model reads the output, so the caller gets all captured output.
    const { idleMs } = calls.run.config.timeouts
    this.#runtime = createCodeRuntime(calls, { outputCharacters: resultCharacters, ...(this.#isHeld && { idleMs }) })
    return this.#runtime
  }

  #idleMs({ sessions }: RunConfig): number {
    return this.#isHeld ? Math.max(sessions.idleMs, heldSessionIdleMs) : sessions.idleMs
  }

  async #executeNow(runtime: CodeRuntime, code: CellCode, { id, isNew }: ExecutionRequest): Promise<ExecuteResult> {
    const { run } = runtime
    const { toolCalls } = run.counts
    const outcome: CellOutcome = this.#interruptedBeforeStart.delete(id)
      ? { ...interruptedBeforeStart, output: '' }
      : await this.#runCell(id, run, async () => {
          const ended = await runCellToOutcome(this.#cells, runtime, code)
          return this.#cells.run(() => holdOutcome(runtime.calls, ended))
        })
    return { outcome, cell: run.counts.cells, toolCalls: run.counts.toolCalls - toolCalls, isNew }
  }

  /** @param callsBefore calls outside the session that count towards `callsPerRun` */
  async #runCell<Result>(id: string, run: Run, execute: () => Promise<Result>, callsBefore = 0): Promise<Result> {
    this.#currentExecution = id
    run.limitCallsAfter(run.counts.toolCalls - callsBefore)
    try {
      return await execute()
    } finally {
      this.#currentExecution = undefined
    }
  }

  #closedFailure(): ApplicationFailure {
    return rejection('SESSION_CLOSED', `session ${this.#name} was closed before the code ended`)
  }
}
