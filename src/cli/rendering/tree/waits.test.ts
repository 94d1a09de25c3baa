import { describe, expect, it } from 'vitest'
import { syntheticHistory, treeOf } from '../../../../test/fixtures/run-tree/recorded.js'
import type { CallNode, RunTree, RunWait } from '../../../client/run-tree/index.js'
import { milestones } from '../progress/milestones.js'
import { renderProgress } from '../progress/render-progress.js'
import { renderBudget } from '../tables/budget-table.js'
import { renderWaits } from '../tables/wait-table.js'
import type { RunInfo } from '../../../client/run/run-info.js'
import { renderTree } from './render-tree.js'

const since = Date.parse('2026-11-26T12:00:00Z')
const call = (index: number, type: 'approval' | 'answer' | 'result', summary: string): RunWait => ({
  type,
  tool: 'pay',
  summary,
  arguments: {},
  position: { turn: 0, cell: 1, index },
  since,
  expiresAt: since + 60_000,
  token: `token-${index}`,
})
const budget: RunWait = { type: 'budget', item: 'turns', amount: 1, since }
const openCall = (fields: Partial<CallNode>): CallNode => ({
  tool: 'slow',
  summary: 'slow 4',
  arguments: {},
  caller: 'code_execution',
  position: { turn: 0, cell: 1, index: 1 },
  idempotencyKey: 'k',
  step: 1,
  startedAt: since,
  endedAt: undefined,
  attempts: 1,
  lastFailure: undefined,
  status: 'running',
  resultPreview: undefined,
  resultRef: undefined,
  resultBytes: 0,
  message: undefined,
  ...fields,
})

async function waiting(fields: Partial<RunTree>, calls: readonly CallNode[] = []): Promise<RunTree> {
  const cell = { name: 'session.step', input: { step: { number: 1, input: { type: 'cell', cell: 1, source: 'x' } } } }
  const tree = await treeOf(syntheticHistory('program', { source: 'x' }, [{ ...cell, open: true }]))
  const turns = tree.turns.map((turn) => ({ ...turn, cells: turn.cells.map((each) => ({ ...each, calls })) }))
  return { ...tree, workflowId: 'run-1', turns, ...fields } as RunTree
}

const live = (tree: RunTree): string => renderProgress(tree, { width: 200, color: false, now: since + 33_000 })
const lines = (tree: RunTree): readonly string[] =>
  milestones(tree, 200).flatMap((each) => each.lines().map((line) => line.map(({ text }) => text).join('')))
const approveText =
  'pay X waits for approval, since 2026-11-26 12:00 UTC: ptc approve run-1, or ptc deny run-1 --reason TEXT'

describe('what a run waits for', () => {
  it('a wait is in the live lines, in the lines of a pipe and in the tree, with its command', async () => {
    const phase = { type: 'waiting_for_calls', open: 1 } as const
    const tree = await waiting({ phase, waitsFor: [call(1, 'approval', 'pay X')] })
    expect(live(tree)).toMatch(/^▸ waiting for approval /)
    expect(live(tree)).toContain('pay X waits for approval, for 33.0s: ptc approve run-1, or ptc deny run-1')
    expect(lines(tree)).toContain(approveText)
    expect(renderTree(tree, { width: 200, color: false })).toContain(`  ${approveText}\n`)
  })

  it('the wait for several calls names each call, and says that other calls run', async () => {
    const waitsFor = [call(1, 'approval', 'pay X'), call(2, 'approval', 'pay Y'), call(3, 'answer', 'Which?')]
    const tree = await waiting({ phase: { type: 'waiting_for_calls', open: 4 }, waitsFor })
    expect(live(tree)).toMatch(/^▸ waiting for tools /)
    expect(live(tree)).toContain('ptc approve run-1 turn-0.cell-1.call-2, or ptc deny run-1 turn-0.cell-1.call-2')
    expect(live(tree)).toContain('Which? waits for an answer, for 33.0s: ptc answer run-1 TEXT')
    const both = await waiting({ phase: { type: 'waiting_for_calls', open: 3 }, waitsFor })
    expect(live(both)).toMatch(/^▸ waiting for approval and an answer /)
  })

  it('of a sub-agent names the run of it, and the call when several wait', async () => {
    const below = { ...call(1, 'approval', 'pay X'), workflowId: 'child-1' } as RunWait
    const phase = { type: 'waiting_for_calls', open: 1 } as const
    const tree = await waiting({ phase, waitsFor: [below] })
    expect(live(tree)).toMatch(/^▸ waiting for approval /)
    expect(live(tree)).toContain('ptc approve child-1, or ptc deny child-1 --reason TEXT')
    const both = await waiting({ phase, waitsFor: [call(1, 'approval', 'pay Y'), below] })
    expect(live(both)).toContain('ptc approve run-1 turn-0.cell-1.call-1, or')
    expect(live(both)).toContain('ptc approve child-1 turn-0.cell-1.call-1, or')
    const question = { ...call(2, 'answer', 'Which?'), workflowId: 'child-1' } as RunWait
    const twoOfThree = await waiting({ phase: { ...phase, open: 2 }, waitsFor: [below, question] })
    expect(live(twoOfThree)).toMatch(/^▸ waiting for tools /)
  })

  it('of a spent budget is the amount, and the command that raises it', async () => {
    const tree = await waiting({ phase: { type: 'paused' }, waitsFor: [budget] })
    expect(live(tree)).toMatch(/^▸ paused /)
    expect(live(tree)).toContain('paused: the budget of 1 turn is spent, for 33.0s: ptc budget run-1 --turns NUMBER')
    const unknown = { ...budget, item: 'costUsd' } as const
    const { amount: _, ...withoutAmount } = unknown
    const unpriced = await waiting({ waitsFor: [withoutAmount] })
    expect(live(unpriced)).toContain('the cost is unknown, because the price of a model is')
  })

  it('the command for a wait quotes the id of a run for the shell, and has no control character', async () => {
    const tree = await waiting({ workflowId: "a;b'c", waitsFor: [call(1, 'result', 'x\u001B[2J')] })
    expect(live(tree)).toContain(String.raw`x␛[2J waits for its result, for 33.0s: ptc answer 'a;b'\''c' --result JSON`)
  })

  it('the wait for many calls is cut to a few lines', async () => {
    const waitsFor = Array.from({ length: 50 }, (_, index) => call(index, 'approval', `pay ${index}`))
    const shown = live(await waiting({ waitsFor }))
    expect(shown.split('\n').length).toBeLessThan(15)
    expect(shown).toContain('and 42 more waits: ptc approvals')
  })

  it('the list of waits has all runs, with their requesters', () => {
    const run = { workflowId: 'run-1', requester: { user: 'ada', tenant: 'acme' } } as RunInfo
    const table = renderWaits(
      [
        { run, wait: call(1, 'approval', 'pay X') },
        { run, wait: budget },
      ],
      { now: since + 3_600_000, width: undefined, color: false },
    )
    expect(table).toBe(
      [
        'run-1  1h ago · asked by ada of acme',
        '  pay X waits for approval',
        '  ptc approve run-1, or ptc deny run-1 --reason TEXT',
        'run-1  1h ago · asked by ada of acme',
        '  paused: the budget of 1 turn is spent',
        '  ptc budget run-1 --turns NUMBER',
      ].join('\n'),
    )
  })
})

it('a list of waits names each call when several calls of a run wait', () => {
  const run = { workflowId: 'run-1' } as RunInfo
  const waits = [
    { run, wait: call(1, 'approval', 'pay X') },
    { run, wait: call(2, 'approval', 'pay Y') },
  ]
  const table = renderWaits(waits, { now: since, width: undefined, color: false })
  expect(table.split('\n').slice(4)).toEqual([
    '  pay Y waits for approval',
    '  ptc approve run-1 turn-0.cell-1.call-2, or ptc deny run-1 turn-0.cell-1.call-2 --reason TEXT',
  ])
})

describe('retries', () => {
  const failing = openCall({
    status: 'waiting',
    attempts: 2,
    maxAttempts: 50,
    nextAttemptAt: since + 52_000,
    lastFailure: { code: 'TOOL_FAILED', message: 'no\nanswer' },
  })

  it('the line of a retry says which attempt begins when, and the last error', async () => {
    const tree = await waiting({}, [failing])
    expect(live(tree)).toContain('attempt 3 of 50 in 19.0s, after: no answer')
    expect(renderTree(tree, { width: 200, color: false, now: since + 33_000 })).toContain('attempt 3 of 50 in 19.0s')
    expect(lines(tree).join('\n')).toContain('slow 4: attempt 3 of 50')
  })

  it('the line of a retry does not count an attempt in progress twice, and names no limit that is exceeded', async () => {
    const running = { ...failing, status: 'running', attempts: 51 } as const
    expect(live(await waiting({}, [running]))).toContain('attempt 51, after: no answer')
  })
})

describe('open calls', () => {
  it('progress counts the open calls of one tool when there are many', async () => {
    const calls = Array.from({ length: 14 }, (_, index) => openCall({ summary: `slow ${index}` }))
    const tree = await waiting({}, [...calls, openCall({ tool: 'fetch', summary: 'fetch a' })])
    expect(live(tree)).toContain('calls 0/15 done · slow × 14 · fetch a')
  })

  it('open calls show the milestone of the live stream, or else that of the heartbeat', async () => {
    const tree = await waiting({}, [openCall({ progress: 'step 2 of 9' })])
    expect(live(tree)).toContain('slow 4: step 2 of 9')
    const milestoneByKey = new Map([['k', 'step 3 of 9']])
    const shown = renderProgress(tree, { width: 200, color: false, now: since, milestones: milestoneByKey })
    expect(shown).toContain('slow 4: step 3 of 9')
    expect(renderTree(tree, { width: 200, color: false })).toContain('step 2 of 9')
  })
})

describe('a decision', () => {
  it('a decision is shown with the person who made it, and the arguments that it replaced', async () => {
    const decision = {
      decision: 'approved',
      by: 'ada',
      at: since,
      replacedArguments: { eur: 4_800 },
      remembered: true,
    } as const
    const call = openCall({ status: 'ok', endedAt: since, arguments: { eur: 480 }, decision })
    const shown = renderTree(await waiting({}, [call]), { width: 200, color: false })
    expect(shown).toContain('slow(eur=480)')
    expect(shown).toContain('approved by ada at 2026-11-26 12:00 UTC, remembered for later calls')
    expect(shown).toContain('arguments replaced; they were: eur=4800')
  })
})

it('the tree of a run shows its requester', async () => {
  const tree = await waiting({ requester: { user: 'ada', tenant: 'acme' } })
  expect(renderTree(tree, { width: 80, color: false })).toContain('  asked by ada of acme\n')
})

describe('a budget', () => {
  const used = { turns: 2, tokens: 10, toolCalls: 0, seconds: 3 }

  it('a spent budget is shown with the command that raises it', () => {
    const shown = renderBudget('run-1', { budget: { turns: 2 }, used, paused: { item: 'turns', since } })
    expect(shown).toMatch(/2 turns +of 2 turns +spent: paused since 2026-11-26 12:00 UTC/)
    expect(shown).toMatch(/\nRaise it: ptc budget run-1 --turns NUMBER$/)
  })

  it('a budget that was raised, or that belongs to an ended run, shows no pause', () => {
    const raised = renderBudget('run-1', { budget: { turns: 9 }, used, paused: null })
    expect(raised).toMatch(/2 turns +of 9 turns$/m)
    expect(raised).not.toMatch(/paused|spent|Raise/)
    expect(renderBudget('run-1', { budget: { turns: 2 }, used, paused: null })).toMatch(/of 2 turns +spent$/m)
  })
})
