import type { DataConverter } from '@temporalio/common'
import { messageOf } from '../../common/errors.js'
import { installRuntime, replayHistories } from '../../worker/index.js'

/** The result of replaying one history. */
export interface CheckedHistory {
  /** Workflow id and run id, or the name of a file. */
  readonly id: string
  readonly events: number
  /** Undefined when the history replays. */
  readonly problem: string | undefined
}

/** A history and its name in the report. */
export interface NamedHistory {
  readonly id: string
  readonly workflowId: string
  readonly history: { readonly events: readonly object[] }
}

/**
 * Replays histories on the installed workflow code.
 *
 * @throws the signal's reason
 */
export async function checkHistories(
  histories: AsyncIterable<NamedHistory> | Iterable<NamedHistory>,
  dataConverter: DataConverter,
  signal: AbortSignal,
): Promise<readonly CheckedHistory[]> {
  // The results contain what the SDK logs.
  installRuntime('ERROR', () => undefined)
  const results: CheckedHistory[] = []
  let current: NamedHistory | undefined
  async function* tracked(): AsyncGenerator<NamedHistory, void, undefined> {
    for await (const history of histories) {
      signal.throwIfAborted()
      current = history
      yield history
    }
  }
  for await (const { workflowId, error } of replayHistories(tracked(), dataConverter)) {
    const events = current?.history.events.length ?? 0
    results.push({ id: current?.id ?? workflowId, events, problem: error && firstLine(error) })
  }
  return results
}

function firstLine(error: Error): string {
  return messageOf(error).split('\n')[0] ?? ''
}
