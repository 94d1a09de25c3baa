import type { StreamEvent } from '../../stream/index.js'
import { describeCompaction } from '../rendering/text/compaction.js'
import type { LiveText } from '../rendering/progress/live-text.js'
import { liveTexts } from '../run/live-texts.js'

const redrawMs = 100

interface Shown {
  readonly setLiveText: (liveText: LiveText | undefined) => void
  readonly printLine: (line: string) => void
}

/**
 * Shows what the model writes for a message, and when the messages before it are compacted. Never rejects: the answer
 * has everything that counts.
 *
 * @param id of the message
 * @param signal ends the display and the stream
 */
export async function showLiveText(
  stream: AsyncIterable<StreamEvent>,
  id: string,
  { setLiveText, printLine }: Shown,
  signal: AbortSignal,
): Promise<void> {
  let latest: LiveText | undefined
  let shown: LiveText | undefined
  const redraw = (): void => {
    if (latest !== shown && !signal.aborted) setLiveText((shown = latest))
  }
  const timer = setInterval(redraw, redrawMs)
  try {
    for await (latest of liveTexts(printCompactions(stream, id, printLine), ({ message }) => message === id));
  } catch {
    // The stream ended with the answer, or its store does not answer.
  } finally {
    clearInterval(timer)
    setLiveText(undefined)
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
