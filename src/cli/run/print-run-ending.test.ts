import { afterEach, expect, it, vi } from 'vitest'
import { zeroCounts } from '../../common/run/runs.js'
import type { AgentTree } from '../../client/run-tree/index.js'
import { printProse, printStatus } from '../process/stdio.js'
import { printRunEnding } from './print-run-ending.js'

vi.mock('../process/stdio.js', () => ({
  print: vi.fn(),
  printProse: vi.fn(),
  printOutput: vi.fn(),
  printStatus: vi.fn(),
}))
afterEach(() => vi.clearAllMocks())

it.each([
  ['answered', 0, undefined],
  ['gave_up', 4, 'ptc: the model gave up'],
  ['tool_error', 1, 'ptc: the code or a call of the only turn failed'],
  ['invalid_plan', 1, expect.stringContaining('no valid plan')],
] as const)('a run that ended with %s has exit code %i', (status, expected, line) => {
  const result = { status, answer: 'The service is closed.', ...zeroCounts }
  const tree = { type: 'agent', turns: [], result } as unknown as AgentTree
  expect(printRunEnding({ tree, result, error: undefined }, false)).toBe(expected)
  expect(printProse).toHaveBeenCalledWith('The service is closed.')
  if (line === undefined) expect(printStatus).not.toHaveBeenCalled()
  else expect(printStatus).toHaveBeenCalledWith(line)
})
