import { expect, it, vi } from 'vitest'
import type { RunWait } from '../../client/index.js'
import { ShownWaits } from './show-waits.js'

const wait = (index: number): RunWait => ({
  type: 'approval',
  tool: 'pay',
  summary: `pay ${index}`,
  arguments: {},
  position: { turn: 1, cell: 1, index },
  since: 0,
  expiresAt: 1_000,
  token: `token-${index}`,
})

it('reads the history of a conversation only when it has another wait, and shows each wait once', async () => {
  let waitsFor: readonly RunWait[] = []
  let state = 'running'
  const tree = vi.fn(() => Promise.resolve({ workflowId: 'run-1', waitsFor, turns: [] }))
  const waits = new ShownWaits({} as never, { describe: () => Promise.resolve({ state }), tree } as never)
  const read = (waitingCalls: number, toolCalls: number) => waits.read({ waitingCalls, toolCalls })

  expect(await read(0, 0)).toEqual([])
  expect(tree).not.toHaveBeenCalled()
  // The history is older than the status.
  expect(await read(1, 1)).toEqual([])
  waitsFor = [wait(1)]
  expect(await read(1, 1)).toEqual([expect.stringMatching(/^pay 1 waits for approval, since .*: ptc approve run-1/)])
  for (let times = 0; times < 5; times += 1) expect(await read(1, 1)).toEqual([])
  expect(tree).toHaveBeenCalledTimes(2)
  waitsFor = [wait(2)]
  expect(await read(1, 2)).toHaveLength(1)
  expect(await read(0, 2)).toEqual([])
  state = 'paused'
  waitsFor = [{ type: 'budget', item: 'turns', amount: 1, since: 0 }]
  expect(await read(0, 2)).toHaveLength(1)
  expect(await read(0, 2)).toEqual([])
  expect(tree).toHaveBeenCalledTimes(4)
})

it('says what a sub-agent waits for, which only its run has', async () => {
  vi.useFakeTimers()
  try {
    const directCalls = [{ workflowId: 'child-1', status: 'running' }]
    const tree = vi.fn(() =>
      Promise.resolve({ workflowId: 'run-1', waitsFor: [], turns: [{ cells: [], directCalls }] }),
    )
    const child = { tree: () => Promise.resolve({ workflowId: 'child-1', waitsFor: [wait(1)], turns: [] }) }
    const handle = { describe: () => Promise.resolve({ state: 'running' }), tree }
    const waits = new ShownWaits({ handle: () => child } as never, handle as never)
    const read = () => waits.read({ waitingCalls: 0, toolCalls: 1 })
    expect(await read()).toEqual([])
    vi.advanceTimersByTime(15_000)
    expect(await read()).toEqual([expect.stringContaining('pay 1 waits for approval')])
    expect(await read()).toEqual([])
    vi.advanceTimersByTime(15_000)
    expect(await read()).toEqual([])
    expect(tree).toHaveBeenCalledTimes(2)
  } finally {
    vi.useRealTimers()
  }
})
