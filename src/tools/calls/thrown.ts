import { homedir, tmpdir } from 'node:os'
import { ToolError } from '../tool-error.js'
import { truncate } from '../validation/describe-issues.js'

const maxMessageCharacters = 2_000
const maxCauses = 3

/** Replaces text that must stay secret. */
type Redact = (text: string) => string

const keep: Redact = (text) => text

/**
 * The message of any thrown value, for readers outside the host: bounded, without stack and paths of the host. Includes
 * causes, because `fetch failed` alone does not help. The message of a ToolError is for the caller and stays unchanged,
 * because the tool may be about its paths. Never throws.
 */
export function describeThrown(thrown: unknown, redact: Redact = keep): string {
  try {
    return truncate(causeMessages(thrown, redact), maxMessageCharacters)
  } catch {
    return 'something was thrown that can not be read'
  }
}

const maxStackCharacters = 8_000
/** The frame of the engine that called the tool, or its microtask. Later frames do not belong to the tool. */
const engineFrames = ['run-tool.', '../../worker/uncaught-errors.'].flatMap((file) =>
  ['ts', 'js'].map((kind) => `${new URL(file, import.meta.url).pathname}${kind}:`),
)

/** For the operator's log: the tool's own frames, and those of causes. Undefined when there is no stack. */
export function toolStackOf(thrown: unknown, redact: Redact = keep, depth = 1): string | undefined {
  try {
    const stack: unknown = thrown instanceof Error ? thrown.stack : undefined
    if (typeof stack !== 'string' || stack === '') return undefined
    const lines = redact(stack).split('\n')
    const end = lines.findIndex((line) => /^\s+at /.test(line) && engineFrames.some((caller) => line.includes(caller)))
    const frames = lines.findIndex((line) => /^\s+at /.test(line))
    // A stack starts with the message, which may be long.
    const message = truncate(lines.slice(0, Math.max(frames, 0)).join('\n'), maxMessageCharacters)
    const rest = lines.slice(Math.max(frames, 0), end > 0 ? end : lines.length)
    const cause =
      thrown instanceof Error && depth < maxCauses ? toolStackOf(thrown.cause, redact, depth + 1) : undefined
    const causeLines = cause === undefined ? [] : [`Caused by: ${cause}`]
    return truncate([message, ...rest, ...causeLines].join('\n'), maxStackCharacters)
  } catch {
    return undefined
  }
}

/**
 * For the history, and therefore for the Temporal UI: the message, and the tool's own frames without paths of the host.
 * Empty when there is no stack.
 */
export function publicStackOf(thrown: unknown, redact: Redact = keep): string {
  const frames = (toolStackOf(thrown, redact, maxCauses) ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  if (frames.length === 0) return ''
  const shown = frames.slice(0, maxPublicFrames).map((frame) => withoutHostPaths(frame.replaceAll(ownFolder, '')))
  return [`${redact(nameOf(thrown))}: ${describeThrown(thrown, redact)}`, ...shown].join('\n')
}

/** Temporal keeps 4 KB of the failure of a pending activity. */
const maxPublicFrames = 20
/** The project in which the worker runs: its own files are shown with their folders. */
const ownFolder = new RegExp(`(?:file://)?${escape(process.cwd())}/`, 'g')

function nameOf(thrown: unknown): string {
  return thrown instanceof Error ? truncate(thrown.name, 100) : 'Error'
}

function causeMessages(thrown: unknown, redact: Redact): string {
  const messages: string[] = []
  let current = thrown
  for (let depth = 0; depth < maxCauses && (depth === 0 || current !== undefined); depth++) {
    // Redacts before the message is truncated: a cut value would not be found.
    const whole = truncate(redact(ownMessage(current)), maxMessageCharacters)
    const message = ToolError.isInstance(current) ? whole : withoutHostPaths(whole)
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message)
    current = typeof current === 'object' && current !== null && 'cause' in current ? current.cause : undefined
  }
  return messages.join(': ')
}

function ownMessage(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown === '' ? 'an empty string was thrown' : thrown
  if (typeof thrown !== 'object' || thrown === null) return `${String(thrown)} was thrown`
  if ('message' in thrown && typeof thrown.message === 'string' && thrown.message !== '') return thrown.message
  // Node's AggregateError of a refused connection has a code and an empty message.
  if ('code' in thrown && typeof thrown.code === 'string' && thrown.code !== '') return thrown.code
  if (thrown instanceof Error) return thrown.name
  return 'an object without a message was thrown'
}

const folders = [process.cwd(), homedir(), tmpdir()].filter((folder) => folder.length > 1)
const roots = String.raw`(?:home|Users|root|tmp|var|usr|opt|etc|srv|mnt|app|private|proc|data|workspace|builds?)`
/** Absolute paths, but not URLs: a path follows a quote, a bracket or a space. */
const absolutePath = new RegExp(
  String.raw`(?:file://|(?<![\w:/.-]))(?:(?:${folders.map(escape).join('|')})(?![\w.-])|/${roots}(?=/)|[A-Za-z]:(?=\\))[^\s'"` +
    '`' +
    String.raw`)\]},;:]*`,
  'g',
)

/** `open '/home/app/data/x.csv'` becomes `open '…/x.csv'`. */
function withoutHostPaths(message: string): string {
  return message.replace(absolutePath, (path) => `…/${path.split(/[\\/]/).at(-1) ?? ''}`)
}

function escape(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}
