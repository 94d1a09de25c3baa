import { plural } from '../../common/text.js'
import type { CallNode, CellNode, RunTree, TurnNode, UnservedQueue } from '../history/index.js'
import { argumentsText, blockedLines } from './call-branch.js'
import { formatDuration, formatTokens } from './format.js'
import { type Line, part } from './line.js'
import { oneLine } from './neutralise.js'
import { inWords, statusMark } from './status-mark.js'
import { textBlock } from './text-block.js'
import { unservedLines } from './unserved-queue.js'

/** Something that has happened for good. */
export interface Milestone {
  /** The same for the same thing, in every later tree of the run. */
  readonly key: string
  /** Laid out only when asked for: a run is gone through again and again, and each milestone is printed once. */
  readonly lines: () => readonly Line[]
  /** Said by the live lines as well: only for where there are none. */
  readonly passing?: true
}

const shownCodeLines = 40
const shownOutputLines = 20

/** Everything that has happened in a run so far, in order. Grows as the run does: what is new is what to print. */
export function milestones(tree: RunTree, columns: number): readonly Milestone[] {
  const answer = tree.type === 'agent' ? tree.result?.answer : undefined
  const { sandbox } = tree
  const opened: Milestone[] = sandbox
    ? [{ key: 'sandbox', lines: () => [[part(`sandbox: ${oneLine(sandbox)}`, 'dim')]], passing: true }]
    : []
  const [first, ...later] = tree.turns.map((turn) => ofTurn(turn, answer, columns))
  // A model answers before there is a sandbox; without one, nothing does.
  const before = tree.turns[0]?.model === undefined ? 0 : 2
  return [
    ...(first?.slice(0, before) ?? []),
    ...opened,
    ...(first?.slice(before) ?? []),
    ...later.flat(),
    ...unservedMilestones(tree, columns),
  ]
}

/** The queues that no worker polls at the moment. */
export function unservedMilestones({ unserved }: RunTree, columns: number): readonly Milestone[] {
  return unserved.map((queue) => ofUnserved(queue, columns))
}

/** Said again when workers came and went in between. */
function ofUnserved(queue: UnservedQueue, columns: number): Milestone {
  const { taskQueue, lastPolledAt } = queue
  return {
    key: `unserved ${taskQueue} ${lastPolledAt ?? ''}`,
    lines: () => unservedLines(queue, Date.now(), columns),
    passing: true,
  }
}

function ofTurn(turn: TurnNode, answer: string | undefined, columns: number): readonly Milestone[] {
  const { number, model, cells, directCalls } = turn
  return [
    ...ofModel(number, model, answer, columns),
    ...cells.flatMap((cell) => ofCell(cell, columns)),
    ...directCalls.flatMap(ofCall),
    ...ofBlocked(turn, columns),
  ]
}

/** Once a turn: every call of a blocked worker says the same. */
function ofBlocked({ number, cells, directCalls }: TurnNode, columns: number): readonly Milestone[] {
  const call = [...cells.flatMap(({ calls }) => calls), ...directCalls].find(({ blocked }) => blocked !== undefined)
  return call ? [{ key: `turn ${number} blocked`, lines: () => blockedLines(call, columns) }] : []
}

function ofModel(
  number: number,
  model: TurnNode['model'],
  answer: string | undefined,
  columns: number,
): readonly Milestone[] {
  if (!model) return []
  const asked: Milestone = {
    key: `turn ${number}`,
    lines: () => [[part(`turn ${number}: asking the model`, 'dim')]],
    passing: true,
  }
  if (model.status !== 'ok') return [asked]
  const took = `${formatDuration((model.endedAt ?? model.startedAt) - model.startedAt)} · ${formatTokens(model.usage)}`
  const head: Line = [statusMark('ok'), part(` turn ${number}`, 'bold'), part(`  ${took}`, 'dim')]
  // Its last words are the answer, which is printed on its own.
  const isAnswer = model.text === answer || model.stopReason === 'end_turn'
  const said = () => (isAnswer ? [] : textBlock(model.text, { columns, limit: shownOutputLines, prose: true }))
  return [asked, { key: `turn ${number} answered`, lines: () => [head, ...said()] }]
}

function ofCell(cell: CellNode, columns: number): readonly Milestone[] {
  const { number, code, status, output, error, rebuilds, endedAt } = cell
  const found: Milestone[] = [
    {
      key: `cell ${number}`,
      lines: () => [[part(`cell ${number}`, 'bold')], ...inset(code, columns, 'cyan', shownCodeLines)],
    },
  ]
  for (let time = 1; time <= rebuilds; time += 1) {
    const text = 'the sandbox was lost; it is made again from what is recorded'
    found.push({ key: `cell ${number} rebuilt ${time}`, lines: () => [[part(text, 'yellow')]] })
  }
  if (endedAt === undefined) return found
  const lines = (): readonly Line[] => {
    const calls = cell.calls.length > 0 ? ` · ${callsInWords(cell.calls)}` : ''
    const state = status === 'ok' ? '' : ` ${inWords(status)}`
    const took = part(`  ${formatDuration(endedAt - cell.startedAt)}${calls}`, 'dim')
    const printed = inset(output, columns, 'plain', shownOutputLines)
    const wrong = error === undefined ? [] : inset(error, columns, 'red', shownOutputLines)
    return [[statusMark(status), part(` cell ${number}${state}`, 'bold'), took], ...printed, ...wrong]
  }
  return [...found, { key: `cell ${number} ended`, lines }]
}

/** Nothing of a line is lost: this is the only place where whoever follows a run gets to see it. */
function inset(text: string, columns: number, style: 'plain' | 'cyan' | 'red', limit: number): readonly Line[] {
  const keep = style === 'red' ? 'tail' : 'head'
  return textBlock(text, { columns: columns - 2, style, limit, keep, prose: true }).map((line) => [
    part('│ ', 'dim'),
    ...line,
  ])
}

function callsInWords(calls: readonly CallNode[]): string {
  const wrong = calls.filter(({ status }) => status !== 'ok').length
  return wrong === 0 ? plural(calls.length, 'call') : `${plural(calls.length, 'call')}, ${wrong} not ok`
}

function ofCall(call: CallNode): readonly Milestone[] {
  const { status, endedAt, startedAt, position, message } = call
  if (endedAt === undefined) return []
  const lines = (): readonly Line[] => {
    const text = ` ${oneLine(call.tool)}(${argumentsText(call.arguments)})  ${formatDuration(endedAt - startedAt)}`
    const why = status === 'ok' ? [] : [part(`  ${inWords(status)}: ${oneLine(message ?? '')}`, 'red')]
    return [[statusMark(status), part(text), ...why]]
  }
  return [{ key: `turn ${position.turn} call ${position.index}`, lines }]
}
