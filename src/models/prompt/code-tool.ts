import { executeCodeTool } from '../../common/names.js'
import type { ModelTool } from '../provider.js'
import { defaultLanguage, type Environment, type EnvironmentLimits, type ToolsOptions } from '../../languages/index.js'

/**
 * The tool `execute_code`, with which the model runs code.
 *
 * @param stubs the tools that code can call, as functions
 */
export function codeTool(
  stubs: readonly string[],
  limits: EnvironmentLimits,
  options: Environment & ToolsOptions = {},
): ModelTool {
  const environment = defaultLanguage.describeEnvironment(limits, options)
  return {
    name: executeCodeTool,
    description: [environment, defaultLanguage.describeTools(stubs, options)].join('\n\n'),
    inputSchema: {
      type: 'object',
      properties: { code: { type: 'string' } },
      required: ['code'],
      additionalProperties: false,
    },
    inputExamples: [],
  }
}
