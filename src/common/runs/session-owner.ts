import type { BackendChoice } from './run-config.js'

/** The run whose session a sub-agent uses. */
export interface SandboxOwner {
  readonly workflowId: string
  /** Idempotency key of the call of the run, by which the run knows the sub-agent and its sub-agents. */
  readonly key: string
}

/** Whose session executes the code of a run, in place of a session of its own. */
export type SessionOwner =
  /** A named session of the task queue of the run. */
  | {
      readonly type: 'named'
      readonly name: string
      /** The backend that the run asked for. Undefined: any. */
      readonly sandbox?: BackendChoice
    }
  /** The session of the run that started this one as a sub-agent, or of that run's owner. */
  | ({ readonly type: 'parent' } & SandboxOwner)
