import type { StreamEvent } from '../../stream/index.js'
import type { Draft } from '../rendering/index.js'

type BlockDraft = Draft & { readonly block: number }

/** What the model is writing, as the events of a live stream say it; undefined while it writes nothing. */
export async function* drafts(
  events: AsyncIterable<StreamEvent>,
  isShown: (event: StreamEvent & { readonly type: 'turn.begins' }) => boolean = () => true,
): AsyncGenerator<Draft | undefined, void, undefined> {
  let draft: BlockDraft | undefined
  let shows = true
  for await (const event of events) {
    if (event.type === 'turn.begins') shows = isShown(event)
    if (!shows) continue
    if (event.type === 'text' || event.type === 'code') {
      const { type, block, text } = event
      const earlier = draft?.block === block ? draft.text : ''
      draft = { type, block, text: earlier + text }
    } else if (event.type === 'turn.ends' || event.type === 'turn.fails' || event.type === 'reset') {
      draft = undefined
    }
    yield draft
  }
}
