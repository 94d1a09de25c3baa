import { describe, expect, test } from 'vitest'
import {
  syntheticHistory,
  recordedEvents,
  recordedNames,
  recordedTree,
  treeOf,
} from '../../../../test/fixtures/run-tree/recorded.js'
import { milestones } from '../progress/milestones.js'
import { renderTree } from './render-tree.js'
import { displayWidth } from '../text/display-width.js'

const plain = { width: 80, color: false, now: 0 } as const
// oxlint-disable-next-line no-control-regex -- the test looks for control characters
const escapes = /\x1b\[\d+m/g

test('the tree renders a run on 80 columns', async () => {
  await expect(renderTree(await recordedTree('answered'), plain)).toMatchFileSnapshot(
    '../../../../test/fixtures/run-tree/drawn/answered.txt',
  )
})

test('the tree renders a continued run with external values', async () => {
  await expect(renderTree(await recordedTree('continued'), plain)).toMatchFileSnapshot(
    '../../../../test/fixtures/run-tree/drawn/continued.txt',
  )
})

test('the tree renders the uploads of a run and the artifacts of its cells', async () => {
  await expect(renderTree(await recordedTree('files'), plain)).toMatchFileSnapshot(
    '../../../../test/fixtures/run-tree/drawn/files.txt',
  )
})

test('the tree renders a cancelled run', async () => {
  await expect(renderTree(await recordedTree('cancelled'), plain)).toMatchFileSnapshot(
    '../../../../test/fixtures/run-tree/drawn/cancelled.txt',
  )
})

test('the tree breaks no fact on 60 columns', async () => {
  const lines = renderTree(await recordedTree('answered'), { ...plain, width: 60 }).split('\n')
  expect(lines.slice(1, 4)).toEqual([
    '  3.9s · 3 turns · 2 cells · 6 tool calls',
    '  3.5k in (1.1k cached) · 169 out · $0.0073',
    '  claude-sonnet-5-5 · docker container 06ebc0eddf90, image',
  ])
  const narrow = renderTree(await recordedTree('answered'), { ...plain, width: 40 })
  expect(narrow).toMatch(/ turn 1 {2}140ms · 949 in · 79 out$/m)
})

test('the tree marks a run that completed without success as failed', async () => {
  const tree = await recordedTree('answered')
  if (tree.type !== 'agent' || tree.result === undefined) throw new Error('it was answered')
  expect(renderTree(tree, plain)).toMatch(/^✓ .* agent · answered\n/)
  const cut = { ...tree, result: { ...tree.result, status: 'turn_limit' } } as const
  expect(renderTree(cut, plain)).toMatch(/^✗ .* agent · turn limit\n/)
})

test('the tree names the plan step of a turn, and marks a run in which the model gave up', async () => {
  const tree = await recordedTree('answered')
  if (tree.type !== 'agent' || tree.result === undefined) throw new Error('it was answered')
  const turns = tree.turns.map((turn) => ({ ...turn, planStep: 'left' }))
  const gaveUp = { ...tree, turns, result: { ...tree.result, status: 'gave_up' } } as const
  expect(renderTree(gaveUp, plain)).toMatch(/^■ .* agent · gave up\n/)
  expect(renderTree(gaveUp, plain)).toMatch(/ turn 1 · step left /)
})

test('the tree says how many tokens the provider cleared before a turn', async () => {
  const tree = await recordedTree('answered')
  const contextEdits = [{ cleared_input_tokens: 20_000 }, { cleared_input_tokens: 1_500 }, { type: 'of another API' }]
  const turns = tree.turns.map((turn) => ({ ...turn, model: turn.model && { ...turn.model, contextEdits } }))
  expect(renderTree({ ...tree, turns }, plain)).toMatch(/ turn 1 the provider cleared 21\.5k tokens /)
})

describe.each(recordedNames)('renderTree of %s', (name) => {
  test('no line of the tree exceeds the width, after every event', async () => {
    const events = recordedEvents(name)
    const step = Math.max(3, Math.ceil(events.length / 50))
    for (let count = 1; count <= events.length; count += step) {
      const tree = await treeOf(events.slice(0, count))
      for (const width of [30, 80, 133]) {
        for (const full of [false, true]) {
          const lines = renderTree(tree, { width, full, color: false, now: tree.startedAt + 1_000 }).split('\n')
          expect(Math.max(...lines.map(displayWidth))).toBeLessThanOrEqual(width)
        }
      }
    }
  })

  test('the tree has the same text with and without colours', async () => {
    const tree = await recordedTree(name)
    const colored = renderTree(tree, { ...plain, color: true })
    expect(colored).toMatch(escapes)
    expect(colored.replace(escapes, '')).toBe(renderTree(tree, plain))
  })
})

/** A program with control characters in output, results and errors. */
function hostile(text: string) {
  const call = { index: 1, tool: 'get', arguments: { [text]: text }, summary: text, digest: '', refused: null }
  const position = { turn: 0, cell: 1, index: 1 }
  const input = { tool: 'get', caller: 'code_execution', position, idempotencyKey: 'k', arguments: { [text]: text } }
  const step = (input: object) => ({ name: 'session.step', input: { step: { number: 1, input } } })
  return treeOf(
    syntheticHistory('program', { source: text }, [
      {
        ...step({ type: 'cell', cell: 1, source: text, language: text }),
        result: { type: 'suspended', calls: [call], output: text },
      },
      { name: 'get', input, result: text },
      {
        ...step({ type: 'results', results: [] }),
        result: { type: 'failed', kind: 'code_error', error: text, output: text },
      },
    ]),
    { workflowId: text },
  )
}

test('the tree prints no control character of a run', async () => {
  const text = 'x\x1b[2J\x1b]52;c;b3duZWQ=\x07\rover\b\0\x9b31m\u202Egnp.exe\u2066 end'
  const drawn = renderTree(await hostile(text), plain)
  expect(drawn).toContain('␛[2J')
  expect(drawn).toContain('<U+202E>')
  expect(drawn).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u)
})

test.each([
  ['accented letters', 'é'],
  ['spaces', ' '],
  ['spaces that are not ASCII', '\u00A0'],
])('draws and follows a line of 190,000 %s in seconds', async (_what, character) => {
  const tree = await hostile(`x${character.repeat(190_000)}x`)
  const began = process.cpuUsage()
  for (const full of [false, true]) expect(renderTree(tree, { ...plain, full })).toContain('printed')
  expect(milestones(tree, 80).flatMap(({ lines }) => lines()).length).toBeGreaterThan(20)
  // Quadratic time on such a line takes minutes.
  expect(process.cpuUsage(began).user).toBeLessThan(30_000_000)
})

/** A program with this number of lines and calls. */
function large(lines: number, calls: number, failing: number) {
  const source = Array.from({ length: lines }, (_, place) => `line_${place + 1}()`).join('\n')
  const made = Array.from({ length: calls }, (_, place) => place + 1)
  const described = made.map((index) => ({
    index,
    tool: 'get',
    arguments: { index },
    summary: '',
    digest: '',
    refused: null,
  }))
  const input = { step: { number: 1, input: { type: 'cell', cell: 1, source } } }
  return treeOf(
    syntheticHistory('program', { source }, [
      { name: 'session.step', input, result: { type: 'suspended', calls: described, output: '' } },
      ...made.map((index) => {
        const position = { turn: 0, cell: 1, index }
        const input = {
          tool: 'get',
          caller: 'code_execution',
          position,
          idempotencyKey: `k${index}`,
          arguments: { index },
        }
        const failure = { message: 'no', applicationFailureInfo: { type: 'TOOL_REFUSED' } }
        return {
          name: 'get',
          id: `${index}`,
          input,
          ...(index === failing ? { failure } : { result: 'r'.repeat(500) }),
        }
      }),
    ]),
  )
}

test('the tree truncates long code, calls and results with counts, unless full', async () => {
  const tree = await large(50, 60, 55)
  const short = renderTree(tree, plain)
  expect(short).toContain('line_12()')
  expect(short).not.toContain('line_13()')
  expect(short).toContain('… 38 more lines')
  expect(short).toContain('get(index=20)')
  expect(short).not.toContain('get(index=21)')
  expect(short).toContain('… 39 more calls')
  const full = renderTree(tree, { ...plain, full: true })
  expect(full).toContain('line_50()')
  expect(full).toContain('get(index=60)')
  expect(full.match(/r/g)?.length).toBeGreaterThan(59 * 500)
  expect(full).not.toContain('more')
})

test('the tree shows a single remaining call instead of a count', async () => {
  expect(renderTree(await large(1, 21, 0), plain)).toMatch(/get\(index=21\)(?![^]*more call)/)
  expect(renderTree(await large(1, 22, 0), plain)).toContain('… 2 more calls')
})

test('the tree always shows failed calls', async () => {
  const drawn = renderTree(await large(1, 60, 55), plain)
  expect(drawn).toContain('✗ get(index=55)')
  expect(drawn).toContain('tool error: no')
})
