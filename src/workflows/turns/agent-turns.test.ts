import { ActivityFailure, ApplicationFailure } from '@temporalio/common'
import { scheduleActivity } from '@temporalio/workflow'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startFakeWorkflow } from '../../../test/support/workflow/fake-workflow.js'
import { testRun } from '../../../test/support/workflow/test-run.js'
import type { ErrorCode } from '../../common/errors.js'
import type { Limits } from '../../common/run/limits.js'
import {
  type AssistantBlock,
  type CodeContainer,
  isToolUseBlock,
  type StopReason,
} from '../../common/agent/messages.js'
import type { ModelTurnInput, ModelTurnResult } from '../../common/agent/model-turn.js'
import type { ToolConfig } from '../../common/calls/tool-config.js'
import { zeroUsage } from '../../common/run/runs.js'
import { modelTurn } from '../temporal/model-activities.js'
import { RunCalls } from '../calls/run-calls.js'
import { AgentTurns } from './agent-turns.js'

vi.mock('@temporalio/workflow', async (importOriginal) => {
  const { fakeWorkflowModule } = await import('../../../test/support/workflow/fake-workflow.js')
  return { ...(await importOriginal<object>()), ...fakeWorkflowModule, scheduleActivity: vi.fn() }
})
vi.mock('../temporal/model-activities.js', () => ({ modelTurn: vi.fn() }))
vi.mock('../run/search-attributes.js', () => ({ publishStatus: vi.fn() }))

const now = Date.parse('2026-11-25T12:00:00Z')

beforeEach(() => {
  startFakeWorkflow()
  vi.setSystemTime(now)
  vi.mocked(modelTurn).mockReset()
  vi.mocked(scheduleActivity)
    .mockReset()
    .mockImplementation((_name, [input]) => Promise.resolve((input as { arguments: object }).arguments))
})
afterEach(() => void vi.useRealTimers())

const base = { allowedCallers: ['code_execution'], effect: 'once', timeoutMs: 1, attempts: 1, inputDigest: '' } as const
const tools: readonly ToolConfig[] = [{ ...base, name: 'pay' }]

/** The turns of a run with hosted code. */
function hostedTurns(changed: Partial<Limits> = {}) {
  const model = { provider: 'anthropic', name: 'm', maxTokens: 100 }
  const run = testRun({ kind: 'agent', limits: changed, config: { backend: 'anthropic', model, tools } })
  const turns = new AgentTurns(new RunCalls(run), { continueAsNew: () => Promise.resolve() })
  turns.messages.addMessage({ text: 'Pay.' })
  return { turns, run }
}

const code = (id: string): AssistantBlock => ({ type: 'server_tool_use', id, name: 'code_execution', input: {} })
const ended = (id: string): AssistantBlock => ({ type: 'code_execution_tool_result', tool_use_id: id, content: {} })
const answer: AssistantBlock = { type: 'text', text: 'Paid.' }
const callOf = (codeId: string, id: string): AssistantBlock => ({
  type: 'tool_use',
  id,
  name: 'pay',
  input: { id },
  caller: { type: 'code_execution_20260120', tool_id: codeId },
})

const container = (id: string, seconds = 300): CodeContainer => ({
  id,
  expiresAt: new Date(now + seconds * 1_000).toISOString(),
})

function result(content: readonly AssistantBlock[], where: CodeContainer, stopReason: StopReason): ModelTurnResult {
  const uses = content.filter(isToolUseBlock).map(({ id }) => id)
  const described = { index: 1, tool: 'pay', summary: 'pay', digest: 'd', refused: null }
  return {
    reply: { model: 'm', content, stopReason, usage: zeroUsage, costUsd: 0, requestId: null, container: where },
    history: { segments: [], length: 1 } as unknown as ModelTurnResult['history'],
    conversationBytes: 1,
    calls: Object.fromEntries(uses.map((id) => [id, { ...described, arguments: { id } }])),
  }
}

/** Makes the model return these replies, one after the other. */
function script(...replies: readonly (ModelTurnResult | ErrorCode)[]): void {
  for (const reply of replies) {
    if (typeof reply === 'object') vi.mocked(modelTurn).mockResolvedValueOnce(reply)
    else {
      const cause = ApplicationFailure.nonRetryable('refused', reply)
      vi.mocked(modelTurn).mockRejectedValueOnce(
        new ActivityFailure('failed', 'model.turn', '1', 'NON_RETRYABLE_FAILURE', 'worker', cause),
      )
    }
  }
}

/** The requests of the turns to the model. */
const asked = (): readonly ModelTurnInput[] => vi.mocked(modelTurn).mock.calls.map(([input]) => input)
/** The positions and callers of the calls. */
const called = () =>
  vi
    .mocked(scheduleActivity)
    .mock.calls.map(([, [input]]) => input as { readonly position: object; readonly caller: string })

it('turns execute the calls of hosted code, and send results and the container until the code has ended', async () => {
  const { turns, run } = hostedTurns()
  const where = container('c1')
  script(
    result([code('s1'), callOf('s1', 'a'), callOf('s1', 'b')], where, 'tool_use'),
    result([callOf('s1', 'c')], where, 'tool_use'),
    result([ended('s1'), answer], where, 'end_turn'),
  )
  expect(await turns.runToAnswer(1)).toMatchObject({ status: 'answered', answer: 'Paid.' })
  expect(run.counts).toMatchObject({ turns: 3, cells: 1, toolCalls: 3 })
  expect(called()).toMatchObject([
    { caller: 'code_execution', position: { turn: 1, cell: 1, index: 1 } },
    { caller: 'code_execution', position: { turn: 1, cell: 1, index: 2 } },
    { caller: 'code_execution', position: { turn: 2, cell: 1, index: 3 } },
  ])
  expect(asked()).toMatchObject([
    { hosted: {} },
    {
      hosted: { container: where },
      pending: [
        { tool_use_id: 'a', content: '{"id":"a"}' },
        { tool_use_id: 'b', content: '{"id":"b"}' },
      ],
    },
    { hosted: { container: where }, pending: [{ tool_use_id: 'c' }] },
  ])
})

it('turns end with a turn limit when hosted code only makes refused calls', async () => {
  const { turns } = hostedTurns()
  const refused = result([code('s1'), callOf('s1', 'a')], container('c1'), 'tool_use')
  const calls = { a: { ...refused.calls['a'], refused: { status: 'denied', message: 'no' } } }
  vi.mocked(modelTurn).mockResolvedValue({ ...refused, calls } as unknown as ModelTurnResult)
  expect(await turns.runToAnswer(3)).toMatchObject({ status: 'turn_limit' })
  expect(asked()).toHaveLength(3)
})

it('a run has at most as many free turns as calls', async () => {
  const { turns } = hostedTurns({ callsPerRun: 2 })
  vi.mocked(modelTurn).mockImplementation(({ turn }) =>
    Promise.resolve(
      result([...(turn === 1 ? [code('s1')] : []), callOf('s1', `call-${turn}`)], container('c1'), 'tool_use'),
    ),
  )
  expect(await turns.runToAnswer(3)).toMatchObject({ status: 'turn_limit' })
  expect(asked()).toHaveLength(5)
  expect(called()).toHaveLength(2)
})

it('hosted code is lost when its results arrive after the container has expired', async () => {
  const { turns } = hostedTurns()
  vi.mocked(scheduleActivity).mockImplementation(() => {
    vi.setSystemTime(now + 10_000)
    return Promise.resolve('paid')
  })
  script(
    result([code('s1'), callOf('s1', 'a')], container('c1', 10), 'tool_use'),
    result([answer], container('c2'), 'end_turn'),
  )
  expect(await turns.runToAnswer(5)).toMatchObject({ status: 'answered' })
  const [, second] = asked()
  expect(second?.hosted).toEqual({
    lost: { uses: [{ id: 's1', name: 'code_execution' }], reason: 'expired' },
  })
  expect(second?.pending).toMatchObject([{ tool_use_id: 'a', content: 'paid' }])
  expect(turns.messages.hosted).toMatchObject({ container: { id: 'c2' }, open: [] })
})

it('a turn is repeated once without a container that the API refuses', async () => {
  const { turns, run } = hostedTurns()
  script(
    result([code('s1'), callOf('s1', 'a')], container('c1'), 'tool_use'),
    'MODEL_CONTAINER_EXPIRED',
    result([answer], container('c2'), 'end_turn'),
  )
  expect(await turns.runToAnswer(5)).toMatchObject({ status: 'answered' })
  expect(asked().map(({ hosted }) => Object.keys(hosted ?? {}))).toEqual([[], ['container'], ['lost']])
  expect(run.counts).toMatchObject({ turns: 3, toolCalls: 1 })
})

it('a paused turn is resumed with its container', async () => {
  const { turns } = hostedTurns()
  script(
    result([code('s1')], container('c1'), 'pause_turn'),
    result([ended('s1'), answer], container('c1'), 'end_turn'),
  )
  expect(await turns.runToAnswer(5)).toMatchObject({ status: 'answered' })
  expect(asked()[1]).toMatchObject({ hosted: { container: { id: 'c1' } }, pending: [] })
})

it('hosted code that has run stays in the history when its reply has no text', async () => {
  const { turns, run } = hostedTurns()
  script(result([code('s1'), ended('s1')], container('c1'), 'end_turn'), result([answer], container('c1'), 'end_turn'))
  expect(await turns.runToAnswer(5)).toMatchObject({ status: 'answered' })
  expect(asked()[1]).toMatchObject({ hosted: { container: { id: 'c1' } }, pending: [{ type: 'text' }] })
  expect(run.counts.cells).toBe(1)
})

it('a run with hosted code has no tool execute_code', async () => {
  const { turns } = hostedTurns()
  const use = { type: 'tool_use', id: 'x', name: 'execute_code', input: { code: '1' } } as const
  script({ ...result([use], container('c1'), 'tool_use'), calls: {} }, result([answer], container('c1'), 'end_turn'))
  expect(await turns.runToAnswer(5)).toMatchObject({ status: 'answered' })
  expect(asked()[1]?.pending).toMatchObject([{ content: 'there is no tool named execute_code', is_error: true }])
})

it('the state for the next execution has the container and the waiting hosted code', async () => {
  const { turns } = hostedTurns()
  script(result([code('s1'), callOf('s1', 'a')], container('c1'), 'tool_use'))
  // An interruption ends the turns before the next request.
  await turns.runToAnswer(1, () => turns.interrupt(true))
  expect(JSON.parse(JSON.stringify(turns.messages.state))).toMatchObject({
    hosted: { container: { id: 'c1' }, open: [{ id: 's1', cell: 1, calls: 1 }], freeTurns: 1 },
    pending: [{ type: 'tool_result', tool_use_id: 'a' }],
  })
})
