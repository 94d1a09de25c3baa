import { expect, it, vi } from 'vitest'
import type { HelperWorkflow, WorkflowWaits } from '../../common/calls/deferred-calls.js'
import { PtcError } from '../../common/errors.js'
import type { PtcClient, WaitOfRun } from '../index.js'
import type { CallNode, CallWait, CellNode, RunTree } from '../run-tree/index.js'
import { askWithHelpers, hasHelpers, withNestedWaits } from './waits-of-run.js'

const waitsOf = (helpers: readonly HelperWorkflow[] = [], servedRun?: string): WorkflowWaits => ({
  firstExecutionRunId: '1',
  calls: [],
  helpers,
  ...(servedRun !== undefined && { servedRun }),
})

/** Asks `root`; returns the workflows that were found, and those that were asked. */
async function ask(workflows: Readonly<Record<string, WorkflowWaits>>, root: string) {
  const askOne = vi.fn((id: string) => Promise.resolve(workflows[id]))
  const found = await askWithHelpers(askOne, root)
  return { found: [...found.keys()], asked: askOne.mock.calls.flat() }
}

it('asks a run, its sub-agents, and the sub-agents of those; one that has ended has no answer', async () => {
  const workflows = {
    parent: waitsOf([{ workflowId: 'child' }, { workflowId: 'ended' }]),
    child: waitsOf([{ workflowId: 'grandchild' }]),
    grandchild: waitsOf(),
  }
  expect(await ask(workflows, 'parent')).toEqual({
    found: ['parent', 'child', 'grandchild'],
    asked: ['parent', 'child', 'ended', 'grandchild'],
  })
  expect((await ask(workflows, 'unknown')).found).toEqual([])
})

it('takes the answer of a session only while it executes a cell of the run', async () => {
  const workflows = (servedRun: string) => ({
    run: waitsOf([{ workflowId: 'session', hasCell: true }]),
    session: waitsOf([{ workflowId: 'child' }], servedRun),
    child: waitsOf([], 'somebody'),
  })
  expect((await ask(workflows('run'), 'run')).found).toEqual(['run', 'session', 'child'])
  expect((await ask(workflows('another'), 'run')).found).toEqual(['run'])
})

it('asks a run once, also when its sub-agent uses its sandbox', async () => {
  const workflows = {
    parent: waitsOf([{ workflowId: 'child' }], 'child'),
    child: waitsOf([{ workflowId: 'parent', hasCell: true }]),
  }
  expect((await ask(workflows, 'parent')).asked).toEqual(['parent', 'child'])
  expect((await ask(workflows, 'child')).found).toEqual(['child', 'parent'])
})

it('asks a bounded number of workflows, to a bounded depth', async () => {
  const chain = Object.fromEntries(
    Array.from({ length: 20 }, (_, n) => [`run-${n}`, waitsOf([{ workflowId: `run-${n + 1}` }])]),
  )
  expect((await ask(chain, 'run-0')).asked).toHaveLength(9)
  const many = Array.from({ length: 200 }, (_, n) => ({ workflowId: `${n}` }))
  expect((await ask({ parent: waitsOf(many) }, 'parent')).asked).toHaveLength(51)
})

const call = (workflowId: string, status = 'running') => ({ workflowId, status }) as CallNode
const treeOf = (cell: Partial<CellNode>, waitsFor: readonly CallWait[] = []): RunTree =>
  ({
    workflowId: 'run',
    turns: [{ cells: [{ status: 'running', calls: [], ...cell }], directCalls: [] }],
    waitsFor,
  }) as unknown as RunTree

it('a run has helpers while the call of a sub-agent or a cell in another session is open', () => {
  expect(hasHelpers(treeOf({ calls: [call('child')] }))).toBe(true)
  expect(hasHelpers(treeOf({ calls: [call('child', 'ok')] }))).toBe(false)
  const owner = { workflowId: 'session', toolCalls: undefined }
  expect(hasHelpers(treeOf({ owner }))).toBe(true)
  expect(hasHelpers(treeOf({ owner, status: 'ok' }))).toBe(false)
  expect(hasHelpers({ ...treeOf({ owner }), endedAt: 1 })).toBe(false)
})

it('adds the waits of helpers to a tree, the oldest first, and asks only a run with helpers', async () => {
  const own = { since: 2, token: 'own' } as CallWait
  const below = { since: 1, token: 'below', workflowId: 'child' } as CallWait
  const waits = vi.fn(() => Promise.resolve([{ wait: below }, { wait: own }] as unknown as readonly WaitOfRun[]))
  const ptc: Pick<PtcClient, 'waits'> = { waits }
  const alone = treeOf({}, [own])
  expect(await withNestedWaits(ptc, alone)).toBe(alone)
  expect(waits).not.toHaveBeenCalled()
  const tree = treeOf({ calls: [call('child')] }, [own])
  expect((await withNestedWaits(ptc, tree)).waitsFor).toEqual([below, own])
})

it('leaves the tree as it is without a worker, and throws any other error: a call may wait', async () => {
  const tree = treeOf({ calls: [call('child')] })
  const failing = (code: 'WORKER_MISSING' | 'TEMPORAL_UNREACHABLE') => ({
    waits: () => Promise.reject(new PtcError(code, 'no answer')),
  })
  expect(await withNestedWaits(failing('WORKER_MISSING'), tree)).toBe(tree)
  await expect(withNestedWaits(failing('TEMPORAL_UNREACHABLE'), tree)).rejects.toThrow('no answer')
})
