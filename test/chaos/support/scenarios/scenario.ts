import type { WorkflowHandle } from '@temporalio/client'
import type { Failpoint } from '../../../../src/common/failpoint.js'
import type { Script } from '../../../../src/testing/index.js'
import type { History } from '../../../support/environment/histories.js'
import type { ProcessEnvironment } from '../../../support/environment/test-environment.js'
import type { Ledger } from '../../../support/ledger.js'

/** A run of the chaos tests, the actions of people and other services for it, and the expectations at its end. */
export interface Scenario {
  readonly name: string
  readonly script: Script
  /** Path of the configuration of the workers. */
  readonly config: string
  /** Environment variables that the configuration reads. */
  readonly environment: NodeJS.ProcessEnv
  /** Names of effects whose replies the ledger holds from the beginning. The scenario releases them. */
  readonly heldEffects: readonly string[]
  /** Names of the effects that must be applied, in the order of their requests if they have one. */
  readonly effects: readonly string[]
  /** Number of effects that come when the sandbox has no more work, or too late for a fault. */
  readonly lastEffects: number
  /** The minimum number of hits of each failpoint in a run without faults. 0: only hit after a fault, or never. */
  readonly minimumHits: Readonly<Record<Failpoint, number>>
  start(services: ScenarioServices): Promise<WorkingScenario>
  /**
   * @param ledger of the run that has ended
   * @param isComplete whether there was no fault
   */
  expected(result: ScenarioResult, ledger: Ledger, isComplete: boolean): ExpectedEnd
  /** Checks the special expectations for the histories. */
  expectHistories(histories: RunHistories, isRandom: boolean): void
}

export interface ScenarioServices {
  readonly env: ProcessEnvironment
  readonly ledger: Ledger
  /** Must be called at these moments, at which a fault may strike. */
  readonly during: (moment: Moment) => Promise<void>
}

/**
 * `pause`: the budget pauses the run. `approval`: a call waits for approval, the sandbox is parked, and a sub-agent
 * works. `compensation`: the first compensation has had its effect.
 */
export type Moment = 'pause' | 'approval' | 'compensation'

export interface WorkingScenario {
  readonly handle: WorkflowHandle
  /** Settles when the run has ended, and all other participants have finished. */
  readonly result: Promise<ScenarioResult>
  /** The run is reset, which ends a live stream that is being read. */
  readonly isReset?: boolean
}

/** Result of a run, or of a message of a conversation. */
export interface ScenarioResult {
  readonly answer: string
}

export interface ExpectedEnd {
  /** Effects that are applied exactly once. There are no others. */
  readonly effects: readonly string[]
  readonly result: object
  /** End of the live stream. */
  readonly end: { readonly status: string; readonly outcome?: string }
  /** The texts of the model, turn by turn. */
  readonly texts: readonly string[]
  /** The texts of the sub-agents, all of which answer. */
  readonly childTexts?: readonly string[]
  /** Number of recorded turns of the model, including those of sub-agents. */
  readonly turns: number
  /** Number of paid replies of the model in a run without faults. */
  readonly replies: number
  /** Whether a fault of the report may lose a reply of the model. */
  readonly mayLoseReply: (fault: string) => boolean
}

/** The executions of a run, and of each of its sub-agents. */
export interface RunHistories {
  readonly chain: readonly History[]
  readonly children: readonly (readonly History[])[]
}
