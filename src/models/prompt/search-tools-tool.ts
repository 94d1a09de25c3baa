import { searchToolsTool } from '../../common/names.js'
import type { ModelTool } from '../provider.js'

/** The tool with which the model finds the documentation of tools, when there are too many for every request. */
export const searchTools: ModelTool = {
  name: searchToolsTool,
  description:
    'Returns the documentation of the tools that code can call: parameters, types and result. Search by the names of ' +
    'the tools that you are going to use (several, separated by spaces), or by keywords of what you want to do.',
  inputSchema: {
    type: 'object',
    properties: { query: { type: 'string', description: 'Names of tools, or keywords.' } },
    required: ['query'],
    additionalProperties: false,
  },
  inputExamples: [],
}
