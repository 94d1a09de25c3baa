import type { DataConverter } from '@temporalio/common'
import { messageOf } from '../../common/errors.js'
import { installRuntime, replayHistories } from '../../worker/index.js'

/** How one history replayed. */
export interface CheckedHistory {
  /** Workflow id and run id, or the name of a file. */
  readonly id: string
  readonly events: number
  /** Undefined: it replays. */
  readonly problem: string | undefined
}

/** A history with the name under which it is reported. */
export interface NamedHistory {
  readonly id: string
  readonly workflowId: string
  readonly history: { readonly events: readonly object[] }
}

/** Replays histories on the installed workflow code. @throws the signal's reason */
export async function checkHistories(
  histories: AsyncIterable<NamedHistory> | Iterable<NamedHistory>,
  dataConverter: DataConverter,
  signal: AbortSignal,
): Promise<readonly CheckedHistory[]> {
  // The results have what the SDK logs.
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
