import { inputFolder, outputFolder } from '../../common/files/files.js'
import { executeCodeTool } from '../../common/names.js'
import { describeSessions, type FurtherSession, languagesOfAll, sessionProperty } from './further-sessions.js'
import type { ModelTool } from '../provider.js'
import type { Environment, EnvironmentLimits, Language, ToolsOptions } from '../../languages/index.js'

const filesGuidance = `\
Files of the user are in ${inputFolder}. What your code leaves in ${outputFolder} is given to the user when a cell ends, \
and images there are shown to you: write results that are files there.`

const environmentGuidance =
  'Programs have the tools for files as a command: `environment grep pattern=TODO path=src`, `environment --help`.'

interface CodeToolOptions {
  readonly hasFiles?: boolean | undefined
  /** The model has tools for files, too. */
  readonly hasEnvironment?: boolean | undefined
  /** The further sandboxes of the run. Default: none. */
  readonly sessions?: readonly FurtherSession[] | undefined
}

/**
 * The tool `execute_code`, with which the model runs code.
 *
 * @param stubs the tools that code can call, as functions
 */
export function codeTool(
  language: Language,
  stubs: readonly string[],
  limits: EnvironmentLimits,
  { hasFiles, hasEnvironment, sessions = [], ...options }: Environment & ToolsOptions & CodeToolOptions = {},
): ModelTool {
  const names = [...languagesOfAll(language, sessions)]
  const own = { language, environment: options, example: options.example }
  return {
    name: executeCodeTool,
    description: [
      language.describeEnvironment(limits, options),
      ...(hasFiles === true ? [filesGuidance] : []),
      ...(hasEnvironment === true ? [environmentGuidance] : []),
      language.describeTools(stubs, options),
      ...(sessions.length > 0 ? [describeSessions(sessions, own)] : []),
    ].join('\n\n'),
    inputSchema: {
      type: 'object',
      properties: {
        ...sessionProperty(sessions),
        ...(names.length > 1 && { language: { type: 'string', enum: names } }),
        code: { type: 'string' },
      },
      required: ['code'],
      additionalProperties: false,
    },
    inputExamples: [],
  }
}
