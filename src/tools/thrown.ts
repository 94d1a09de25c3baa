import { homedir, tmpdir } from 'node:os'
import { cut } from './issues.js'

const messageCharacters = 2_000
const causes = 3

/**
 * The message of anything that can be thrown, for a reader outside the host: no stack, no paths of the host, bounded; never
 * throws itself. Causes are told too: `fetch failed` alone helps nobody.
 */
export function messageOfThrown(thrown: unknown): string {
  try {
    return cut(withoutHostPaths(chainOf(thrown)), messageCharacters)
  } catch {
    return 'something was thrown that can not be read'
  }
}

const stackCharacters = 8_000
/** The frame that called the tool: what comes after it is the engine's. */
const callers = ['ts', 'js'].map((kind) => `${new URL('run-tool.', import.meta.url).pathname}${kind}:`)

/** For the operator's log: the tool's own frames. Undefined when there is no stack to read. */
export function stackOfThrown(thrown: unknown): string | undefined {
  try {
    const stack: unknown = thrown instanceof Error ? thrown.stack : undefined
    if (typeof stack !== 'string' || stack === '') return undefined
    const lines = stack.split('\n')
    const end = lines.findIndex((line) => /^\s+at /.test(line) && callers.some((caller) => line.includes(caller)))
    const frames = lines.findIndex((line) => /^\s+at /.test(line))
    // A stack begins with the message, which may be longer than all the rest.
    const message = cut(lines.slice(0, Math.max(frames, 0)).join('\n'), messageCharacters)
    const rest = lines.slice(Math.max(frames, 0), end > 0 ? end : lines.length)
    return cut([message, ...rest].join('\n'), stackCharacters)
  } catch {
    return undefined
  }
}

function chainOf(thrown: unknown): string {
  const messages: string[] = []
  let at = thrown
  for (let depth = 0; depth < causes && (depth === 0 || at !== undefined); depth++) {
    const message = cut(ownMessage(at), messageCharacters)
    if (!messages.some((earlier) => earlier.includes(message))) messages.push(message)
    at = typeof at === 'object' && at !== null && 'cause' in at ? at.cause : undefined
  }
  return messages.join(': ')
}

function ownMessage(thrown: unknown): string {
  if (typeof thrown === 'string') return thrown === '' ? 'an empty string was thrown' : thrown
  if (typeof thrown !== 'object' || thrown === null) return `${String(thrown)} was thrown`
  if ('message' in thrown && typeof thrown.message === 'string' && thrown.message !== '') return thrown.message
  // Node's AggregateError of a refused connection says it by its code alone.
  if ('code' in thrown && typeof thrown.code === 'string' && thrown.code !== '') return thrown.code
  if (thrown instanceof Error) return thrown.name
  return 'an object without a message was thrown'
}

const folders = [process.cwd(), homedir(), tmpdir()].filter((folder) => folder.length > 1)
const roots = String.raw`(?:home|Users|root|tmp|var|usr|opt|etc|srv|mnt|app|private|proc|data|workspace|builds?)`
/** Absolute paths, not addresses: nothing but a quote, a bracket or a space stands before one. */
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
