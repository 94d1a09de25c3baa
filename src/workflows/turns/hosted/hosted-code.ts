/*
 * Hosted code: the code of an agent that Anthropic executes.
 *
 * Owns: the container, the server tool uses that have no result yet, the numbers of their calls, and the end of code
 * that gets its results too late.
 * Boundary: pure functions over a state that `message-history.ts` keeps. `execute-tool-uses.ts` executes the calls, and
 * activity `model.turn` sends the container and ends lost code.
 *
 * Invariants:
 * 1. While code waits, the next request has its container, and its user message contains only results.
 * 2. Code is lost when its container expires, or when a message interrupts it: its server tool uses end with an error,
 *    and the model reads which calls it had made. A result is never sent to code that may have given it up.
 * 3. A lost container is not sent again, so a turn is repeated at most once for it.
 */

import {
  codeCallerOf,
  codeExecutionTool,
  endedServerToolUses,
  type HostedTurn,
  type LostCode,
  type ServerToolUse,
  serverToolUses,
} from '../../../common/agent/hosted-code.js'
import type { CodeContainer, ModelReply, PendingBlock, ToolUseBlock } from '../../../common/agent/messages.js'
import { defined } from '../../../common/defined.js'

interface OpenUse extends ServerToolUse {
  /** Number of its cell; 0 when it can make no calls. */
  readonly cell: number
  readonly calls: number
}

/** Hosted code between two turns. */
export interface HostedCodeState {
  readonly container?: CodeContainer
  readonly open: readonly OpenUse[]
  /** Code that was lost. The next turn ends it. */
  readonly lost?: LostCode
  /**
   * Number of turns that only continued code, since the last message of a person. They do not count towards
   * `limits.turns`.
   */
  readonly freeTurns: number
}

export const noHostedCode: HostedCodeState = { open: [], freeTurns: 0 }

/** The position of a call in its run: its cell, and its number in the cell. */
export interface HostedCallPosition {
  readonly cell: number
  readonly index: number
}

/**
 * Returns the state after a reply that entered the history, and the number of cells that the reply began.
 *
 * @param cellsBefore number of cells of the run before the reply
 */
export function afterReply(
  { container, open, freeTurns }: HostedCodeState,
  reply: ModelReply,
  cellsBefore: number,
): { readonly state: HostedCodeState; readonly cells: number } {
  const ended = new Set(endedServerToolUses(reply.content))
  let cells = 0
  const begun = serverToolUses(reply.content).map(({ id, name }): OpenUse => {
    if (name === codeExecutionTool) cells += 1
    return { id, name, cell: name === codeExecutionTool ? cellsBefore + cells : 0, calls: 0 }
  })
  const latest = reply.container ?? container
  const stillOpen = [...open, ...begun].filter(({ id }) => !ended.has(id))
  return { state: { ...defined({ container: latest }), open: stillOpen, freeTurns }, cells }
}

/** Numbers the calls of code among these tool uses, by tool_use id. */
export function numberCalls(
  state: HostedCodeState,
  uses: readonly ToolUseBlock[],
): { readonly state: HostedCodeState; readonly positions: Readonly<Record<string, HostedCallPosition>> } {
  const positions: Record<string, HostedCallPosition> = {}
  const open = state.open.map((use) => {
    const calls = uses.filter((call) => codeCallerOf(call) === use.id)
    for (const [position, { id }] of calls.entries())
      positions[id] = { cell: use.cell, index: use.calls + position + 1 }
    return { ...use, calls: use.calls + calls.length }
  })
  return { state: { ...state, open }, positions }
}

/**
 * Gives up code that can't continue: its container has expired, or a message arrived while it waited.
 *
 * @param pending blocks of the next user message
 * @param now milliseconds since the epoch
 */
export function endStaleCode(state: HostedCodeState, pending: readonly PendingBlock[], now: number): HostedCodeState {
  if (state.open.length === 0) return state
  const { expiresAt = null } = state.container ?? {}
  if (expiresAt !== null && Date.parse(expiresAt) <= now) return loseContainer(state, 'expired') // invariant 2
  return pending.some(({ type }) => type !== 'tool_result') ? loseContainer(state, 'message') : state
}

/** Gives up the container, and the code in it. */
export function loseContainer({ open, freeTurns }: HostedCodeState, reason: LostCode['reason']): HostedCodeState {
  return { open: [], freeTurns, lost: { uses: open.map(({ id, name }) => ({ id, name })), reason } } // invariant 3
}

/** Returns the part of the argument of activity `model.turn` about hosted code. */
export function hostedTurn({ container, lost }: HostedCodeState): HostedTurn {
  return defined({ container, lost }) // invariant 1
}
