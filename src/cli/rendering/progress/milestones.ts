import { displayOfCell } from '../../../common/run/environment.js'
import { pluralize } from '../../../common/text/text.js'
import type { CallNode, CellNode, RunTree, TurnNode } from '../../../client/run-tree/index.js'
import type { Unserved } from '../../../client/workers/unserved.js'
import { formatArguments, blockedLines } from '../tree/call-branch.js'
import { formatDuration, formatTokens } from '../../../common/text/format.js'
import { describeCompaction } from '../text/compaction.js'
import { type Line, part } from '../text/line.js'
import { oneLine } from '../text/sanitize.js'
import { formatStatus, statusMark } from '../tree/status-mark.js'
import { callActivityId, scriptedModelName } from '../../../common/names.js'
import { describeRetry } from '../text/retry.js'
import { textBlock } from '../text/text-block.js'
import { sinceTime, waitKey, waitLine, unservedLines } from '../text/waits.js'

/** A permanent event of a run. */
interface Milestone {
  /** Identifies the event in every later tree of the run. */
  readonly key: string
  /** Rendered on demand: the milestones are computed for each tree, but each one is printed once. */
  readonly lines: () => readonly Line[]
  /** The live lines show the event too, so it is printed only where there are none. */
  readonly isTransient?: true
}

const maxCodeLines = 40
const maxOutputLines = 20

/** All milestones of a run so far, in order. */
export function milestones(tree: RunTree, columns: number): readonly Milestone[] {
  const answer = tree.type === 'agent' ? tree.result?.answer : undefined
  const { sandbox, model } = tree
  const isScripted = tree.type === 'agent' && model === scriptedModelName
  const opened: Milestone[] = sandbox
    ? [{ key: 'sandbox', lines: () => [[part(`sandbox: ${oneLine(sandbox)}`, 'dim')]], isTransient: true }]
    : []
  const [first, ...later] = tree.turns.map((turn) => turnMilestones(turn, answer, columns))
  // The sandbox opens after the first model reply; in a program it comes first.
  const precedingCount = tree.turns[0]?.model === undefined ? 0 : 2
  return [
    ...(isScripted ? [scriptedModelMilestone] : []),
    ...(first?.slice(0, precedingCount) ?? []),
    ...opened,
    ...(first?.slice(precedingCount) ?? []),
    ...compactionMilestones(tree),
    ...later.flat(),
    ...compensationMilestones(tree),
    ...waitMilestones(tree, columns),
    ...retryMilestones(tree),
    ...unservedMilestones(tree, columns),
  ]
}

/** The waits of a run. */
export function waitMilestones(tree: RunTree, columns: number): readonly Milestone[] {
  return tree.waitsFor.map((wait) => ({
    key: `wait ${waitKey(wait)}`,
    lines: () => waitLine(tree, wait, sinceTime(wait.since), columns),
    isTransient: true,
  }))
}

/** The first failure of each kind that is retried: a model or a tool that is down looks like a run that hangs. */
function retryMilestones({ turns }: RunTree): readonly Milestone[] {
  const now = Date.now()
  return turns.slice(-1).flatMap(({ number, model, cells, directCalls }) => {
    const calls = [...cells.flatMap((cell) => cell.calls), ...directCalls].map((call) => ({
      node: call,
      name: oneLine(call.summary),
      id: callActivityId(call.position),
    }))
    const turn = model ? [{ node: model, name: `turn ${number}`, id: `turn-${number}` }] : []
    return [...turn, ...calls].flatMap(({ node, name, id }) => {
      const text = describeRetry(node, now)
      if (text === undefined) return []
      const lines = (): readonly Line[] => [[part(`${name}: ${text}`, 'yellow')]]
      return [{ key: `retry ${id} ${node.lastFailure?.code}`, lines, isTransient: true as const }]
    })
  })
}

/** The compactions that have ended. Each is printed before the turn that follows it, because that turn is later. */
function compactionMilestones({ compactions }: RunTree): readonly Milestone[] {
  return compactions.flatMap((compaction, index) => {
    if (compaction.endedAt === undefined) return []
    const text = ` compaction: ${describeCompaction(compaction)}`
    return [{ key: `compaction ${index}`, lines: () => [[statusMark(compaction.status), part(text)]] }]
  })
}

/** The compensations that have ended, in the order of their end. */
function compensationMilestones({ turns }: RunTree): readonly Milestone[] {
  const calls = turns.flatMap(({ cells, directCalls }) => [...cells.flatMap((cell) => cell.calls), ...directCalls])
  return calls
    .flatMap((call) => {
      const { compensation } = call
      return compensation?.endedAt === undefined ? [] : [{ call, compensation, endedAt: compensation.endedAt }]
    })
    .toSorted((one, other) => one.endedAt - other.endedAt)
    .map(({ call, compensation }) => ({
      key: `compensation ${callActivityId(call.position)}`,
      lines: () => {
        const text = `${oneLine(call.tool)}(${formatArguments(call.arguments)})`
        if (compensation.status !== 'failed') return [[statusMark('ok'), part(` compensated ${text}`)]]
        const reason = part(`  ${oneLine(compensation.failure.message)}`, 'red')
        return [[statusMark('tool_error'), part(` not compensated: ${text}`), reason]]
      },
    }))
}

const scriptedModelMilestone: Milestone = {
  key: 'scripted model',
  lines: () => [[part('model: a scripted model replies, because the worker found no API key', 'yellow')]],
}

/** The task queues that no worker polls currently, and Nexus endpoints that fail. */
export function unservedMilestones({ unserved }: RunTree, columns: number): readonly Milestone[] {
  return unserved.map((each) => unservedMilestone(each, columns))
}

/**
 * The key changes when a worker has polled in between, or when the failure differs: then the event is printed again.
 */
function unservedMilestone(unserved: Unserved, columns: number): Milestone {
  const parts =
    'activity' in unserved
      ? [unserved.activity, unserved.reason]
      : 'endpoint' in unserved
        ? [unserved.endpoint, unserved.operation, unserved.reason]
        : [unserved.taskQueue, unserved.role ?? '', unserved.lastPolledAt ?? '']
  return {
    key: `unserved ${parts.join(' ')}`,
    lines: () => unservedLines(unserved, Date.now(), columns),
    isTransient: true,
  }
}

function turnMilestones(turn: TurnNode, answer: string | undefined, columns: number): readonly Milestone[] {
  const { number, model, cells, directCalls } = turn
  return [
    ...modelMilestones(number, model, answer, columns),
    ...cells.flatMap((cell) => cellMilestones(cell, columns)),
    ...directCalls.flatMap(callMilestones),
    ...blockedMilestones(turn, columns),
  ]
}

/** Once per turn: all calls of a blocked worker have the same note. */
function blockedMilestones({ number, cells, directCalls }: TurnNode, columns: number): readonly Milestone[] {
  const call = [...cells.flatMap(({ calls }) => calls), ...directCalls].find(({ blocked }) => blocked !== undefined)
  return call ? [{ key: `turn ${number} blocked`, lines: () => blockedLines(call, columns) }] : []
}

function modelMilestones(
  number: number,
  model: TurnNode['model'],
  answer: string | undefined,
  columns: number,
): readonly Milestone[] {
  if (!model) return []
  const requested: Milestone = {
    key: `turn ${number}`,
    lines: () => [[part(`turn ${number}: asking the model`, 'dim')]],
    isTransient: true,
  }
  if (model.status !== 'ok') return [requested]
  const took = `${formatDuration((model.endedAt ?? model.startedAt) - model.startedAt)} · ${formatTokens(model.usage)}`
  const head: Line = [statusMark('ok'), part(` turn ${number}`, 'bold'), part(`  ${took}`, 'dim')]
  // The last reply is the answer, which is printed separately.
  const isAnswer = model.text === answer || model.stopReason === 'end_turn'
  const replyLines = () => (isAnswer ? [] : textBlock(model.text, { columns, limit: maxOutputLines, prose: true }))
  return [requested, { key: `turn ${number} replied`, lines: () => [head, ...replyLines()] }]
}

function cellMilestones(cell: CellNode, columns: number): readonly Milestone[] {
  const { code, language } = displayOfCell(cell)
  const { number, status, output, error, rebuilds, endedAt } = cell
  const written = language === undefined ? [] : [part(`  ${oneLine(language)}`, 'dim')]
  const found: Milestone[] = [
    {
      key: `cell ${number}`,
      lines: () => [
        [part(`cell ${number}`, 'bold'), ...written],
        ...indentedBlock(code, columns, 'cyan', maxCodeLines),
      ],
    },
  ]
  for (let time = 1; time <= rebuilds; time += 1) {
    const text = 'the sandbox was lost; rebuilding it from the journal'
    found.push({ key: `cell ${number} rebuilt ${time}`, lines: () => [[part(text, 'yellow')]] })
  }
  if (endedAt === undefined) return found
  const lines = (): readonly Line[] => {
    const calls = cell.calls.length > 0 ? ` · ${formatCallCount(cell.calls)}` : ''
    const state = status === 'ok' ? '' : ` ${formatStatus(status)}`
    const took = part(`  ${formatDuration(endedAt - cell.startedAt)}${calls}`, 'dim')
    const printed = indentedBlock(output, columns, 'plain', maxOutputLines)
    const wrong = error === undefined ? [] : indentedBlock(error, columns, 'red', maxOutputLines)
    return [[statusMark(status), part(` cell ${number}${state}`, 'bold'), took], ...printed, ...wrong]
  }
  return [...found, { key: `cell ${number} ended`, lines }]
}

/** Wraps lines, because progress shows them nowhere else. Does not truncate them. */
function indentedBlock(text: string, columns: number, style: 'plain' | 'cyan' | 'red', limit: number): readonly Line[] {
  const keep = style === 'red' ? 'tail' : 'head'
  return textBlock(text, { columns: columns - 2, style, limit, keep, prose: true }).map((line) => [
    part('│ ', 'dim'),
    ...line,
  ])
}

function formatCallCount(calls: readonly CallNode[]): string {
  const wrong = calls.filter(({ status }) => status !== 'ok').length
  return wrong === 0 ? pluralize(calls.length, 'call') : `${pluralize(calls.length, 'call')}, ${wrong} not ok`
}

function callMilestones(call: CallNode): readonly Milestone[] {
  const { status, endedAt, startedAt, position, message } = call
  if (endedAt === undefined) return []
  const lines = (): readonly Line[] => {
    const text = ` ${oneLine(call.tool)}(${formatArguments(call.arguments)})  ${formatDuration(endedAt - startedAt)}`
    const reason = status === 'ok' ? [] : [part(`  ${formatStatus(status)}: ${oneLine(message ?? '')}`, 'red')]
    return [[statusMark(status), part(text), ...reason]]
  }
  return [{ key: `turn ${position.turn} call ${position.index}`, lines }]
}
