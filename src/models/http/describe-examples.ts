import type { ModelTool } from '../provider.js'

/** The description of a tool with its examples, for an API that has no field for them. */
export function describeWithExamples({ description, inputExamples }: ModelTool): string {
  const examples = inputExamples.map((example) => `\n${JSON.stringify(example)}`).join('')
  return examples === '' ? description : `${description}\n\nExamples of arguments:${examples}`
}
