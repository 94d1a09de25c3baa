/*
 * The session of another workflow, the owner, in which the code of this run is executed.
 *
 * Owns: a cell of this run from its request to its reply, and the start of a named session.
 * Boundary: signals to and from the owner (`served-cells.ts`). The owner has the sandbox, the calls of the code, and
 * their limits.
 *
 * Invariants:
 * 1. A cell is requested from one execution of the owner. When this execution has ended before the request, the next
 *    one gets the cell.
 * 2. A waiting run holds no activity. It sends a `check` to the owner repeatedly, at intervals from {@link
 *    firstCheckMs} to {@link maxCheckMs}. The server can't deliver this signal to an owner that has ended, so no run
 *    waits forever.
 * 3. A run that ends, or gives up its cell, interrupts the cell.
 * 4. The run may continue as new while the owner has the cell. The reply goes to whichever execution runs.
 */

import {
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  getExternalWorkflowHandle,
  sleep,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow'
import { defined } from '../../common/defined.js'
import type { ErrorCode } from '../../common/errors.js'
import { cellMessageSignal, defaultLanguageName, namedSessionId, sessionMessages } from '../../common/names.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import type { StoredFile } from '../../common/files/files.js'
import type { SessionOwner } from '../../common/run/run-config.js'
import { type HeldSession, nameOfHeldSession, pathInRun } from '../../common/session/held-sessions.js'
import type { CellMessage, CellReply, CellResult, ExecuteCell } from '../../common/session/shared-cells.js'
import { languageOfStep } from '../cell/cell-language.js'
import type { CellRun, CellText } from '../cell/cell-result.js'
import type { CellCode } from '../cell/run-cell.js'
import { showProgress } from '../run/progress.js'
import { type DataFlow, digestOfRules, labelsMember } from '../calls/data-flow/data-flow.js'
import type { RunCalls } from '../calls/run-calls.js'
import type { Run } from '../run/run.js'
import { startSession } from '../temporal/activities.js'
import { notStarted } from './borrowed-cells.js'

const firstCheckMs = 10_000
const maxCheckMs = 30 * 60_000

/** Executions of the owner in a row that may end before they take the cell. */
const maxEndedOwners = 5
/** The pause after the first ended execution; it doubles with each further one. */
const endedPauseMs = 500

interface PendingCell {
  readonly toolUseId: string
  readonly id: string
}

export interface SharedSessionState {
  /** Run id of the named session that executed the latest cell. */
  readonly ownerRunId?: string
  readonly cell?: PendingCell
  /** The number of uploads of the run that the session has. Absent: none. */
  readonly uploads?: number
}

/** A session that executes code of the run. `held`: only the run uses it, and ends it. */
export type CellSession = SessionOwner | ({ readonly type: 'held' } & HeldSession)

/** A cell in progress. Each request has a different id. */
type Cell = { -readonly [Key in keyof PendingCell]: PendingCell[Key] } & { result?: CellResult }

/** Continues the run as new while the owner has a cell. */
export interface Continuation {
  readonly isDue: () => boolean
  readonly attempt: () => Promise<void>
}

export class SharedSession {
  readonly #run: Run
  readonly #dataFlow: DataFlow
  readonly #owner: CellSession
  /** Name of the session in texts for people and the model. */
  readonly #name: string
  readonly #continuation: Continuation
  #ownerRunId: string | undefined
  /** Whether the session may run. */
  #isStarted: boolean
  /** Settles when no start of the session is in progress. */
  #starting: Promise<unknown> = Promise.resolve()
  #uploads: number
  #cell: Cell | undefined
  #isInterrupted = false

  constructor(
    { run, dataFlow }: Pick<RunCalls, 'run' | 'dataFlow'>,
    owner: CellSession,
    continuation: Continuation,
    state: SharedSessionState = {},
  ) {
    this.#run = run
    this.#dataFlow = dataFlow
    this.#owner = owner
    this.#name = ownerName(owner)
    this.#continuation = continuation
    this.#ownerRunId = state.ownerRunId
    // A run that was reset does not know of the sessions that it has started before.
    this.#isStarted = state.ownerRunId !== undefined || workflowInfo().runId !== run.identity.firstExecutionRunId
    this.#uploads = state.uploads ?? 0
    this.#cell = state.cell && { ...state.cell }
  }

  /** Called with each reply to the run. One to an earlier cell, or to a cell of another session, changes nothing. */
  receive({ id, result }: CellReply): void {
    if (this.#cell?.id === id) this.#cell.result ??= result
  }

  /** Read between two cells, or while the owner has a cell. */
  get state(): SharedSessionState {
    return {
      ...defined({ ownerRunId: this.#ownerRunId }),
      ...(this.#cell && { cell: { toolUseId: this.#cell.toolUseId, id: this.#cell.id } }),
      ...(this.#uploads > 0 && { uploads: this.#uploads }),
    }
  }

  get hasCell(): boolean {
    return this.#cell !== undefined
  }

  /**
   * Executes a cell. If the execution before this one has sent a cell to the owner, waits for that cell.
   *
   * @param describe describes how the cell ended
   * @throws CancelledFailure, ContinueAsNew, and failures of the engine
   */
  async execute(
    code: CellCode & { readonly toolUseId: string },
    describe: (cell: CellRun) => CellText,
  ): Promise<CellText> {
    const { toolUseId } = code
    const known = this.#cell?.toolUseId === toolUseId ? this.#cell : undefined
    const cell = known ?? this.#begin(toolUseId)
    const result = await (known ? this.#waitForResult(known) : this.#request(cell, code))
    // A cell that was given up may have a successor.
    if (this.#cell === cell) this.#cell = undefined
    this.#countCalls(result)
    if (result.type === 'ended') {
      this.#dataFlow.readOutput(result.labels)
      this.#addFiles(result.kept?.files, result.returned)
    }
    return cellText(result, this.#owner, describe)
  }

  /** Interrupts the cell, as Ctrl-C does. */
  interrupt(): void {
    this.#isInterrupted = true
    // The owner also accepts the interruption of a cell that arrives later.
    if (this.#cell && !this.#cell.result) void this.#send({ type: 'interrupt', id: this.#cell.id })
  }

  /**
   * Gives up the cell, because other work of the run failed, or because the run ends. Resolves when the owner has the
   * interruption.
   */
  async abandon(): Promise<void> {
    const cell = this.#cell
    if (!cell || cell.result) return
    cell.result = lost('the run no longer waits for the code')
    this.#cell = undefined
    await this.#send({ type: 'interrupt', id: cell.id }) // invariant 3
  }

  /** Ends a session that only this run uses. Resolves when the session has the signal, or has ended. */
  async close(): Promise<void> {
    await this.abandon()
    if (this.#owner.type !== 'held' || !this.#isStarted) return
    await this.#starting
    const handle = getExternalWorkflowHandle(this.#ownerId)
    await CancellationScope.nonCancellable(() => handle.signal(sessionMessages.close)).catch(() => undefined)
  }

  /** The name of the languages of the code. */
  get language(): string {
    return this.#owner.type === 'held' ? this.#owner.language : this.#run.config.language
  }

  #begin(toolUseId: string): Cell {
    const run = this.#run
    this.#isInterrupted = false
    this.#cell = { toolUseId, id: '' }
    run.count({ cells: 1 })
    showProgress(run, { type: 'cell', cell: run.counts.cells })
    return this.#cell
  }

  async #request(cell: Cell, { source, language }: CellCode): Promise<CellResult> {
    const code = { source, ...defined({ cellLanguage: languageOfStep(this, language).language }) }
    for (let attempt = 1; attempt <= maxEndedOwners; attempt += 1) {
      cell.id = uuid4()
      const isKnown = this.#ownerRunId !== undefined
      // Invariant 1.
      if (this.#owner.type !== 'parent') this.#ownerRunId ??= await this.#startSession(this.#owner, cell.id)
      if (cell.result) return cell.result // it was given up
      if (CancellationScope.current().consideredCancelled) throw new CancelledFailure('the run was cancelled')
      if (this.#isInterrupted) return notStarted
      const { files } = this.#run
      const uploads = this.#owner.type === 'held' ? files.uploadsAfter(this.#uploads) : []
      const request = { ...code, ...this.#reliedOn, ...(uploads.length > 0 && { files: uploads }) }
      if (uploads.length > 0) this.#uploads = files.uploadCount
      const isSent = await this.#send({ type: 'execute', id: cell.id, ...request })
      const result = isSent ? await this.#waitForResult(cell) : (cell.result ?? lost(`${this.#name} has ended`))
      // An owner that has ended, or is about to end, has not taken the cell: the next execution gets it.
      const isTaken = isSent && (result.type === 'ended' || result.code !== isEnding)
      if (isTaken || this.#owner.type === 'parent' || (cell.result && !isSent)) return result
      delete cell.result
      this.#ownerRunId = undefined
      this.#uploads = 0
      const pauseMs = endedPauseMs * 2 ** (attempt - 1)
      if (!isKnown || isSent) await sleep(pauseMs, { summary: `wait for the end of ${this.#name}` })
    }
    return { type: 'failed', code: isEnding, message: `${this.#name} ended again and again before it took the code` }
  }

  /** The run, and its requirements on the session of the owner. */
  get #reliedOn(): Omit<ExecuteCell, 'type' | 'id' | 'source' | 'cellLanguage'> {
    const { counts, config, tools, skills, callsLeft } = this.#run
    const { workflowId, runId } = workflowInfo()
    const owner = this.#owner
    return {
      requester: workflowId,
      requesterRunId: runId,
      cell: counts.cells,
      outputCharacters: config.limits.outputCharacters,
      ...((config.toolSet.names || skills.isRestricting) && {
        tools: [...tools.keys()].filter((name) => skills.refusalOf(name) === undefined),
      }),
      context: config.context ?? {},
      ...defined({ rules: digestOfRules(config) }),
      ...labelsMember(this.#dataFlow.ofModel),
      ...(owner.type === 'parent' && { key: owner.key }),
      ...(owner.type !== 'parent' && owner.sandbox !== undefined && { sandbox: owner.sandbox }),
      ...(owner.type === 'held' && { session: owner.name, callsBefore: config.limits.callsPerRun - callsLeft }),
      ...(this.language !== defaultLanguageName && { language: this.language }),
    }
  }

  /** Starts the session. A session that starts for this run gets the tools, limits and context of the run. */
  #startSession(owner: Exclude<CellSession, { type: 'parent' }>, cellId: string): Promise<string> {
    const { config } = this.#run
    const { taskQueue, workflowId } = workflowInfo()
    const { sandbox, language } = owner
    const held = owner.type === 'held' && {
      heldBy: { workflowId, name: owner.name },
      ...defined({ image: owner.image, network: owner.network }),
      ...(config.files && { files: [] }),
    }
    this.#isStarted = true
    const session = {
      name: this.#sessionName,
      startedByUpdateId: cellId,
      limits: config.limits,
      ...held,
      ...(config.toolSet.names && { tools: config.tools.filter(isNoSubagent).map((tool) => tool.name) }),
      ...defined({ context: config.context, sandbox, language }),
    }
    const started = startSession({ workflowId: this.#ownerId, taskQueue, session }, config.timeouts)
    this.#starting = started.catch(() => undefined)
    return started
  }

  async #waitForResult(cell: Cell): Promise<CellResult> {
    const { helpers } = this.#run.progress
    const owner = { workflowId: this.#ownerId, hasCell: true } as const
    helpers.add(owner)
    try {
      return await this.#pollResult(cell)
    } finally {
      helpers.delete(owner)
    }
  }

  async #pollResult(cell: Cell): Promise<CellResult> {
    const isAnswered = () => cell.result !== undefined
    for (let checkMs = firstCheckMs; ; checkMs = Math.min(2 * checkMs, maxCheckMs)) {
      // Invariant 2.
      const mustReturn = () => isAnswered() || this.#continuation.isDue()
      const isOver = await condition(mustReturn, checkMs, { summary: `ask ${this.#name} whether the code has ended` })
      if (cell.result) return cell.result
      if (isOver) await this.#continuation.attempt() // invariant 4
      else if (!(await this.#send({ type: 'check', id: cell.id, requester: workflowInfo().workflowId })))
        return (cell.result ??= lost(`${this.#name} ended before the code had ended`))
    }
  }

  /** Returns false when the owner has ended. */
  async #send(message: CellMessage): Promise<boolean> {
    const handle = getExternalWorkflowHandle(this.#ownerId, this.#ownerRunId)
    try {
      await CancellationScope.nonCancellable(() => handle.signal<[CellMessage]>(cellMessageSignal, message))
      return true
    } catch {
      return false
    }
  }

  get #ownerId(): string {
    const owner = this.#owner
    return owner.type === 'parent' ? owner.workflowId : namedSessionId(workflowInfo().taskQueue, this.#sessionName)
  }

  get #sessionName(): string {
    const owner = this.#owner
    if (owner.type === 'parent') return ''
    return owner.type === 'named' ? owner.name : nameOfHeldSession(this.#run.identity.firstExecutionRunId, owner.name)
  }

  /** The files of a session that others use belong to that session. */
  #addFiles(artifacts: readonly StoredFile[] = [], returned: readonly StoredFile[] = []): void {
    const { name, type } = { name: '', ...this.#owner }
    if (type !== 'held') return
    this.#run.files.addArtifacts(artifacts.map((file) => ({ ...file, path: pathInRun(name, file.path) })))
    for (const file of returned) this.#run.files.addReturnedElsewhere(file)
  }

  /** Counts the calls of a cell. The parent counts the calls in its own session. */
  #countCalls(result: CellResult): void {
    if (result.type === 'failed' || this.#owner.type === 'parent') return
    this.#run.count({ toolCalls: result.toolCalls })
  }
}

const isEnding: ErrorCode = 'SESSION_EXPIRED'

function lost(message: string): CellResult {
  return { type: 'failed', code: 'SESSION_CLOSED' satisfies ErrorCode, message }
}

function isNoSubagent({ remote }: ToolConfig): boolean {
  return remote?.kind !== 'workflow' || remote.agent === undefined
}

/** Failures that the model reads. Any other failure ends the run, as in a run with its own session. */
const outcomeCodes: readonly string[] = [
  'SESSION_CLOSED',
  'SESSION_EXPIRED',
  'SESSION_FULL',
  'RUN_INPUT_INVALID',
] satisfies readonly ErrorCode[]

function ownerName(owner: CellSession): string {
  return owner.type === 'parent' ? 'the sandbox of the parent' : `session ${owner.name}`
}

/**
 * Describes for the model how a cell in the session of another workflow ended.
 *
 * @throws ApplicationFailure a failure of the engine
 */
function cellText(result: CellResult, owner: CellSession, describe: (cell: CellRun) => CellText): CellText {
  if (result.type === 'failed') {
    const { code, message } = result
    if (!outcomeCodes.includes(code)) throw ApplicationFailure.nonRetryable(message, code)
    if (code !== 'SESSION_CLOSED') return { text: `[denied] ${message}`, isError: true }
    return { text: `[lost] ${message}.${owner.type === 'parent' ? '' : ` ${variablesLost}`}`, isError: true }
  }
  const { text, isError } = describe(result)
  if (!result.isNew) return { text, isError }
  const note = `(${ownerName(owner)} is new: it has no variables of earlier code.)`
  if (typeof text === 'string') return { text: `${text}\n${note}`, isError }
  return { text: { ...text, suffix: [text.suffix, note].filter(Boolean).join('\n') }, isError }
}

const variablesLost = 'Look which variables are left: the next code may start a new session.'
