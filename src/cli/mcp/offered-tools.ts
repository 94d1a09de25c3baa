import { toolNamesOf, withoutClones } from '../../agents/index.js'
import type { OpenTools } from '../../config/configured-tools.js'
import { type EnvironmentLimits, languageOf } from '../../languages/index.js'
import { buildPrompt, type SandboxDescription } from '../../models/prompt/prompt.js'
import type { OfferedTools } from '../../serve/mcp/index.js'
import { findTools, renderFoundStubs } from '../../tools/documentation/search-tools.js'
import type { ToolRegistry } from '../../tools/registry.js'

interface OfferOptions extends SandboxDescription {
  readonly limits: EnvironmentLimits
  /** With more tools than this, a model searches their documentation. */
  readonly documentedTools: number
}

/** The tools of a configuration as a model of ours gets them. */
export function offeredTools(
  { registry, agents }: { readonly registry: ToolRegistry; readonly agents: Pick<OpenTools['agents'], 'names'> },
  { limits, documentedTools, ...sandbox }: OfferOptions,
): OfferedTools {
  // Runs of the server have no model of their own that could start sub-agents.
  const documentation = registry.subset(withoutClones(registry, toolNamesOf(registry, undefined))).documentation()
  const toolSearch = documentation.length > documentedTools
  const language = languageOf(registry.language)
  const { tools } = buildPrompt({ language, tools: documentation, limits, ...sandbox, toolSearch })
  const callable = documentation.filter(({ allowedCallers }) => allowedCallers.includes('code_execution'))
  return {
    tools: tools.map(({ name, description, inputSchema }) => {
      const { outputSchema, effect } = registry.get(name) ?? {}
      return { name, description, inputSchema, outputSchema, effect }
    }),
    agents: agents.names,
    outputCharacters: limits.outputCharacters,
    search(query) {
      const { found, others } = findTools(callable, query)
      if (found.length === 0) return 'No tool matches. Search by a name of the list.'
      const more = others.length === 0 ? '' : `\n\n(These match, too: ${others.join(', ')})`
      return `${renderFoundStubs(callable, found, language)}${more}`
    },
  }
}
