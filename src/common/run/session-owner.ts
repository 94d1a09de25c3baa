import type { BackendChoice } from './run-config.js'

/** The run that owns the session of a sub-agent. */
export interface SandboxOwner {
  readonly workflowId: string
  /** Idempotency key of the call of the run, by which the run knows the sub-agent and its sub-agents. */
  readonly key: string
}

/** The owner of the session that executes the code of a run which has no session itself. */
export type SessionOwner =
  /** A named session of the task queue of the run. */
  | {
      readonly type: 'named'
      readonly name: string
      /** The backend that the run asked for. Undefined: any. */
      readonly sandbox?: BackendChoice
    }
  /** The session of the run that started this run as a sub-agent, or of the owner of that session. */
  | ({ readonly type: 'parent' } & SandboxOwner)
