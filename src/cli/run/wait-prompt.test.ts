import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { PtcError } from '../../common/errors.js'
import type { RunTree, RunWait } from '../../client/run-tree/index.js'
import { WaitPrompt } from './wait-prompt.js'

let printed = ''

beforeEach(() => {
  printed = ''
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    printed += String(text)
    return true
  })
})
afterEach(() => void vi.restoreAllMocks())

const budget: RunWait = { type: 'budget', item: 'turns', amount: 2, since: 1 }
const question: RunWait = {
  type: 'answer',
  tool: 'ask',
  summary: 'Which?',
  arguments: { question: 'Which?' },
  position: { turn: 1, cell: 1, index: 1 },
  since: 1,
  expiresAt: 1_000,
  token: 'token',
}

/** Types these lines, one for each question, and then nothing more. Returns the questions. */
async function prompt(ptc: object, lines: readonly string[], ...waitsFor: readonly RunWait[]) {
  const asked: string[] = []
  const left = [...lines]
  const terminal = {
    canAsk: () => true,
    askLine: (text: string) => {
      asked.push(text)
      const line = left.shift()
      return line === undefined
        ? Promise.resolve({ type: 'left' } as const)
        : Promise.resolve({ type: 'line', text: line } as const)
    },
  }
  const progress = { suspend: () => undefined, resume: () => undefined }
  const waits = new WaitPrompt(ptc as never, progress, terminal)
  waits.update({ workflowId: 'run-1', waitsFor } as unknown as RunTree)
  await vi.waitUntil(() => left.length === 0)
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  await new Promise(setImmediate)
  return asked
}

it.each([1, 2])('asks again for a budget when %d turns are not enough', async (amount) => {
  const raise = vi.fn(({ turns }: { turns: number }) =>
    Promise.resolve({ used: { turns: 2 }, paused: turns > 2 ? null : { item: 'turns', since: 1 } }),
  )
  const asked = await prompt({ handle: () => ({ budget: raise }) }, [`${amount}`, '3'], budget)
  expect(asked).toHaveLength(2)
  expect(raise.mock.calls).toEqual([[{ turns: amount }], [{ turns: 3 }]])
  expect(printed).toMatch(
    /the run has used 2 turns, so it waits for a budget that is larger[^]*the budget is raised\n$/,
  )
})

it('takes a raise that is enough, though another amount is spent, too', async () => {
  const status = { used: { turns: 2, costUsd: 2 }, paused: { item: 'costUsd', since: 1 } }
  const asked = await prompt({ handle: () => ({ budget: () => Promise.resolve(status) }) }, ['9'], budget)
  expect(asked).toHaveLength(1)
  expect(printed).toContain('the budget is raised')
})

it('does not ask again when the tool wants another result than a text, and names the command that gives it', async () => {
  const refused = new PtcError('TOOL_OUTPUT_INVALID', 'expected object')
  const complete = vi.fn().mockRejectedValue(refused)
  const asked = await prompt({ completeCall: complete }, ['blue'], question)
  expect(asked).toHaveLength(1)
  expect(printed).toContain('ptc: expected object\n')
  expect(printed).toContain('another result than a text: ptc answer run-1 --result JSON\n')
})

it('asks again after another error', async () => {
  const complete = vi
    .fn()
    .mockRejectedValueOnce(new PtcError('TEMPORAL_UNREACHABLE', 'no server'))
    .mockResolvedValue(undefined)
  expect(await prompt({ completeCall: complete }, ['blue', 'green'], question)).toHaveLength(2)
  expect(printed).toMatch(/ptc: no server\n[^]*the question is answered\n$/)
})

it('decides on the call of a sub-agent, and names the run of it in a command', async () => {
  const approve = vi.fn().mockResolvedValue(undefined)
  const ref = { 'ptc.value': { hash: 'a'.repeat(64), bytes: 9, preview: '{}' } }
  const approval: RunWait = { ...question, type: 'approval', workflowId: 'child-1', arguments: ref }
  await prompt({ approveCall: approve }, ['y'], approval)
  expect(approve).toHaveBeenCalledWith('token', {})
  const answer: RunWait = { ...question, workflowId: 'child-1' }
  const complete = vi.fn().mockRejectedValue(new PtcError('TOOL_OUTPUT_INVALID', 'no'))
  await prompt({ completeCall: complete }, ['blue'], answer)
  expect(printed).toContain('ptc answer child-1 --result JSON')
})
