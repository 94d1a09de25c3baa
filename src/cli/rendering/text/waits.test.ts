import { expect, it } from 'vitest'
import type { WaitOfRun } from '../../../client/index.js'
import type { RunWait } from '../../../client/run-tree/index.js'
import { newWaitLines } from './waits.js'

const waitOf = (wait: RunWait): WaitOfRun => ({ run: { workflowId: 'run-1' } as WaitOfRun['run'], wait })
const call = (index: number, workflowId?: string): WaitOfRun =>
  waitOf({
    type: 'approval',
    tool: 'pay',
    summary: `pay ${index}`,
    arguments: {},
    position: { turn: 1, cell: 1, index },
    since: 0,
    expiresAt: 1_000,
    token: `token-${index}`,
    ...(workflowId !== undefined && { workflowId }),
  })

it('shows each wait of a conversation once, with the command that continues it', () => {
  const shown = new Set<string>()
  expect(newWaitLines([], shown)).toEqual([])
  const line = /^pay 1 waits for approval, since .*: ptc approve run-1, /
  expect(newWaitLines([call(1)], shown)).toEqual([expect.stringMatching(line)])
  expect(newWaitLines([call(1)], shown)).toEqual([])
  expect(newWaitLines([call(1), call(2)], shown)).toEqual([expect.stringContaining('pay 2 waits')])
  const budget = waitOf({ type: 'budget', item: 'turns', amount: 1, since: 0 })
  expect(newWaitLines([budget], shown)).toHaveLength(1)
  expect(newWaitLines([budget], shown)).toEqual([])
})

it('shows what a sub-agent waits for, with its run', () => {
  expect(newWaitLines([call(1, 'child-1')], new Set())).toEqual([expect.stringContaining('ptc approve child-1, ')])
})
