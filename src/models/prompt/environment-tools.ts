/*
 * The tools of an environment in the prompt: plain function tools with the same names for every provider. The dispatcher
 * checks their arguments (`runner/dispatcher/ptc_dispatcher/environment`); a test compares the members.
 */

import { type EnvironmentConfig, type EnvironmentTool, runCodeTool } from '../../common/run/environment.js'
import type { JsonObject } from '../../common/json/json.js'
import { executeCodeTool } from '../../common/names.js'
import type { Language } from '../../languages/index.js'
import { type FurtherSession, languagesOfAll, sessionProperty } from './further-sessions.js'
import type { ModelTool } from '../provider.js'

type ToolText = Pick<ModelTool, 'description'> & {
  readonly properties: JsonObject
  readonly required: readonly string[]
}

const path = (what: string): JsonObject => ({ type: 'string', description: `${what} Relative to /tmp.` })

const tools = {
  execute_command: {
    description:
      'Executes a command in bash, and returns what it prints, its exit code and its duration. Variables and the ' +
      'working directory stay for the next command; the first one begins in /tmp. Background jobs end with the ' +
      'command. Stdin is empty, and there is no terminal.',
    properties: {
      command: { type: 'string' },
      timeout_seconds: { type: 'number', description: 'The command is stopped after this time.' },
    },
    required: ['command'],
  },
  read_file: {
    description: 'Reads lines of a text file, with their numbers. Says the size of a binary file.',
    properties: {
      path: path('The file.'),
      first_line: { type: 'integer', minimum: 1, description: 'Default 1.' },
      line_count: { type: 'integer', minimum: 1, description: 'Default: as many as the result may have.' },
    },
    required: ['path'],
  },
  write_file: {
    description: 'Writes a text file, in place of the one that may be there. Makes the folders that are missing.',
    properties: { path: path('The file.'), content: { type: 'string' } },
    required: ['path', 'content'],
  },
  edit_file: {
    description:
      'Replaces a text in a file, which must be there exactly once. Line ends of the file stay: write \\n for each. ' +
      'old_text has the characters of the file, without the line numbers of read_file.',
    properties: {
      path: path('The file.'),
      old_text: { type: 'string', minLength: 1 },
      new_text: { type: 'string' },
      replace_all: { type: 'boolean', description: 'Replaces each occurrence. Default false.' },
    },
    required: ['path', 'old_text', 'new_text'],
  },
  list_files: {
    description: 'Lists a folder: at most 100 entries in the order of their paths, with the size of each file.',
    properties: {
      path: path('The folder. Default: /tmp.'),
      depth: { type: 'integer', minimum: 1, maximum: 10, description: 'Levels of folders. Default 1.' },
    },
    required: [],
  },
  grep: {
    description: 'Finds lines that match a pattern, a regular expression of Python. At most 100 lines.',
    properties: {
      pattern: { type: 'string', minLength: 1 },
      path: path('A file, or a folder with all files below it. Default: /tmp.'),
      glob: { type: 'string', description: 'Only files whose names match, such as *.py.' },
      ignore_case: { type: 'boolean', description: 'Default false.' },
    },
    required: ['pattern'],
  },
} as const satisfies Record<Exclude<EnvironmentTool, typeof runCodeTool>, ToolText>

/** The environment tools of a run. */
export function environmentToolsOf(
  { tools: names }: EnvironmentConfig,
  language: Language,
  sessions: readonly FurtherSession[] = [],
): readonly ModelTool[] {
  return names.map((name) => {
    const { description, properties, required } = name === runCodeTool ? runCode(language, sessions) : tools[name]
    const inputSchema = {
      type: 'object',
      properties: { ...properties, ...sessionProperty(sessions) },
      required: [...required],
      additionalProperties: false,
    } as const
    return { name, description, inputSchema, inputExamples: [] }
  })
}

function runCode(language: Language, sessions: readonly FurtherSession[]): ToolText {
  return {
    description: `Runs code in the language that you name, as ${executeCodeTool} does, whose description applies.`,
    properties: {
      language: { type: 'string', enum: [...languagesOfAll(language, sessions)] },
      code: { type: 'string' },
    },
    required: ['language', 'code'],
  }
}
