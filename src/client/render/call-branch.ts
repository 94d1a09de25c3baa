import type { ErrorCode } from '../../common/errors.js'
import type { JsonObject } from '../../common/json.js'
import { plural } from '../../common/text.js'
import { type CallNode, describeRef, refIn, shortHash } from '../history/index.js'
import type { Branch } from './branch.js'
import { formatBytes } from './format.js'
import { type Line, part, spread } from './line.js'
import { neutralise, oneLine } from './neutralise.js'
import { attemptsOf, durationOf, facts, type Scene } from './scene.js'
import { inWords, statusMark } from './status-mark.js'
import { textBlock } from './text-block.js'

/** No attempt of the tool: the worker that took the call has no such tool. */
export const noTool: ErrorCode = 'TOOL_NOT_REGISTERED'

/** Calls drawn of one cell before the others are only counted. */
const shownCalls = 20
/** Arguments longer than this (a file, a query) are cut before they are laid out. */
const shownArgumentCharacters = 2_000

/** The calls of a cell or turn. Unless all are wanted: the first, and every one that did not go well. */
export function callBranches(calls: readonly CallNode[], scene: Scene): readonly Branch[] {
  // A line that says "1 more call" could be that call.
  const most = calls.length === shownCalls + 1 ? calls.length : shownCalls
  const shown = calls.filter(
    ({ status, blocked }, place) => scene.full || place < most || status !== 'ok' || blocked !== undefined,
  )
  const branches = shown.map((call) => callBranch(call, scene))
  const hidden = calls.length - shown.length
  if (hidden === 0) return branches
  return [...branches, { head: () => [statusMark('ok'), part(` … ${plural(hidden, 'more call')}`, 'dim')] }]
}

function callBranch(call: CallNode, scene: Scene): Branch {
  const size = call.resultBytes > 1_024 ? formatBytes(call.resultBytes) : undefined
  const time = call.idempotencyKey === undefined ? undefined : durationOf(call, scene)
  const right = facts(time, attemptsOf(call), size, call.resultRef && shortHash(call.resultRef))
  const text = `${oneLine(call.tool)}(${argumentsText(call.arguments, scene.full)})`
  return {
    head: (columns) => spread([statusMark(call.status), part(` ${text}`)], right, columns),
    body: (columns) => [...blockedLines(call, columns), ...outcomeLines(call, scene, columns)],
  }
}

/** `employee_id="ENG001", quarter="Q3"`: as the code wrote it, near enough. */
export function argumentsText(args: JsonObject, full = false): string {
  const ref = refIn(args)
  if (ref) return oneLine(`[${describeRef(ref)}] ${ref.preview}…`)
  const text = Object.entries(args)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ')
  return oneLine(full ? text : text.slice(0, shownArgumentCharacters))
}

/** What kept a worker from everything else. Its failure says the same. */
export function blockedLines({ blocked, message }: CallNode, columns: number): readonly Line[] {
  if (blocked === undefined || message?.includes('blocked the event loop')) return []
  return textBlock(oneLine(blocked), { columns, style: 'yellow', limit: 3, prose: true })
}

function outcomeLines(call: CallNode, { full }: Scene, columns: number): readonly Line[] {
  const { status, message, resultPreview, resultBytes, lastFailure } = call
  const pending = status === 'waiting' || status === 'running'
  const trouble = lastFailure?.code === noTool ? 'waiting' : 'attempt failed'
  const retried = pending && lastFailure ? `${trouble}: ${lastFailure.message}` : undefined
  if (status === 'ok') {
    if (resultPreview === undefined) return []
    if (!full) return [[part(`→ ${oneLine(resultPreview)}`, 'dim')]]
    const all = Buffer.byteLength(resultPreview) >= resultBytes
    return textBlock(`→ ${resultPreview}${all ? '' : '…'}`, { columns, style: 'dim', limit: undefined })
  }
  if (pending) return retried === undefined ? [] : [[part(oneLine(retried), 'yellow')]]
  if (status === 'interrupted') return []
  const text = message === undefined ? inWords(status) : `${inWords(status)}: ${message}`
  return textBlock(neutralise(text), { columns, style: 'red', limit: full ? undefined : 3 })
}
