import { createWriteStream, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { beginning } from '../../common/text.js'
import type { LogLevel } from '../../worker/index.js'
import { oneLine } from '../render/neutralise.js'
import { say } from './terminal.js'

/** What Temporal's runtime hands to a logger. */
export interface LogEntry {
  readonly level: string
  readonly message: string
  readonly timestampNanos: bigint
  readonly meta?: Readonly<Record<string, unknown>>
}

export const logLevels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const satisfies readonly LogLevel[]

/** For a worker whose terminal is for nothing else. */
export function stderrLog(entry: LogEntry): void {
  say(formatLogEntry(entry))
}

/** What the watch thread may write to stderr, where the log goes: its lines are warnings. */
export function stallLogOf(level: LogLevel): false | undefined {
  return level === 'ERROR' ? false : undefined
}

/** One line: when, how bad, what, and what it was about; of an error without a stack the message. A stack follows, indented. */
export function formatLogEntry({ level, message, timestampNanos, meta }: LogEntry): string {
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString()
  const fields = Object.entries(meta ?? {}).filter(([name, value]) => value !== undefined && !tokens.has(name))
  const about = fields.flatMap(([name, value]) => (stackIn(name, value) ? [] : [`${name}=${shown(value)}`]))
  const stacks = fields.flatMap(([name, value]) => stackIn(name, value)?.split('\n') ?? [])
  // Whoever reads a log at a terminal is not driven by it; JSON escapes some control characters, and not all.
  return [
    oneLine([time, level.padEnd(5), beginning(message, messageCharacters), ...about].join(' ')),
    ...stacks.map((line) => `    ${oneLine(line.trim())}`),
  ].join('\n')
}

/** Undefined when there is none, or an empty one. */
function stackIn(name: string, value: unknown): string | undefined {
  const stack = value instanceof Error ? value.stack : name === 'stack' ? value : undefined
  return typeof stack === 'string' && stack !== '' ? beginning(stack, stackCharacters) : undefined
}

/** Appends to a file, for its user only; what can't be written is lost, a log is no reason to stop. */
export function fileLog(path: string): (entry: LogEntry) => void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  stream.on('error', () => undefined)
  return (entry) => void stream.write(`${formatLogEntry(entry)}\n`)
}

/** Hundreds of bytes that say nothing to a reader. */
const tokens: ReadonlySet<string> = new Set(['taskToken', 'task_token'])
const messageCharacters = 2_000
const stackCharacters = 4_000
const valueCharacters = 300

function shown(value: unknown): string {
  if (typeof value === 'string') {
    return /^[\w.:/@-]{0,300}$/.test(value) ? value : JSON.stringify(beginning(value, valueCharacters))
  }
  if (value instanceof Error) return JSON.stringify(beginning(String(value), messageCharacters))
  const json = JSON.stringify(value, (name, member: unknown) =>
    tokens.has(name) ? undefined : typeof member === 'bigint' ? String(member) : member,
  )
  return beginning(json ?? String(value), valueCharacters)
}
