import type { ModelTool } from '../provider.js'
import { describeWithExamples } from './describe-examples.js'

/** The tools as text, for models whose template ignores `tools`. Without it they would not know their tools. */
export function describeTools(tools: readonly ModelTool[]): string {
  if (tools.length === 0) return ''
  const described = tools.map(
    (tool) =>
      `## ${tool.name}\n\n${describeWithExamples(tool)}\n\nArguments, as JSON Schema: ${JSON.stringify(tool.inputSchema)}`,
  )
  return ['# Tools', 'You have these tools. Use them by tool calls.', ...described].join('\n\n')
}
