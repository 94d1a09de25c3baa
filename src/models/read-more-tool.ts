import { readMoreTool } from '../common/names.js'
import type { ModelTool } from './provider.js'

/**
 * The tool with which the model reads the rest of a result that was cut. Every request has it, also before a result was
 * cut: another list of tools would void the prompt cache, and the thinking of earlier replies.
 */
export const readMoreOfResult: ModelTool = {
  name: readMoreTool,
  description:
    'Reads a page of a result of which only a part was returned, or which was shortened since. The note at the end of ' +
    'the result has its id. Prefer code: what a tool returned to your code is still there in a variable, whole.',
  inputSchema: {
    type: 'object',
    properties: {
      id: { type: 'string', description: 'The id in the note.' },
      offset: { type: 'integer', minimum: 0, description: 'Characters before the page. Default 0.' },
    },
    required: ['id'],
    additionalProperties: false,
  },
  inputExamples: [],
}

/** The note at the end of a result of which the model gets a part. */
export function cutNote(id: string): string {
  return `(Not the whole result: ${readMoreTool}({"id": ${JSON.stringify(id)}, "offset": 0}) reads it in pages.)`
}
