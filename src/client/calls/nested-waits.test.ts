import { expect, it, vi } from 'vitest'
import { PtcError } from '../../common/errors.js'
import type { CallNode, CallWait, CellNode, RunTree } from '../run-tree/index.js'
import { hasNestedWork, withNestedWaits } from './nested-waits.js'
import { waitingCallsOf } from './waiting-calls.js'

const wait = (token: string, since = 0): CallWait => ({
  type: 'approval',
  tool: 'pay',
  summary: `pay ${token}`,
  arguments: {},
  position: { turn: 1, cell: 1, index: 1 },
  since,
  expiresAt: 1_000,
  token,
})

/** An open call that is a workflow. */
const subagent = (workflowId: string, status = 'running') => ({ workflowId, status }) as CallNode
const cell = (fields: Partial<CellNode>) => ({ status: 'running', code: 'x', calls: [], ...fields }) as CellNode

function tree(workflowId: string, cells: readonly CellNode[], waitsFor: RunTree['waitsFor'] = []): RunTree {
  return { workflowId, turns: [{ cells, directCalls: [] }], waitsFor } as unknown as RunTree
}

/** Counts what is read. */
function readerOf(...trees: readonly RunTree[]) {
  const handle = vi.fn((id: string) => ({
    tree: () => {
      const found = trees.find(({ workflowId }) => workflowId === id)
      return found ? Promise.resolve(found) : Promise.reject(new PtcError('TEMPORAL_NOT_FOUND', `no run ${id}`))
    },
  }))
  return { ptc: { handle } as unknown as Parameters<typeof withNestedWaits>[0], read: handle.mock.calls }
}

it('has what a sub-agent waits for, and a sub-agent of that, with their runs; the oldest wait first', async () => {
  const parent = tree('parent', [cell({ calls: [subagent('child')] })], [wait('own', 2)])
  const child = {
    ...tree('child', [], [wait('below', 3)]),
    turns: [{ cells: [], directCalls: [subagent('grandchild')] }],
  } as unknown as RunTree
  const { ptc } = readerOf(parent, child, tree('grandchild', [], [wait('deep', 1)]))
  expect(hasNestedWork(parent)).toBe(true)
  expect((await withNestedWaits(ptc, parent)).waitsFor).toEqual([
    { ...wait('deep', 1), workflowId: 'grandchild' },
    wait('own', 2),
    { ...wait('below', 3), workflowId: 'child' },
  ])
  expect(await waitingCallsOf(ptc, 'parent')).toMatchObject([
    { token: 'deep', workflowId: 'grandchild', waitsFor: 'approval' },
    { token: 'own' },
    { token: 'below', workflowId: 'child' },
  ])
})

it('reads no call and no run that has ended, and leaves out a workflow that is not found', async () => {
  const parent = tree('parent', [cell({ calls: [subagent('ended', 'ok'), subagent('elsewhere')] })])
  const { ptc, read } = readerOf(parent, tree('ended', [], [wait('late')]))
  expect(await withNestedWaits(ptc, parent)).toBe(parent)
  expect(read).toEqual([['elsewhere']])
  expect(hasNestedWork({ ...parent, endedAt: 1 })).toBe(false)
})

it('throws what reading a sub-agent throws else: a call may wait there', async () => {
  const thrown = new PtcError('TEMPORAL_UNREACHABLE', 'no server')
  const ptc = { handle: () => ({ tree: () => Promise.reject(thrown) }) } as never
  await expect(withNestedWaits(ptc, tree('parent', [cell({ calls: [subagent('child')] })]))).rejects.toBe(thrown)
})

it('has the calls of a cell that the session of another workflow executes, and of no other cell there', async () => {
  const owner = { workflowId: 'session', toolCalls: undefined }
  const run = tree('run', [cell({ owner, code: 'mine' })])
  const session = (code: string) => tree('session', [cell({ code, calls: [subagent('child')] })], [wait('a')])
  const child = tree('child', [], [wait('b')])
  expect((await withNestedWaits(readerOf(session('mine'), child).ptc, run)).waitsFor).toEqual([
    { ...wait('a'), workflowId: 'session' },
    { ...wait('b'), workflowId: 'child' },
  ])
  expect((await withNestedWaits(readerOf(session('of another'), child).ptc, run)).waitsFor).toEqual([])
})

it('has a wait once, also when a sub-agent uses the sandbox of the run', async () => {
  const parent = tree('parent', [cell({ calls: [subagent('child')] })], [wait('own')])
  const child = tree('child', [cell({ owner: { workflowId: 'parent', toolCalls: undefined } })], [wait('below')])
  const { waitsFor } = await withNestedWaits(readerOf(parent, child).ptc, parent)
  expect(waitsFor.map((each) => (each.type === 'budget' ? '' : each.token))).toEqual(['own', 'below'])
})

it('is bounded in depth and in number', async () => {
  const chain = Array.from({ length: 20 }, (_, n) =>
    tree(`run-${n}`, [cell({ calls: [subagent(`run-${n + 1}`)] })], [wait(`${n}`)]),
  )
  const [first] = chain
  if (!first) throw new Error('no run')
  const deep = readerOf(...chain)
  await withNestedWaits(deep.ptc, first)
  expect(deep.read).toHaveLength(8)
  const wide = readerOf()
  await withNestedWaits(
    wide.ptc,
    tree('parent', [cell({ calls: Array.from({ length: 200 }, (_, n) => subagent(`${n}`)) })]),
  )
  expect(wide.read).toHaveLength(50)
})
