import type { Client } from '@temporalio/client'
import { z } from 'zod'
import { defined } from '../../common/defined.js'
import type { CellOutcome, CellStatus } from '../../common/calls/outcomes.js'
import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import { environmentLanguage, type EnvironmentProgram, executeCommandTool } from '../../common/run/environment.js'
import { resultCharacters } from '../../common/run/limits.js'
import { checkKeys } from '../start/check-input.js'
import { type ExecuteOptions, executeInSession, type SessionExecution } from './execute.js'

/** Options of the session, which apply when its first use starts it. */
export type NamedSessionOptions = Pick<
  ExecuteOptions,
  'sandbox' | 'language' | 'limits' | 'network' | 'tools' | 'context' | 'input'
>

/** Options of one use. */
type UseOptions = Pick<ExecuteOptions, 'signal' | 'onChange' | 'onAccepted' | 'leaveSignal' | 'mustExist'>

/**
 * A named session as a place to work: code, commands and files of one sandbox. Each use is an execution of the session,
 * recorded and repeated in a rebuild like all code. Each method throws a PtcError with a code of
 * `docs/reference/errors.md`.
 */
export interface NamedSession {
  readonly name: string
  /** Executes code, as `sessions.execute` does. */
  execute(source: string, options?: UseOptions & Pick<ExecuteOptions, 'cellLanguage'>): Promise<SessionExecution>
  readonly commands: {
    /** Executes a command in bash. Variables and the working directory stay for the next one. */
    execute(command: string, options?: UseOptions & { readonly timeoutSeconds?: number }): Promise<CommandResult>
  }
  /** Text files in `/tmp`, to which relative paths belong. A failure is SESSION_FILE_FAILED. */
  readonly files: {
    /** Returns a text of up to 190,000 bytes. */
    read(path: string, options?: UseOptions): Promise<string>
    /** Writes a text, in place of the file that may be there, up to `limits.sourceBytes`. Makes missing folders. */
    write(path: string, content: string, options?: UseOptions): Promise<void>
    /** Lists a folder, in the order of the paths. `depth` is the number of levels of folders; default 1. */
    list(path?: string, options?: UseOptions & { readonly depth?: number }): Promise<readonly SessionFile[]>
  }
}

export interface CommandResult {
  /** `ok` and `code_error` have an exit code, if the command was executed. The others are those of any code. */
  readonly status: CellStatus
  readonly stdout: string
  readonly stderr: string
  readonly exitCode?: number
  /** Why the command did not end by itself, or was not executed. */
  readonly error?: string
  /** Milliseconds from the start of the command to its end. */
  readonly durationMs: number
  readonly execution: SessionExecution
}

/** An entry of a folder. */
export interface SessionFile {
  /** Relative to the listed folder. */
  readonly path: string
  readonly type: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
}

const listing = z.array(
  z.object({ path: z.string(), type: z.enum(['file', 'folder', 'link', 'other']), size: z.number() }),
)

/** Characters of a file: the output of an execution has few more. */
const maxCharacters = resultCharacters - 10_000

const optionNames = [
  'sandbox',
  'language',
  'limits',
  'network',
  'tools',
  'context',
  'input',
] as const satisfies readonly (keyof NamedSessionOptions)[]

/** @throws PtcError RUN_INPUT_INVALID */
export function createNamedSession(
  client: Client,
  taskQueue: string,
  name: string,
  options: NamedSessionOptions = {},
): NamedSession {
  checkKeys('the options', options, optionNames)
  const execute = (source: string, use: ExecuteOptions): Promise<SessionExecution> =>
    executeInSession(client, taskQueue, name, source, { ...options, ...use, environment: true })

  function useTool(tool: string, args: JsonObject, use: UseOptions): Promise<SessionExecution> {
    const program: EnvironmentProgram = { tool, arguments: args, characters: maxCharacters, raw: true }
    return execute(JSON.stringify(program), { ...use, cellLanguage: environmentLanguage })
  }

  async function useFile(tool: string, args: JsonObject, use: UseOptions): Promise<string> {
    const { outcome } = await useTool(tool, args, use)
    if (outcome.status === 'ok') return outcome.output
    const reason = outcome.status === 'code_error' ? outcome.error : `${outcome.status}: ${outcome.error}`
    throw new PtcError('SESSION_FILE_FAILED', reason)
  }

  return {
    name,
    execute: (source, use = {}) => execute(source, use),
    commands: {
      async execute(command, { timeoutSeconds, ...use } = {}) {
        const args = { command, ...defined({ timeout_seconds: timeoutSeconds }) }
        return commandResult(await useTool(executeCommandTool, args, use))
      },
    },
    files: {
      read: (path, use = {}) => useFile('read_file', { path }, use),
      async write(path, content, use = {}) {
        await useFile('write_file', { path, content }, use)
      },
      async list(path = '.', { depth = 1, ...use } = {}) {
        return parseListing(await useFile('list_files', { path, depth }, use))
      },
    },
  }
}

/** Code that took over the dispatcher can say anything. */
function parseListing(text: string): readonly SessionFile[] {
  try {
    return listing.parse(JSON.parse(text))
  } catch (cause) {
    throw new PtcError('SESSION_FILE_FAILED', 'the sandbox sent no list of files', { cause })
  }
}

function commandResult(execution: SessionExecution): CommandResult {
  const { outcome } = execution
  const { status, usage, durationMs = 0 } = outcome
  const hasEnded = (status === 'ok' || status === 'code_error') && usage !== undefined
  return {
    status,
    ...splitOutput(outcome),
    ...(hasEnded && { exitCode: outcome.exitCode ?? (status === 'ok' ? 0 : 1) }),
    ...(outcome.status !== 'ok' && { error: outcome.error }),
    durationMs,
    execution,
  }
}

function splitOutput({ output, stderr: ranges = [] }: CellOutcome): Pick<CommandResult, 'stdout' | 'stderr'> {
  let [stdout, stderr, at] = ['', '', 0]
  for (const [start, end] of ranges) {
    stdout += output.slice(at, start)
    stderr += output.slice(start, end)
    at = end
  }
  return { stdout: stdout + output.slice(at), stderr }
}
