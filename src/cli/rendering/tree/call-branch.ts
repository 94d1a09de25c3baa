import { describeQuestion } from '../../../common/calls/questions.js'
import type { JsonObject } from '../../../common/json/json.js'
import { pluralize, takeStart } from '../../../common/text/text.js'
import { type CallNode, describeRef, parseRef, shortHash } from '../../../client/run-tree/index.js'
import type { Branch } from './branch.js'
import { formatBytes } from '../../../common/text/format.js'
import { describeType } from '../text/files.js'
import { type Line, part, justify } from '../text/line.js'
import { sanitize, oneLine } from '../text/sanitize.js'
import { formatAttempts, formatSpan, joinFacts, type RenderContext } from './render-context.js'
import { describeRetry } from '../text/retry.js'
import { formatTime } from '../text/waits.js'
import { formatStatus, statusMark } from './status-mark.js'
import { textBlock } from '../text/text-block.js'

/** Calls shown for each cell; the others are only counted. */
const maxShownCalls = 20
/** Longer arguments (a file, a query) are truncated before layout. */
const maxArgumentCharacters = 2_000

/** The calls of a cell or turn. Unless `full`: the first ones, and all that failed. */
export function callBranches(calls: readonly CallNode[], context: RenderContext): readonly Branch[] {
  // A line that says "1 more call" takes as much space as that call.
  const maxShown = calls.length === maxShownCalls + 1 ? calls.length : maxShownCalls
  const shown = calls.filter(
    ({ status, blocked, compensation }, index) =>
      context.full || index < maxShown || status !== 'ok' || blocked !== undefined || compensation?.status === 'failed',
  )
  const branches = shown.map((call) => callBranch(call, context))
  const hidden = calls.length - shown.length
  if (hidden === 0) return branches
  return [...branches, { head: () => [statusMark('ok'), part(` … ${pluralize(hidden, 'more call')}`, 'dim')] }]
}

function callBranch(call: CallNode, context: RenderContext): Branch {
  const size = call.resultBytes > 1_024 ? formatBytes(call.resultBytes) : undefined
  const time = call.idempotencyKey === undefined ? undefined : formatSpan(call, context)
  const right = joinFacts(time, formatAttempts(call), size, call.resultRef && shortHash(call.resultRef))
  const text = `${oneLine(call.tool)}(${formatArguments(call.arguments, context.full)})`
  return {
    head: (columns) => justify([statusMark(call.status), part(` ${text}`)], right, columns),
    body: (columns) => [
      ...workflowLines(call),
      ...decisionLines(call, context.full),
      ...blockedLines(call, columns),
      ...outcomeLines(call, context, columns),
      ...compensationLines(call, columns),
    ],
  }
}

/** Arguments as in code: `employee_id="ENG001", quarter="Q3"`. */
export function formatArguments(args: JsonObject, full = false): string {
  const ref = parseRef(args)
  if (ref) return oneLine(`[${describeRef(ref)}] ${ref.preview}…`)
  const text = Object.entries(args)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(', ')
  return oneLine(full ? text : takeStart(text, maxArgumentCharacters))
}

/** The id of the workflow of a call, for `ptc show`. */
function workflowLines({ workflowId }: CallNode): readonly Line[] {
  return workflowId === undefined ? [] : [[part(`workflow ${oneLine(workflowId)}`, 'dim')]]
}

/** The note about a blocked event loop, unless the failure of the call has the same text. */
export function blockedLines({ blocked, message }: CallNode, columns: number): readonly Line[] {
  if (blocked === undefined || message?.includes('blocked the event loop')) return []
  return textBlock(oneLine(blocked), { columns, style: 'yellow', limit: 3, prose: true })
}

function outcomeLines(call: CallNode, { full, now }: RenderContext, columns: number): readonly Line[] {
  const { status, message, resultPreview, resultBytes, progress } = call
  const pending = status === 'waiting' || status === 'running'
  if (status === 'ok') {
    if (call.file) return [[part(`→ ${oneLine(call.file.path)}  ${describeType(call.file)}`, 'dim')]]
    if (resultPreview === undefined) return []
    if (!full) return [[part(`→ ${oneLine(resultPreview)}`, 'dim')]]
    const isComplete = Buffer.byteLength(resultPreview) >= resultBytes
    return textBlock(`→ ${resultPreview}${isComplete ? '' : '…'}`, { columns, style: 'dim', limit: undefined })
  }
  if (call.deferred) return [[part(formatWait('result', call.deferred), 'dim')]]
  if (call.question) {
    const { question } = call
    const lines = textBlock(oneLine(describeQuestion(question)), {
      columns,
      style: 'yellow',
      limit: full ? undefined : 3,
    })
    return [...lines, [part(formatWait('answer', question), 'yellow')]]
  }
  if (call.approval) return [[part(formatWait('approval', call.approval), 'yellow')]]
  if (call.waitsForSlot) return [[part(`waits for a slot of ${oneLine(call.tool)}`, 'dim')]]
  if (call.waitsForLock) return [[part(`waits for a lock of ${oneLine(call.tool)}`, 'dim')]]
  if (pending) {
    const retried = describeRetry(call, now)
    return [
      ...(progress === undefined ? [] : [[part(oneLine(progress), 'cyan')]]),
      ...(retried === undefined ? [] : [[part(retried, 'yellow')]]),
    ]
  }
  if (status === 'interrupted') return []
  const text = message === undefined ? formatStatus(status) : `${formatStatus(status)}: ${message}`
  return textBlock(sanitize(text), { columns, style: 'red', limit: full ? undefined : 3 })
}

function compensationLines({ compensation }: CallNode, columns: number): readonly Line[] {
  if (!compensation) return []
  const { status, lastFailure } = compensation
  if (status === 'ok') return [[part('compensated', 'yellow')]]
  if (status === 'failed') {
    const text = sanitize(`compensation failed: ${compensation.failure.message}`)
    return textBlock(text, { columns, style: 'red', limit: 3 })
  }
  if (status === 'interrupted') return [[part('not compensated: the run ended first', 'red')]]
  const retried = lastFailure ? `, attempt failed: ${oneLine(lastFailure.message)}` : ''
  return [[part(`is being compensated${retried}`, 'yellow')]]
}

/** Who decided on the call, and which arguments the decision replaced. */
function decisionLines({ decision }: CallNode, full: boolean): readonly Line[] {
  if (!decision) return []
  const { decision: what, by, at, replacedArguments, remembered } = decision
  const who = by === undefined ? '' : ` by ${oneLine(by)}`
  const scope = remembered ? ', remembered for later calls' : ''
  const replaced = replacedArguments && `arguments replaced; they were: ${formatArguments(replacedArguments, full)}`
  return [
    [part(`${what}${who} at ${formatTime(at)}${scope}`, 'dim')],
    ...(replaced === undefined ? [] : [[part(replaced, 'yellow')]]),
  ]
}

function formatWait(
  what: 'result' | 'approval' | 'answer',
  { since, expiresAt }: NonNullable<CallNode['deferred']>,
): string {
  return `waits for its ${what} since ${formatTime(since)}, expires ${formatTime(expiresAt)}`
}
