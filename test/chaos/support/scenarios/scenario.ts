import type { WorkflowHandle } from '@temporalio/client'
import type { Failpoint } from '../../../../src/common/failpoint.js'
import type { Script } from '../../../../src/testing/index.js'
import type { History } from '../../../support/environment/histories.js'
import type { ProcessEnvironment } from '../../../support/environment/test-environment.js'
import type { Ledger } from '../../../support/ledger.js'

/** A run of the chaos tests, with what people and other services do for it, and what must be true of it at its end. */
export interface Scenario {
  readonly name: string
  readonly script: Script
  /** Path of the configuration of the workers. */
  readonly config: string
  /** Environment variables that the configuration reads. */
  readonly environment: NodeJS.ProcessEnv
  /** Names of effects whose replies the ledger holds from the beginning. The scenario releases them. */
  readonly heldEffects: readonly string[]
  /** Names of the effects that must be applied, in the order of their requests where there is one. */
  readonly effects: readonly string[]
  /** How many of them come when the sandbox has no more work, or too late for a fault. */
  readonly lastEffects: number
  /** The minimum number of hits of each failpoint in a run without faults. 0: only hit after a fault, or never. */
  readonly minimumHits: Readonly<Record<Failpoint, number>>
  start(services: ScenarioServices): Promise<WorkingScenario>
  /**
   * @param ledger of the run that has ended
   * @param isComplete there was no fault
   */
  expected(result: ScenarioResult, ledger: Ledger, isComplete: boolean): ExpectedEnd
  /** Expects what is special about the histories. */
  expectHistories(histories: RunHistories, isRandom: boolean): void
}

export interface ScenarioServices {
  readonly env: ProcessEnvironment
  readonly ledger: Ledger
  /** To be called at these moments: a fault may strike. */
  readonly during: (moment: Moment) => Promise<void>
}

/**
 * `pause`: the budget pauses the run. `approval`: a call waits for approval, the sandbox is parked, and a sub-agent
 * works. `compensation`: the first compensation has had its effect.
 */
export type Moment = 'pause' | 'approval' | 'compensation'

export interface WorkingScenario {
  readonly handle: WorkflowHandle
  /** Settles when the run has ended, and everybody else has done their part. */
  readonly result: Promise<ScenarioResult>
  /** The run is reset, which ends a live stream that is read meanwhile. */
  readonly isReset?: boolean
}

/** Of a run, or of a message of a conversation. */
export interface ScenarioResult {
  readonly answer: string
}

export interface ExpectedEnd {
  /** Each is applied exactly once, and no other. */
  readonly effects: readonly string[]
  readonly result: object
  /** End of the live stream. */
  readonly end: { readonly status: string; readonly outcome?: string }
  /** What the model writes, turn by turn. */
  readonly texts: readonly string[]
  /** The same for the sub-agents, all of which answer. */
  readonly childTexts?: readonly string[]
  /** Recorded turns of the model, sub-agents included. */
  readonly turns: number
  /** Replies of the model that a run without faults pays. */
  readonly replies: number
  /** True when a fault, as in the report, may lose a reply of the model. */
  readonly mayLoseReply: (fault: string) => boolean
}

/** The executions of a run, and of each of its sub-agents. */
export interface RunHistories {
  readonly chain: readonly History[]
  readonly children: readonly (readonly History[])[]
}
