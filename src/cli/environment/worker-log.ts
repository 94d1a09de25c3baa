import { createWriteStream } from 'node:fs'
import { dirname } from 'node:path'
import { type Redact, unredacted } from '../../common/text/redact.js'
import { truncateEnd } from '../../common/text/text.js'
import type { LogLevel } from '../../worker/index.js'
import { oneLine } from '../rendering/text/sanitize.js'
import { printStatus } from '../process/stdio.js'
import { makeFolderSync } from '../../platform/make-folder.js'

interface LogEntry {
  readonly level: string
  readonly message: string
  readonly timestampNanos: bigint
  readonly meta?: Readonly<Record<string, unknown>>
}

/** Logs to stderr, for a command whose terminal shows only the log. */
export function stderrLog(entry: LogEntry): void {
  printStatus(formatLogEntry(entry))
}

export const logFormats = ['text', 'json'] as const

export type LogFormat = (typeof logFormats)[number]

/** Logs to stderr in one of the formats. */
export function stderrLogIn(format: LogFormat): (entry: LogEntry) => void {
  return format === 'text' ? stderrLog : (entry) => printStatus(formatJsonEntry(entry))
}

/** Passes on entries with redacted errors: the error of a tool may quote arguments and results. */
export function redactErrors(write: (entry: LogEntry) => void, redact: Redact): (entry: LogEntry) => void {
  if (redact === unredacted) return write
  const redactText = (text: string): string => redact(text, { kind: 'error' })
  const redactField = (name: string, value: unknown): unknown => {
    if (typeof value === 'string') return errorFields.has(name) ? redactText(value) : value
    if (!(value instanceof Error)) return value
    const { message, stack = '' } = value
    return Object.assign(new Error(redactText(message)), { name: value.name, stack: stack && redactText(stack) })
  }
  return ({ meta, ...entry }) => {
    const fields = Object.entries(meta ?? {}).map(([name, value]) => [name, redactField(name, value)] as const)
    write({ ...entry, ...(meta && { meta: Object.fromEntries(fields) }) })
  }
}

/** Fields that have an error as text. */
const errorFields: ReadonlySet<string> = new Set(['error', 'stack'])

/** Makes an entry of the log from a line of the command. */
export function logEntry(message: string): LogEntry {
  return { level: 'INFO', message: message.trim(), timestampNanos: BigInt(Date.now()) * 1_000_000n }
}

/** Stable names for fields that the SDK and its core name differently. */
const stableNames: Readonly<Record<string, string>> = {
  workflowRunId: 'runId',
  run_id: 'runId',
  workflow_id: 'workflowId',
  workflow_type: 'workflowType',
  activity_id: 'activityId',
  activity_type: 'activityType',
  task_queue: 'taskQueue',
}

/**
 * One line of JSON: `time`, `level`, `message`, and the fields under stable names. An error is its message, and its
 * stack is `stack`. `docs/guides/operations.md` lists the names.
 */
export function formatJsonEntry({ level, message, timestampNanos, meta }: LogEntry): string {
  const fields = Object.entries(meta ?? {}).flatMap(([name, value]): [string, unknown][] => {
    if (value === undefined || omittedFields.has(name)) return []
    if (!(value instanceof Error)) return [[stableNames[name] ?? name, value]]
    return [
      [name, value.message],
      ...(value.stack === undefined || value.stack === '' ? [] : [['stack', value.stack] as [string, string]]),
    ]
  })
  const time = new Date(Number(timestampNanos / 1_000_000n)).toISOString()
  const own = new Set(['time', 'level', 'message'])
  const others = Object.fromEntries(fields.filter(([name]) => !own.has(name)))
  return JSON.stringify({ time, level, message, ...others }, replaceForJson)
}

function replaceForJson(name: string, value: unknown): unknown {
  if (omittedFields.has(name)) return undefined
  if (typeof value === 'bigint') return String(value)
  return typeof value === 'string' ? truncateEnd(value, stackCharacters) : value
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

/** Appends to a file that only its user can read. Ignores write errors. */
export function fileLog(path: string): (entry: LogEntry) => void {
  makeFolderSync(dirname(path), 0o700)
  const stream = createWriteStream(path, { flags: 'a', mode: 0o600 })
  stream.on('error', () => undefined)
  return (entry) => void stream.write(`${formatLogEntry(entry)}\n`)
}

/** Fields that have hundreds of bytes and mean nothing to a reader. */
const omittedFields: ReadonlySet<string> = new Set(['taskToken', 'task_token'])
const messageCharacters = 2_000
const stackCharacters = 10_000
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
