import { outputFolder, sharedFolder } from '../../common/files/files.js'
import { shareFileTool } from '../../common/names.js'
import { codeLanguagesOf } from '../../common/run/environment.js'
import type { JsonObject } from '../../common/json/json.js'
import type { SandboxContents } from '../../common/run/sandbox-image.js'
import type { ModelTool } from '../provider.js'
import { describeGiven, type Environment, type ExampleCall, type Language } from '../../languages/index.js'

/** A further sandbox of a run, for the prompt. */
export interface FurtherSession {
  readonly name: string
  readonly language: Language
  /** What programs find in it. Undefined: unknown. */
  readonly contents?: SandboxContents | undefined
  /** Describes the hosts that its code may reach. Undefined: none. */
  readonly networkDescription?: string | undefined
}

/** The names of the languages of code in any sandbox of the run. */
export function languagesOfAll(own: Language, sessions: readonly FurtherSession[]): readonly string[] {
  return [...new Set([own, ...sessions.map(({ language }) => language)].flatMap(({ name }) => codeLanguagesOf(name)))]
}

/** The property by which a tool names the sandbox. Empty: the run has only its own. */
export function sessionProperty(sessions: readonly FurtherSession[]): JsonObject {
  if (sessions.length === 0) return {}
  return { session: { type: 'string', enum: sessions.map(({ name }) => name), description: 'Default: your own.' } }
}

/** The tool that gives all sandboxes a file of one. */
export function shareFileToolOf(sessions: readonly FurtherSession[]): ModelTool {
  return {
    name: shareFileTool,
    description:
      `Gives a file that code has left in ${outputFolder} of one sandbox, or that a tool has returned, to all of them: it ` +
      `is in ${sharedFolder} before their next code.`,
    inputSchema: {
      type: 'object',
      properties: {
        path: { type: 'string', description: `The file, such as ${outputFolder}/table.csv.` },
        ...sessionProperty(sessions),
      },
      required: ['path'],
      additionalProperties: false,
    },
    inputExamples: [],
  }
}

/** The further sandboxes, in the description of the code tool. */
export function describeSessions(
  sessions: readonly FurtherSession[],
  own: { readonly language: Language; readonly environment: Environment; readonly example?: ExampleCall | undefined },
): string {
  const lines = sessions.map((each) => `- \`${each.name}\`: ${describeSession(each, own)}`)
  return `\
Each \`session\` is another sandbox beside your own, with the same tools and limits, and with variables and files of its \
own. It stays until your task is done.

${lines.join('\n')}`
}

function describeSession(
  { language, contents, networkDescription }: FurtherSession,
  { language: ownLanguage, environment, example }: Parameters<typeof describeSessions>[1],
): string {
  const isSame = language.name === ownLanguage.name
  const code = isSame ? `${language.title}, as in your own.` : language.describeAsFurther(example)
  const isSameContents = JSON.stringify(contents) === JSON.stringify(environment.contents)
  const given = describeGiven({ networkDescription, ...(!isSameContents && { contents }) }).replaceAll('\n- ', ' ')
  const lacksNetwork = networkDescription === undefined && environment.networkDescription !== undefined
  return `${code}${given}${lacksNetwork ? ' It has no network.' : ''}`
}
