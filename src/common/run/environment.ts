/*
 * The environment of a run: tools by which its model uses the sandbox directly, besides writing programs.
 *
 * Owns: the names of these tools, what a run records of them, and how a use of one becomes a cell.
 * Boundary: pure data. The dispatcher (`runner/dispatcher/ptc_dispatcher/environment`) executes the cells,
 * `src/models/prompt/environment-tools.ts` describes the tools to the model.
 *
 * Invariants:
 * 1. A use of an environment tool is a cell. So the journal has it, a rebuild repeats it, and the limits, the audit log
 *    and interruption are those of cells. After `model.turn`, nothing knows that the model has not written code.
 * 2. A cell has all that its result depends on, besides the files: also the policy of the run.
 */

import { isJsonObject, type JsonObject, type JsonValue } from '../json/json.js'
import { languageNamesOf } from './language-names.js'

/** The language of the cells of environment tools: each is a JSON object, an {@link EnvironmentProgram}. */
export const environmentLanguage = 'environment'

export const executeCommandTool = 'execute_command'
export const runCodeTool = 'run_code'

/** The tools of an environment. */
export const environmentTools = [
  executeCommandTool,
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'grep',
  runCodeTool,
] as const

export type EnvironmentTool = (typeof environmentTools)[number]

/** The tools of `environment: true`. `run_code` is another name of `execute_code`, which every run has. */
export const defaultEnvironmentTools: readonly EnvironmentTool[] = environmentTools.filter(
  (name) => name !== runCodeTool,
)

/** What the tools do with a file whose name says that it has keys or passwords. */
export const sensitiveFilePolicies = ['refuse', 'mask'] as const

export type SensitiveFilePolicy = (typeof sensitiveFilePolicies)[number]

/** What an agent or a configuration says of the environment. */
export type EnvironmentOption =
  /** `true`: all tools, except `run_code`, which is another name of `execute_code`. `false`: none. */
  | boolean
  /** The names of the tools. */
  | readonly EnvironmentTool[]
  | {
      /** The names of the tools. Default: as `true`. */
      readonly tools?: readonly EnvironmentTool[]
      /**
       * What the file tools do with files whose name says that they have keys or passwords, such as `.env`, `id_rsa` and
       * `*.pem`. `refuse`, or `mask`: they are read without the values. Default `refuse`.
       */
      readonly sensitiveFiles?: SensitiveFilePolicy
    }

/** The environment of a run. */
export interface EnvironmentConfig {
  /** In the order of {@link environmentTools}. */
  readonly tools: readonly EnvironmentTool[]
  /** Undefined: such files are refused. */
  readonly sensitiveFiles?: 'mask'
}

/** The source of a cell in the language `environment`. The dispatcher checks the arguments. */
export interface EnvironmentProgram {
  readonly tool: string
  readonly arguments: JsonObject
  /** Maximum characters of the result of a file tool. Absent: as many as a cell may print. */
  readonly characters?: number
  readonly sensitiveFiles?: 'mask'
  /** For a program of a user: texts without line numbers, nothing is masked, and no file is sensitive. */
  readonly raw?: true
}

/** The input of `execute_code` that a tool use becomes, with the name of the tool. A type, because it is JSON. */
export type EnvironmentCell = {
  readonly code: JsonValue
  readonly language: JsonValue
  readonly tool: EnvironmentTool
  /** Undefined: the tools name no session. */
  readonly session?: JsonValue
}

/**
 * Returns the cell of a tool use; undefined for a tool that is none of the environment.
 *
 * @param input from the model, unchecked
 * @param characters of a result that the model gets
 * @param namesSession a use may name the session in which the tool works
 */
export function environmentCellOf(
  name: string,
  input: JsonObject,
  { tools, sensitiveFiles }: EnvironmentConfig,
  characters: number,
  namesSession = false,
): EnvironmentCell | undefined {
  const tool = tools.find((each) => each === name)
  if (tool === undefined) return undefined
  const { session, ...others } = input
  const inSession = namesSession && session !== undefined && { session }
  if (tool === runCodeTool)
    return { code: input['code'] ?? null, language: input['language'] ?? null, tool, ...inSession }
  const program: EnvironmentProgram = {
    tool,
    arguments: namesSession ? others : input,
    characters,
    ...(sensitiveFiles !== undefined && { sensitiveFiles }),
  }
  return { code: JSON.stringify(program), language: environmentLanguage, tool, ...inSession }
}

interface DisplayedCell {
  readonly code: string
  readonly language?: string | undefined
}

/** The tool and the arguments of a cell, for people. Returns the code and the language of any other cell. */
export function displayOfCell({ code, language }: DisplayedCell): DisplayedCell {
  const program = language === environmentLanguage ? parseProgram(code) : undefined
  if (program === undefined) return { code, language }
  const { command } = program.arguments
  const isCommand = program.tool === executeCommandTool && typeof command === 'string'
  return { code: isCommand ? command : JSON.stringify(program.arguments), language: program.tool }
}

/** Returns undefined for a text that was cut, and for one that no use of a tool made. */
function parseProgram(code: string): Pick<EnvironmentProgram, 'tool' | 'arguments'> | undefined {
  try {
    const { tool, arguments: args } = JSON.parse(code) as Record<string, unknown>
    return typeof tool === 'string' && isJsonObject(args) ? { tool, arguments: args } : undefined
  } catch {
    return undefined
  }
}

export function isEnvironmentTool(name: unknown): name is EnvironmentTool {
  return environmentTools.some((each) => each === name)
}

/** Adds the environment to the language of a run. */
export function withEnvironment(language: string): string {
  return hasEnvironment(language) ? language : `${language},${environmentLanguage}`
}

export function hasEnvironment(language: string): boolean {
  return languageNamesOf(language).includes(environmentLanguage)
}

/** The names of the languages in which the model writes code. */
export function codeLanguagesOf(language: string): readonly string[] {
  return languageNamesOf(language).filter((name) => name !== environmentLanguage)
}
