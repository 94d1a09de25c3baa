import { inputFolder, outputFolder } from '../../common/files/files.js'
import { executeCodeTool } from '../../common/names.js'
import { codeLanguagesOf } from '../../common/run/environment.js'
import type { ModelTool } from '../provider.js'
import type { Environment, EnvironmentLimits, Language, ToolsOptions } from '../../languages/index.js'

const filesGuidance = `\
Files of the user are in ${inputFolder}. What your code leaves in ${outputFolder} is given to the user when a cell ends, \
and images there are shown to you: write results that are files there.`

/**
 * The tool `execute_code`, with which the model runs code.
 *
 * @param stubs the tools that code can call, as functions
 */
export function codeTool(
  language: Language,
  stubs: readonly string[],
  limits: EnvironmentLimits,
  { hasFiles, ...options }: Environment & ToolsOptions & { readonly hasFiles?: boolean | undefined } = {},
): ModelTool {
  const names = [...codeLanguagesOf(language.name)]
  return {
    name: executeCodeTool,
    description: [
      language.describeEnvironment(limits, options),
      ...(hasFiles === true ? [filesGuidance] : []),
      language.describeTools(stubs, options),
    ].join('\n\n'),
    inputSchema: {
      type: 'object',
      properties: {
        ...(names.length > 1 && { language: { type: 'string', enum: names } }),
        code: { type: 'string' },
      },
      required: ['code'],
      additionalProperties: false,
    },
    inputExamples: [],
  }
}
