import { readFile } from 'node:fs/promises'
import type { DataConverter } from '@temporalio/common'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { z } from 'zod'
import { messageOf, PtcError } from '../../common/errors.js'
import { decodeText } from '../../common/text/decode-text.js'
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

/** The SDK reads the other fields. */
const historyFile = z.looseObject({ events: z.array(z.looseObject({ eventId: z.string() })).min(1) })

/**
 * Reads histories in the format of the Temporal CLI and UI.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function readHistoryFiles(paths: readonly string[]): Promise<readonly NamedHistory[]> {
  return Promise.all(paths.map(readHistoryFile))
}

async function readHistoryFile(path: string): Promise<NamedHistory> {
  try {
    const { events } = historyFromJSON(
      historyFile.parse(JSON.parse(decodeText(await readFile(path), path, 'RUN_INPUT_INVALID'))),
    )
    const workflowId = events?.[0]?.workflowExecutionStartedEventAttributes?.workflowId || path
    return { id: path, workflowId, history: { events: events ?? [] } }
  } catch (cause) {
    if (PtcError.isInstance(cause)) throw cause
    const reason = cause instanceof z.ZodError ? z.prettifyError(cause) : messageOf(cause)
    throw new PtcError('RUN_INPUT_INVALID', `${path} is not a history of a workflow: ${reason}`, {
      hint: 'Write one with `temporal workflow show --output json`.',
      cause,
    })
  }
}
