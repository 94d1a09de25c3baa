/*
 * A run: its recorded configuration, its counts, and the limits that depend on them.
 *
 * Owns: what a run has used so far. Only the methods of `Run` change it.
 * Boundary: data. `calls/` has the calls of the run, `start-run.ts` builds both.
 *
 * Invariants:
 * 1. The configuration is read once. Later only the model changes, when a fallback has answered.
 * 2. A count never decreases.
 */

import type { RunIdentity } from '../../common/calls/call-identity.js'
import { hostedBackend } from '../../common/agent/hosted-code.js'
import { addSubagentCounts } from '../../common/budget/leases.js'
import type { ModelReply } from '../../common/agent/messages.js'
import { defined } from '../../common/defined.js'
import type { StoredFile } from '../../common/files/files.js'
import type { RunConfig } from '../../common/run/run-config.js'
import { addUsage, type RunCounts, type RunKind, zeroCounts } from '../../common/run/runs.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import { rejection } from '../temporal/failures.js'
import { RunFiles, type RunFilesState } from '../files/run-files.js'
import { RunBudget, type RunBudgetState } from './budget.js'
import { ActiveSkills, type ActiveSkillsState } from './active-skills.js'
import { Progress } from './progress.js'

export interface RunDataState {
  readonly config: RunConfig
  readonly counts: RunCounts
  /** Bytes that the run has put into the value store. */
  readonly storedBytes: number
  /** Undefined: the run has no budget. */
  readonly budget?: RunBudgetState
  /** Undefined: the run has no skills. */
  readonly skills?: ActiveSkillsState
  /** Undefined: the run has no files. */
  readonly files?: RunFilesState
}

export class Run {
  /** The engine does not write to the details, the memo and the search attributes of an `embedded` run. */
  readonly kind: RunKind
  readonly identity: RunIdentity
  readonly tools: ReadonlyMap<string, ToolConfig>
  readonly progress: Progress
  readonly budget: RunBudget
  readonly skills: ActiveSkills
  readonly files: RunFiles
  #config: RunConfig
  #counts: RunCounts
  #storedBytes: number
  /** Tool calls that do not count towards `callsPerRun`: those for earlier messages, or in earlier executions. */
  #uncountedCalls = 0

  /** @param about summary of the run, if the Temporal UI does not show it */
  constructor(
    kind: RunKind,
    identity: RunIdentity,
    state: Pick<RunDataState, 'config'> & Partial<RunDataState>,
    about?: string,
  ) {
    this.kind = kind
    this.identity = identity
    this.progress = new Progress(about)
    this.tools = new Map(state.config.tools.map((tool) => [tool.name, tool]))
    this.#config = state.config
    this.#counts = state.counts ?? zeroCounts
    this.#storedBytes = state.storedBytes ?? 0
    this.skills = new ActiveSkills(state.config.skills, state.skills)
    this.files = new RunFiles(state.config.files, state.files)
    this.budget = new RunBudget(() => this.#counts, state.config.budget, state.budget)
  }

  get config(): RunConfig {
    return this.#config
  }

  get counts(): RunCounts {
    return this.#counts
  }

  get state(): RunDataState {
    const [budget, skills, files] = [this.budget.state, this.skills.state, this.files.state]
    return {
      config: this.#config,
      counts: this.#counts,
      storedBytes: this.#storedBytes,
      ...defined({ budget, skills, files }),
    }
  }

  /** True when Anthropic executes the code of the run. */
  get isHosted(): boolean {
    return this.#config.backend === hostedBackend
  }

  /** Whether a budget bounds the run. Code without a model has none. */
  get hasBudget(): boolean {
    return this.kind === 'agent' || this.kind === 'conversation'
  }

  /** How many tool calls `callsPerRun` still allows. */
  get callsLeft(): number {
    return this.#config.limits.callsPerRun - (this.#counts.toolCalls - this.#uncountedCalls)
  }

  /** True when the run has used up its part of the value store. Then no cell and no call starts. */
  get isStorageExhausted(): boolean {
    return this.#storedBytes >= this.#config.limits.storedBytes
  }

  count({ turns = 0, cells = 0, toolCalls = 0 }: Partial<Pick<RunCounts, 'turns' | 'cells' | 'toolCalls'>>): void {
    const counts = this.#counts
    this.#counts = {
      ...counts,
      turns: counts.turns + turns,
      cells: counts.cells + cells, // invariant 2
      toolCalls: counts.toolCalls + toolCalls,
    }
  }

  /** Adds the tokens and the cost of a model reply. */
  countReply({ usage, costUsd }: Pick<ModelReply, 'usage' | 'costUsd'>): void {
    const counts = this.#counts
    const cost = counts.costUsd === null || costUsd === null ? null : counts.costUsd + costUsd
    this.#counts = { ...counts, usage: addUsage(counts.usage, usage), costUsd: cost }
  }

  /** Adds the usage of a sub-agent that has ended, and closes its lease. */
  settleLease(key: string, counts: RunCounts): void {
    this.#counts = addSubagentCounts(this.#counts, counts)
    this.budget.closeLease(key)
  }

  /** `callsPerRun` counts only the calls after this number. */
  limitCallsAfter(toolCalls: number): void {
    this.#uncountedCalls = toolCalls
  }

  addStoredBytes(bytes: number): void {
    this.#storedBytes += bytes
  }

  useModel(model: RunConfig['model']): void {
    // Invariant 1.
    this.#config = { ...this.#config, model }
  }

  /**
   * Returns without an error when the run can have the uploads.
   *
   * @param what refuses them, such as `the conversation`
   * @throws ApplicationFailure RUN_INPUT_INVALID
   */
  requireUploads(uploads: unknown, what: string): void {
    const problem = this.files.problemOf(uploads, this.#config.limits.tmpBytes)
    if (problem !== undefined) throw rejection('RUN_INPUT_INVALID', `${what} refuses the files: ${problem}`)
  }

  /** Adds uploads. Others may have come since they were accepted. @throws ApplicationFailure RUN_INPUT_INVALID */
  addUploads(uploads: readonly StoredFile[], what: string): void {
    this.requireUploads(uploads, what)
    this.files.add(uploads)
  }

  /** @throws ApplicationFailure RUN_INPUT_INVALID when the run has no sandbox for code that is not written by a model */
  requireSandbox(): void {
    if (this.isHosted)
      throw rejection(
        'RUN_INPUT_INVALID',
        `the sandbox ${hostedBackend} only executes the code of agents: choose another`,
      )
  }
}
