import { z } from 'zod'
import { readMoreTool } from '../../common/names.js'
import type { EngineToolResult, ReadMoreInput } from '../../common/runs/model-turn.js'
import { readPage } from '../../values/text-parts.js'
import { type ActivityParts, runActivity } from '../run-activity.js'
import { loadMessages } from './conversation.js'

const schema = z.object({ id: z.string(), offset: z.int().min(0).default(0) })

/**
 * Activity `result.page`: reads a page of a truncated result for the model. It reads only results in the same messages.
 */
export function readMore({ values }: Pick<ActivityParts, 'values'>) {
  return ({ history, input, limit }: ReadMoreInput): Promise<EngineToolResult> =>
    runActivity(async ({ signal }) => {
      const { data } = schema.safeParse(await values.load(input, 'the input of a tool', signal))
      if (!data) return failed(`${readMoreTool} takes {"id": "...", "offset": 0}`)
      const { id, offset } = data
      const messages = await loadMessages(values, history, signal)
      const parts = messages.flatMap(({ whole }) => (whole && Object.hasOwn(whole, id) ? [whole[id] ?? []] : [])).at(-1)
      if (!parts) return failed(`there is no result ${JSON.stringify(id)} any more: run the code again`)
      const { page, start, hasMore } = await readPage(values, parts, { offset, limit }, signal)
      if (page === '') return failed(`the result has no more than ${offset} characters`)
      const end = start + page.length
      const next = hasMore ? `. ${readMoreTool}({"id": ${JSON.stringify(id)}, "offset": ${end}}) has more` : ', the end'
      return {
        text: await values.externalize(page, signal),
        note: `(characters ${start} to ${end}${next})`,
        isError: false,
      }
    })
}

function failed(note: string): EngineToolResult {
  return { text: '', note, isError: true }
}
