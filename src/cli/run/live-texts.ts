import type { StreamEvent } from '../../stream/index.js'
import type { LiveText } from '../rendering/progress/live-text.js'

type BlockText = LiveText & { readonly block?: number }

/** After `output.delta`, the tree of the run has the printed text. */
const endTypes: ReadonlySet<StreamEvent['type']> = new Set([
  'turn.completed',
  'turn.failed',
  'reset',
  'output.delta',
  'cell.completed',
  'cell.failed',
])

/**
 * The text that the model is writing, and the output of running code, from the events of a live stream. Undefined while
 * there is neither.
 */
export async function* liveTexts(
  events: AsyncIterable<StreamEvent>,
  isShown: (event: StreamEvent & { readonly type: 'turn.started' }) => boolean = () => true,
): AsyncGenerator<LiveText | undefined, void, undefined> {
  let liveText: BlockText | undefined
  let shows = true
  for await (const event of events) {
    if (event.type === 'turn.started') shows = isShown(event)
    if (!shows) continue
    if (event.type === 'text.delta' || event.type === 'code.delta') {
      const { type, block, text } = event
      const earlier = liveText?.block === block ? liveText.text : ''
      liveText = { type: type === 'text.delta' ? 'text' : 'code', block, text: earlier + text }
    } else if (event.type === 'output.preview') {
      liveText = { type: 'output', text: event.text }
    } else if (endTypes.has(event.type)) {
      liveText = undefined
    }
    yield liveText
  }
}
