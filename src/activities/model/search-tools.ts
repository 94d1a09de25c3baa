import { z } from 'zod'
import { searchToolsTool } from '../../common/names.js'
import type { EngineToolResult, SearchToolsInput } from '../../common/runs/model-turn.js'
import { findTools, renderFoundStubs } from '../../tools/search-tools.js'
import { loadDocumentation } from '../run/tool-set.js'
import { type ActivityParts, runActivity } from '../run-activity.js'

const schema = z.object({ query: z.string() })

/** Activity `tool.search`: finds the documentation of tools that code can call, for the model. */
export function searchTools({ registry, values }: ActivityParts) {
  return ({ tools: runTools, input }: SearchToolsInput): Promise<EngineToolResult> =>
    runActivity(async ({ signal }) => {
      const { data } = schema.safeParse(await values.load(input, 'the input of a tool', signal))
      if (!data) return { text: '', note: `${searchToolsTool} takes {"query": "..."}`, isError: true }
      const documentation = await loadDocumentation(runTools, registry, values, signal)
      const tools = documentation.filter(({ allowedCallers }) => allowedCallers.includes('code_execution'))
      const { found, others } = findTools(tools, data.query)
      if (found.length === 0) return { text: '', note: 'No tool matches. Search by a name of the list.', isError: true }
      const stubs = renderFoundStubs(tools, found)
      return {
        text: await values.externalize(stubs, signal),
        note: others.length === 0 ? '' : `(These match, too: ${others.join(', ')})`,
        isError: false,
      }
    })
}
