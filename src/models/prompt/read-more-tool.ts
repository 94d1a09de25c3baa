import { readMoreTool } from '../../common/names.js'
import type { ModelTool } from '../provider.js'

/**
 * The tool with which the model reads the rest of a result that was cut. Every request has it, even before a result was
 * cut: another list of tools would void the prompt cache, and the thinking of earlier replies.
 */
export const readMoreOfResult: ModelTool = {
  name: readMoreTool,
  description: 'Reads a page of a cut result: the note at its end has the id.',
  inputSchema: {
    type: 'object',
    properties: { id: { type: 'string' }, offset: { type: 'integer', minimum: 0 } },
    required: ['id'],
    additionalProperties: false,
  },
  inputExamples: [],
}

/** The note at the end of a result that the model gets only in part. */
export function cutNote(id: string): string {
  return `(Not the whole result: ${readMoreTool}({"id": ${JSON.stringify(id)}, "offset": 0}) reads it in pages.)`
}
