import type { StreamEvent } from '../../stream/index.js'
import { describeCompaction, type Draft } from '../rendering/index.js'
import { drafts } from '../run/drafts.js'

const redrawMs = 100

interface Shown {
  readonly setDraft: (draft: Draft | undefined) => void
  readonly printLine: (line: string) => void
}

/**
 * Shows what the model writes for a message, and when the messages before it are compacted. Never rejects: the answer
 * has everything that counts.
 *
 * @param id of the message
 * @param signal ends the display and the stream
 */
export async function showDrafts(
  stream: AsyncIterable<StreamEvent>,
  id: string,
  { setDraft, printLine }: Shown,
  signal: AbortSignal,
): Promise<void> {
  let latest: Draft | undefined
  let shown: Draft | undefined
  const redraw = (): void => {
    if (latest !== shown && !signal.aborted) setDraft((shown = latest))
  }
  const timer = setInterval(redraw, redrawMs)
  try {
    for await (latest of drafts(printCompactions(stream, id, printLine), ({ message }) => message === id));
  } catch {
    // The stream ended with the answer, or its store does not answer.
  } finally {
    clearInterval(timer)
    setDraft(undefined)
  }
}

async function* printCompactions(
  stream: AsyncIterable<StreamEvent>,
  id: string,
  printLine: (line: string) => void,
): AsyncGenerator<StreamEvent, void, undefined> {
  for await (const event of stream) {
    if (event.type === 'compaction.completed' && event.message === id)
      printLine(`› compaction: ${describeCompaction(event)}`)
    yield event
  }
}
