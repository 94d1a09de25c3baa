import type { Phase, RunTree } from '../../client/run-tree/index.js'
import { isOpen } from '../../client/run-tree/index.js'
import { pluralize, truncateEnd } from '../../common/text/text.js'

const maxCharacters = 300

/** One line about what work does at the moment. */
export function describeProgress(tree: RunTree): string {
  const [wait] = tree.waitsFor
  if (tree.unserved.length > 0) return 'No worker takes the work at the moment'
  if (wait?.type === 'budget') return 'The budget is spent: it waits for a larger one'
  if (wait) return truncateEnd(`${waitTexts[wait.type]}: ${wait.summary}`, maxCharacters)
  const calls = tree.turns.flatMap(({ cells, directCalls }) => [...cells.flatMap((cell) => cell.calls), ...directCalls])
  const open = calls.filter(({ status }) => isOpen(status))
  const latest = open.at(-1)
  const done = `${pluralize(calls.length - open.length, 'call')} done`
  if (!latest) return `${phaseTexts[tree.phase.type]}, ${done}`
  const progress = latest.progress === undefined ? '' : ` (${latest.progress})`
  return truncateEnd(`${done}, ${open.length} open: ${latest.summary}${progress}`, maxCharacters)
}

const waitTexts = {
  approval: 'It waits for an approval',
  answer: 'It waits for the answer of a person',
  result: 'It waits for a result from outside',
} as const

const phaseTexts: Readonly<Record<Phase['type'], string>> = {
  starting: 'It starts',
  model: 'The model answers',
  opening_sandbox: 'The sandbox starts',
  rebuilding: 'The sandbox is rebuilt',
  waking: 'The sandbox starts again',
  running_code: 'The code runs',
  moving_files: 'Files are moved',
  waiting_for_calls: 'The code waits for calls',
  paused: 'It is paused',
  compensating: 'Calls are compensated',
  deciding: 'It continues',
  ended: 'It has ended',
}
