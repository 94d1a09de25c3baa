import type { ModelRequest, ModelTool } from '../provider.js'

/**
 * The system prompt, with the tools as text for models whose template ignores `tools`: they would read nothing of what
 * they can do.
 */
export function withDescribedTools({ system, tools }: Pick<ModelRequest, 'system' | 'tools'>): string {
  return [system, describeTools(tools)].filter((part) => part.trim() !== '').join('\n\n')
}

function describeTools(tools: readonly ModelTool[]): string {
  if (tools.length === 0) return ''
  const described = tools.map(
    (tool) =>
      `## ${tool.name}\n\n${describeWithExamples(tool)}\n\nArguments, as JSON Schema: ${JSON.stringify(tool.inputSchema)}`,
  )
  return ['# Tools', 'You have these tools. Use them by tool calls.', ...described].join('\n\n')
}

/** The description of a tool with its examples, for an API that has no field for them. */
export function describeWithExamples({ description, inputExamples }: ModelTool): string {
  const examples = inputExamples.map((example) => `\n${JSON.stringify(example)}`).join('')
  return examples === '' ? description : `${description}\n\nExamples of arguments:${examples}`
}
