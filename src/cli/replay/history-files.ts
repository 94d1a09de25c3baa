import { readFile } from 'node:fs/promises'
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js'
import { z } from 'zod'
import { messageOf, PtcError } from '../../common/errors.js'
import { decodeText } from '../../common/text/decode-text.js'
import type { NamedHistory } from '../run/check-histories.js'

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
