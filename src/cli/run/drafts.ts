import type { StreamEvent } from '../../stream/index.js'
import type { Draft } from '../rendering/index.js'

type BlockDraft = Draft & { readonly block?: number }

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
export async function* drafts(
  events: AsyncIterable<StreamEvent>,
  isShown: (event: StreamEvent & { readonly type: 'turn.started' }) => boolean = () => true,
): AsyncGenerator<Draft | undefined, void, undefined> {
  let draft: BlockDraft | undefined
  let shows = true
  for await (const event of events) {
    if (event.type === 'turn.started') shows = isShown(event)
    if (!shows) continue
    if (event.type === 'text.delta' || event.type === 'code.delta') {
      const { type, block, text } = event
      const earlier = draft?.block === block ? draft.text : ''
      draft = { type: type === 'text.delta' ? 'text' : 'code', block, text: earlier + text }
    } else if (event.type === 'output.preview') {
      draft = { type: 'output', text: event.text }
    } else if (endTypes.has(event.type)) {
      draft = undefined
    }
    yield draft
  }
}
