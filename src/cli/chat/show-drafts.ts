import type { StreamEvent } from '../../stream/index.js'
import type { Draft } from '../rendering/index.js'
import { drafts } from '../run/drafts.js'

const redrawMs = 100

/**
 * Shows what the model writes for a message. Never rejects: the answer has what counts.
 *
 * @param id of the message
 * @param signal ends it, and the stream
 */
export async function showDrafts(
  stream: AsyncIterable<StreamEvent>,
  id: string,
  setDraft: (draft: Draft | undefined) => void,
  signal: AbortSignal,
): Promise<void> {
  let latest: Draft | undefined
  let shown: Draft | undefined
  const redraw = (): void => {
    if (latest !== shown && !signal.aborted) setDraft((shown = latest))
  }
  const timer = setInterval(redraw, redrawMs)
  try {
    for await (latest of drafts(stream, ({ message }) => message === id));
  } catch {
    // The stream ended with the answer, or its store does not answer.
  } finally {
    clearInterval(timer)
    setDraft(undefined)
  }
}
