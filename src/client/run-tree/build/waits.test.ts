import { describe, expect, it } from 'vitest'
import { syntheticHistory, treeOf } from '../../../../test/fixtures/run-tree/recorded.js'

const position = { turn: 0, cell: 1, index: 1 }
const args = { eur: 4_800 }
const described = { index: 1, tool: 'pay', arguments: args, summary: 'pay 4800', digest: '', refused: null }
const config = {
  name: 'run.config',
  input: {},
  result: { tools: [{ name: 'pay', effect: 'once', attempts: 5 }], model: { name: 'm' }, backend: 'wasm' },
}
const cell = {
  name: 'session.step',
  input: { step: { number: 1, input: { type: 'cell', cell: 1, source: 'code' } } },
  result: { type: 'suspended', calls: [described], output: 'row 0\n' },
}
const identity = { tool: 'pay', caller: 'code_execution', position, idempotencyKey: 'key' }
const deferred = { firstExecutionRunId: 'r', signature: 's' }
const approval = {
  name: 'tool.approval',
  id: 'approval-1',
  input: { ...identity, arguments: args, summary: 'pay 4800', deferred, expiresMs: 60_000 },
  result: { isNeeded: true },
}
const program = (activities: Parameters<typeof syntheticHistory>[2], context?: object) =>
  syntheticHistory('program', { source: 'code', ...(context && { context }) }, activities)

describe('what a run waits for', () => {
  it('a run waits for the approval of a call', async () => {
    const tree = await treeOf(program([config, cell, approval]))
    expect(tree.waitsFor).toEqual([
      expect.objectContaining({ type: 'approval', tool: 'pay', summary: 'pay 4800', arguments: args, position }),
    ])
  })

  it('a run waits for an answer when the call has only a question, and for a result otherwise', async () => {
    for (const [given, type] of [
      [{ question: 'Which?' }, 'answer'],
      [{ question: 'Which?', of: 'a' }, 'result'],
    ] as const) {
      const input = { ...identity, arguments: given, deferred }
      const tree = await treeOf(program([config, cell, { name: 'pay', id: 'call-1', input, result: null }]))
      expect(tree.waitsFor).toMatchObject([{ type, arguments: given }])
    }
  })

  it('a run waits for a larger budget while the memo has the pause, and for nothing once it has ended', async () => {
    const events = program([config])
    const pause = { item: 'turns', amount: 2, since: 1_000 }
    const modified = (id: number, value: unknown) => ({
      eventId: id,
      eventTime: { seconds: 1, nanos: 0 },
      workflowPropertiesModifiedEventAttributes: { upsertedMemo: { fields: { paused: payloadOf(value) } } },
    })
    const paused = [...events, modified(100, pause)] as typeof events
    expect(await treeOf(paused)).toMatchObject({ waitsFor: [{ type: 'budget', ...pause }], phase: { type: 'paused' } })
    const raised = [...paused, modified(101, undefined)] as typeof events
    expect((await treeOf(raised)).waitsFor).toEqual([])
    const terminated = { eventId: 102, workflowExecutionTerminatedEventAttributes: { reason: 'enough' } }
    const ended = [...paused, terminated] as unknown as typeof events
    expect(await treeOf(ended)).toMatchObject({ waitsFor: [], phase: { type: 'ended' } })
  })
})

it('the tree of a run has its requester', async () => {
  const tree = await treeOf(program([config], { user: 'ada', tenant: 'acme', secret: 1 }))
  expect(tree.requester).toEqual({ user: 'ada', tenant: 'acme' })
  expect(await treeOf(program([config], { other: 1 }))).not.toHaveProperty('requester')
})

describe('a decision on a call', () => {
  const update = (id: number, input: object, failure?: object) => [
    {
      eventId: id,
      eventTime: { seconds: 2, nanos: 0 },
      workflowExecutionUpdateAcceptedEventAttributes: {
        acceptedRequest: { input: { name: 'ptc.completeCall', args: { payloads: [payloadOf(input)] } } },
      },
    },
    {
      eventId: id + 1,
      eventTime: { seconds: 3, nanos: 0 },
      workflowExecutionUpdateCompletedEventAttributes: { acceptedEventId: id, outcome: failure ? { failure } : {} },
    },
  ]
  const decided = async (result: object, failure?: object) => {
    const events = program([config, cell, approval])
    const input = { idempotencyKey: 'key/approval', by: 'ada', result }
    const tree = await treeOf([...events, ...update(100, input, failure)] as unknown as typeof events)
    return tree.turns[0]?.cells[0]?.calls[0]?.decision
  }

  it('a decision on a call names the person, and the replaced arguments', async () => {
    expect(await decided({ type: 'value', value: { approved: true, arguments: { eur: 480 } } })).toEqual({
      decision: 'approved',
      by: 'ada',
      at: 3_000,
      replacedArguments: args,
    })
    const always = await decided({ type: 'value', value: { approved: true, remember: true } })
    expect(always).toEqual({ decision: 'approved', by: 'ada', at: 3_000, remembered: true })
    expect(await decided({ type: 'failure', message: 'no' })).toMatchObject({ decision: 'denied', by: 'ada' })
  })

  it('a refused decision on a call is not in the tree', async () => {
    expect(await decided({ type: 'value', value: { approved: true } }, { message: 'no' })).toBeUndefined()
  })
})

function payloadOf(value: unknown) {
  const encoder = new TextEncoder()
  return value === undefined
    ? { metadata: { encoding: encoder.encode('binary/null') }, data: new Uint8Array() }
    : { metadata: { encoding: encoder.encode('json/plain') }, data: encoder.encode(JSON.stringify(value)) }
}
