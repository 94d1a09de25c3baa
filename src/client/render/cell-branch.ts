import { plural } from '../../common/text.js'
import type { CellNode } from '../history/index.js'
import type { Branch } from './branch.js'
import { callBranches } from './call-branch.js'
import { part, spread } from './line.js'
import { durationOf, facts, type Scene } from './scene.js'
import { inWords, statusMark } from './status-mark.js'
import { textBlock } from './text-block.js'

const shownCodeLines = 12
const shownOutputLines = 10

/** One cell: its code, the calls it made, what it printed, and what went wrong. */
export function cellBranch(cell: CellNode, scene: Scene): Branch {
  const { number, code, status, output, error, calls, rebuilds, wakes } = cell
  const right = facts(
    status === 'waiting' ? undefined : durationOf(cell, scene),
    calls.length > 0 ? plural(calls.length, 'call') : undefined,
    rebuilds > 0 ? `sandbox rebuilt ${times(rebuilds)}` : undefined,
    wakes > 0 ? `parked ${times(wakes)}` : undefined,
  )
  const state = status === 'ok' ? [] : [part(` ${inWords(status)}`, 'yellow')]
  const limit = scene.full ? undefined : shownOutputLines
  return {
    head: (columns) => spread([statusMark(status), part(` cell ${number}`, 'bold'), ...state], right, columns),
    body: (columns) => textBlock(code, { columns, style: 'cyan', limit: scene.full ? undefined : shownCodeLines }),
    children: [
      ...callBranches(calls, scene),
      ...(output.trim() === ''
        ? []
        : [{ head: () => [part('printed', 'dim')], body: (columns: number) => textBlock(output, { columns, limit }) }]),
      ...(error === undefined
        ? []
        : [
            {
              head: () => [part(inWords(status), 'red')],
              body: (columns: number) => textBlock(error, { columns, style: 'red', limit, keep: 'tail' }),
            },
          ]),
    ],
  }
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`
}
