import { expect, it } from 'vitest'
import { syntheticHistory, treeOf } from '../../../../test/fixtures/run-tree/recorded.js'
import { milestones } from '../progress/milestones.js'
import { renderTree } from './render-tree.js'

const position = (index: number) => ({ turn: 0, cell: 1, index })
const input = (index: number) => ({
  tool: 'book',
  caller: 'code_execution',
  position: position(index),
  idempotencyKey: `key-${index}`,
  arguments: { n: index },
})
const described = (index: number) => ({
  index,
  tool: 'book',
  arguments: { n: index },
  summary: `book ${index}`,
  digest: '',
  refused: null,
})
const config = {
  name: 'run.config',
  input: {},
  result: { tools: [{ name: 'book', effect: 'idempotent' }], model: { name: 'm' }, backend: 'wasm' },
}
const cell = {
  name: 'session.step',
  input: { step: { number: 1, input: { type: 'cell', cell: 1, source: 'code' } } },
  result: { type: 'suspended', calls: [1, 2, 3, 4].map(described), output: '' },
}
const call = (index: number) => ({ name: 'book', id: `call-${index}`, input: input(index), result: 'done' })
const compensation = (index: number) => ({
  name: 'book.compensate',
  id: `compensate-${index}`,
  input: { ...input(index), summary: `book ${index}`, result: 'done' },
})
const failure = { message: 'the desk is closed', applicationFailureInfo: { type: 'TOOL_REFUSED' } }

const unwinding = treeOf(
  syntheticHistory('program', { source: 'code' }, [
    config,
    cell,
    ...[1, 2, 3, 4].map(call),
    { ...compensation(4), result: null },
    { ...compensation(3), failure },
    { ...compensation(2), open: true },
  ]),
)

it('the tree shows at each call whether it was compensated, and that the run compensates', async () => {
  const tree = await unwinding
  expect(tree.phase).toEqual({ type: 'compensating' })
  const [first, second, third, fourth] = tree.turns[0]?.cells[0]?.calls ?? []
  expect(first).toMatchObject({ status: 'ok' })
  expect(first).not.toHaveProperty('compensation')
  expect(second?.compensation).toMatchObject({ status: 'waiting', endedAt: undefined })
  expect(third).toMatchObject({
    status: 'ok',
    compensation: { status: 'failed', failure: { code: 'TOOL_REFUSED', message: 'the desk is closed' } },
  })
  expect(fourth?.compensation).toMatchObject({ status: 'ok', attempts: 1 })
  expect(tree.turns[0]?.cells[0]?.calls).toHaveLength(4)
})

it('the progress of a run names each compensation that has ended', async () => {
  const tree = await unwinding
  const lines = milestones(tree, 80)
    .filter(({ key }) => key.startsWith('compensation'))
    .map((milestone) => [milestone.key, ...milestone.lines().map((line) => line.map(({ text }) => text).join(''))])
  expect(lines).toEqual([
    ['compensation turn-0.cell-1.call-4', '✓ compensated book(n=4)'],
    ['compensation turn-0.cell-1.call-3', '✗ not compensated: book(n=3)  the desk is closed'],
  ])
})

it('the tree draws the compensations below their calls', async () => {
  const drawn = renderTree(await unwinding, { width: 80, color: false, now: 0 })
  expect(drawn).toMatch(/book\(n=2\).*\n.*→ "done"\n.*is being compensated\n/)
  expect(drawn).toMatch(/book\(n=3\).*\n.*→ "done"\n.*compensation failed: the desk is closed\n/)
  expect(drawn).toMatch(/book\(n=4\).*\n.*→ "done"\n.*compensated$/m)
})
