import { createWriteStream, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { truncateEnd } from '../../common/text.js'
import type { LogLevel } from '../../worker/index.js'
import { oneLine } from '../rendering/text/sanitize.js'
import { printStatus } from '../process/stdio.js'

/** A log entry of Temporal's runtime. */
interface LogEntry {
  readonly level: string
  readonly message: string
  readonly timestampNanos: bigint
  readonly meta?: Readonly<Record<string, unknown>>
}

export const logLevels = ['DEBUG', 'INFO', 'WARN', 'ERROR'] as const satisfies readonly LogLevel[]

/** Logs to stderr: for a command whose terminal shows only the log. */
export function stderrLog(entry: LogEntry): void {
  printStatus(formatLogEntry(entry))
}

/** Whether the event loop watchdog writes to stderr (undefined) or nowhere (false): its lines are warnings. */
export function watchdogLogFor(level: LogLevel): false | undefined {
  return level === 'ERROR' ? false : undefined
}

/**
 * One line with time, level, message and fields. Stacks follow in indented lines; an error without a stack is a field.
 */
export function formatLogEntry({ level, message, timestampNanos, meta }: LogEntry): string {
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString()
  const fields = Object.entries(meta ?? {}).filter(([name, value]) => value !== undefined && !omittedFields.has(name))
  const fieldTexts = fields.flatMap(([name, value]) => (stackOf(name, value) ? [] : [`${name}=${formatValue(value)}`]))
  const stacks = fields.flatMap(([name, value]) => stackOf(name, value)?.split('\n') ?? [])
  // JSON escapes only some control characters.
  return [
    oneLine([time, level.padEnd(5), truncateEnd(message, messageCharacters), ...fieldTexts].join(' ')),
    ...stacks.map((line) => `    ${oneLine(line.trim())}`),
  ].join('\n')
}

/** The stack of an error or of a field `stack`; undefined when there is none, or an empty one. */
function stackOf(name: string, value: unknown): string | undefined {
  const stack = value instanceof Error ? value.stack : name === 'stack' ? value : undefined
  return typeof stack === 'string' && stack !== '' ? truncateEnd(stack, stackCharacters) : undefined
}

/** Appends to a file that only its user can read. Write errors are ignored. */
export function fileLog(path: string): (entry: LogEntry) => void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  stream.on('error', () => undefined)
  return (entry) => void stream.write(`${formatLogEntry(entry)}\n`)
}

/** Fields of hundreds of bytes without meaning for a reader. */
const omittedFields: ReadonlySet<string> = new Set(['taskToken', 'task_token'])
const messageCharacters = 2_000
const stackCharacters = 4_000
const valueCharacters = 300

function formatValue(value: unknown): string {
  if (typeof value === 'string') {
    return /^[\w.:/@-]{0,300}$/.test(value) ? value : JSON.stringify(truncateEnd(value, valueCharacters))
  }
  if (value instanceof Error) return JSON.stringify(truncateEnd(String(value), messageCharacters))
  const json = JSON.stringify(value, (name, member: unknown) =>
    omittedFields.has(name) ? undefined : typeof member === 'bigint' ? String(member) : member,
  )
  return truncateEnd(json ?? String(value), valueCharacters)
}
