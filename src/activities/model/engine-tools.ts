import { z } from 'zod'
import { defaultLanguageName, readMoreTool, searchToolsTool } from '../../common/names.js'
import type { EngineToolResult, ReadMoreInput, SearchToolsInput } from '../../common/agent/model-turn.js'
import { languageOf } from '../../languages/index.js'
import { findTools, renderFoundStubs } from '../../tools/documentation/search-tools.js'
import { readPage } from '../../values/text-parts.js'
import { loadDocumentation } from '../../tools/sources/tool-set.js'
import { type ActivityParts, runActivity } from '../run-activity.js'
import { loadMessages } from './conversation.js'

const pageSchema = z.object({ id: z.string(), offset: z.int().min(0).default(0) })
const querySchema = z.object({ query: z.string() })

/**
 * Activity `result.page`: reads a page of a truncated result for the model. It reads only results in the same messages.
 */
export function readMore({ values }: Pick<ActivityParts, 'values'>) {
  return ({ history, input, limit }: ReadMoreInput): Promise<EngineToolResult> =>
    runActivity(async ({ signal }) => {
      const { data } = pageSchema.safeParse(await values.load(input, 'the input of a tool', signal))
      if (!data) return failed(`${readMoreTool} takes {"id": "...", "offset": 0}`)
      const { id, offset } = data
      const messages = await loadMessages(values, history, signal)
      const parts = messages.flatMap(({ whole }) => (whole && Object.hasOwn(whole, id) ? [whole[id] ?? []] : [])).at(-1)
      if (!parts) return failed(`the result ${JSON.stringify(id)} no longer exists: run the code again`)
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

/** Activity `tool.search`: finds the documentation of tools that code can call, for the model. */
export function searchTools({ registry, values }: ActivityParts) {
  return ({ tools: runTools, input }: SearchToolsInput): Promise<EngineToolResult> =>
    runActivity(async ({ signal }) => {
      const { data } = querySchema.safeParse(await values.load(input, 'the input of a tool', signal))
      if (!data) return failed(`${searchToolsTool} takes {"query": "..."}`)
      const documentation = await loadDocumentation(runTools, registry, values, signal)
      const tools = documentation.filter(({ allowedCallers }) => allowedCallers.includes('code_execution'))
      const { found, others } = findTools(tools, data.query)
      if (found.length === 0) return failed('No tool matches. Search by a name of the list.')
      const stubs = renderFoundStubs(tools, found, languageOf(runTools.language ?? defaultLanguageName))
      return {
        text: await values.externalize(stubs, signal),
        note: others.length === 0 ? '' : `(These match, too: ${others.join(', ')})`,
        isError: false,
      }
    })
}

function failed(note: string): EngineToolResult {
  return { text: '', note, isError: true }
}
