import type { CodeRuntimeState } from '../cell/code-runtime.js'
import type { SharedSessionState } from '../shared-session/shared-session.js'
import type { PendingToolUses, SuspendedCell } from './execute-tool-uses.js'
import type { MessageHistoryState } from './message-history.js'

/** The state for the next execution of the continue-as-new chain. */
export interface AgentTurnsState {
  readonly codeRuntime: CodeRuntimeState
  readonly conversation: MessageHistoryState
  /** The tool uses in progress; null between turns. */
  readonly pendingToolUses: PendingToolUses | null
  /** The cell that waits; null when no cell waits. */
  readonly suspendedCell: SuspendedCell | null
  /** Absent: the run has its own session. */
  readonly sharedSession?: SharedSessionState
}

export interface AgentTurnsOptions {
  /** The state of the same run in the execution before this one. */
  readonly state?: AgentTurnsState | undefined
  /**
   * Continues the workflow as new with this state, and then never returns.
   *
   * @param isUpgraded the next execution runs on the version of the worker deployment that new runs get
   */
  readonly continueAsNew: (state: AgentTurnsState, isUpgraded: boolean) => Promise<void>
  /** Called when the next execution is about to begin, and when it does not begin after all. */
  readonly onContinuing?: (isContinuing: boolean) => void
}
