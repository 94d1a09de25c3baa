import { z } from 'zod'
import type { JsonObject } from '../common/json/json.js'
import { defineTool } from './define-tool.js'
import type { Duration } from '../common/text/duration.js'
import type { CallingRun } from './tool-context.js'
import type { Tool } from './tool.js'

/** A question of a model or its code. */
export interface HumanQuestion {
  readonly question: string
  readonly run: CallingRun
  /** The `context` with which the run was started. `{}` for a run without one. */
  readonly context: JsonObject
  /**
   * Token that completes only this question: `ptc.completeCall(token, 'an answer')`, `ptc answer TOKEN 'an answer'`.
   */
  readonly token: string
  /** Stays the same when the hook is called again. */
  readonly idempotencyKey: string
}

export interface AskHumanOptions {
  /** Default `ask_human`. */
  readonly name?: string
  /** Time without an answer after which the code gets a `ToolTimedOut`. Default 7 days. */
  readonly expires?: Duration
  /**
   * Tells people of a question. It is called at least once for each question, and again when it throws. Default: no
   * notification; `ptc approvals` shows the questions.
   */
  readonly onQuestion?: (question: HumanQuestion, signal: AbortSignal) => void | Promise<void>
}

/**
 * A tool that asks a person a question, and returns the answer as text. A call may wait for days, and uses no worker
 * slot meanwhile.
 */
export function askHuman({ name = 'ask_human', expires = '7d', onQuestion }: AskHumanOptions = {}): Tool {
  return defineTool({
    name,
    description:
      'Asks a person a question, and returns the answer as text. It may take days: ask only what no other tool knows.',
    input: z.object({ question: z.string().min(1).max(10_000) }),
    output: z.string(),
    allowedCallers: ['direct', 'code_execution'],
    effect: 'idempotent',
    deferred: { expires },
    summary: ({ question }) => question,
    run: ({ question }, { run, context, completionToken: token, idempotencyKey, signal }) =>
      onQuestion?.({ question, run, context, token, idempotencyKey }, signal),
  }) as Tool
}
