import { defaultDataConverter, defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common'
import { describe, expect, test } from 'vitest'
import {
  recordedEvents,
  recordedNames,
  recordedTree,
  treeOf,
  countUpTo,
} from '../../../test/fixtures/run-tree/recorded.js'
import { RunTreeBuilder } from './run-tree-builder.js'
import type { AgentTree, HistoryEvent, PendingActivity, RunTree } from './index.js'

describe('a run that was answered', async () => {
  const tree = await recordedTree('answered')
  const [first, second, third] = tree.turns

  test('the tree of an answered run has question, answer, model, backend and counts', () => {
    expect(tree).toMatchObject({
      type: 'agent',
      status: 'completed',
      question: 'How many people live in the first four cities?',
      backend: 'docker',
      phase: { type: 'ended' },
      failure: undefined,
    })
    expect((tree as AgentTree).result?.answer).toContain('16,152,236 people live there.')
    expect(tree.totals).toMatchObject({ turns: 3, cells: 2, toolCalls: 6 })
    expect(tree.endedAt).toBeGreaterThan(tree.startedAt)
  })

  test('the tree of an answered run has the same counts from its events as in its result', async () => {
    const events = recordedEvents('answered')
    const running = await recordedTree('answered', events.length - 1)
    expect(running.status).toBe('running')
    expect(running.totals).toEqual(tree.totals)
  })

  test('the tree of an answered run has the calls of its code with step, attempts and status', () => {
    const calls = first?.cells[0]?.calls ?? []
    expect(
      calls.map(({ tool, arguments: { number }, step, attempts, status }) => [tool, number, step, attempts, status]),
    ).toEqual([
      ['get_city', 1, 1, 1, 'ok'],
      ['get_city', 2, 1, 1, 'ok'],
      ['get_city', 3, 1, 3, 'ok'],
      ['get_city', 4, 1, 1, 'ok'],
      ['get_city', 5, 3, 1, 'tool_error'],
    ])
    expect(calls[2]?.lastFailure).toEqual({ code: 'TOOL_FAILED', message: 'the map is being printed' })
    expect(calls[4]).toMatchObject({ message: 'there is no city 5', resultBytes: 0, resultPreview: undefined })
    expect(calls[1]).toMatchObject({ resultPreview: '{"name":"東京","people":14178218}', resultBytes: 35 })
    expect(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(5)
  })

  test('the tree of an answered run has output and errors of its cells', () => {
    expect(first?.cells[0]).toMatchObject({
      status: 'ok',
      output: '16152236\ncaught: there is no city 5\n',
      rebuilds: 0,
      wakes: 0,
    })
    expect(second?.cells[0]).toMatchObject({ number: 2, status: 'code_error', output: '東京\n' })
    expect(second?.cells[0]?.error).toMatch(/NameError: name 'citties' is not defined$/)
  })

  test('the tree of an answered run has direct calls, also rejected ones', () => {
    const [executed, rejected] = second?.directCalls ?? []
    expect(executed).toMatchObject({ status: 'ok', caller: 'direct', position: { turn: 2, cell: 0, index: 1 } })
    expect(rejected).toMatchObject({ status: 'invalid_arguments', attempts: 0, idempotencyKey: undefined })
    expect(rejected?.message).toContain('expected number')
  })

  test('the tree of an answered run has the model replies', () => {
    expect(first?.model).toMatchObject({
      status: 'ok',
      text: 'I will add them up.',
      stopReason: 'tool_use',
      attempts: 1,
    })
    expect(third?.model).toMatchObject({ status: 'ok', stopReason: 'end_turn' })
  })
})

describe('a running run', () => {
  const events = recordedEvents('answered')
  const after = (is: (event: HistoryEvent) => boolean) => recordedTree('answered', countUpTo(events, is))

  test('the tree of a running run has the code of the reply before a sandbox is open', async () => {
    const tree = await after((event) => named(event, 'session.open'))
    expect(tree.phase).toEqual({ type: 'opening_sandbox' })
    expect(tree.turns[0]?.cells).toMatchObject([{ number: 1, status: 'waiting', steps: 0 }])
    expect(tree.turns[0]?.cells[0]?.code).toContain('asyncio.gather')
    expect(tree.totals.cells).toBe(0)
  })

  test('the tree of a running run has its waiting calls, and running calls by the pending activities', async () => {
    const count = countUpTo(events, (event) => named(event, 'get_city'))
    const builder = new RunTreeBuilder()
    await builder.add(events.slice(0, count))
    expect(builder.tree().phase).toEqual({ type: 'waiting_for_calls', open: 4 })
    expect(firstCall(builder.tree())).toMatchObject({ status: 'waiting', attempts: 0, endedAt: undefined })
    await builder.addPending([pending(2, 2)])
    expect(firstCall(builder.tree())).toMatchObject({
      status: 'running',
      attempts: 2,
      lastFailure: { code: 'TOOL_FAILED', message: 'busy' },
    })
    await builder.addPending([pending(1, 3)])
    expect(firstCall(builder.tree())).toMatchObject({ status: 'waiting', attempts: 2 })
  })

  test('the tree of a running run has the output of the running step so far', async () => {
    const count = countUpTo(events, (event) => named(event, 'session.step'))
    const step = events.slice(0, count).at(-1)?.activityTaskScheduledEventAttributes
    const builder = new RunTreeBuilder()
    await builder.add(events.slice(0, count))
    const heartbeatDetails = { payloads: [defaultPayloadConverter.toPayload({ printed: 'page 1\n' })] }
    const running = { ...pending(2, 1), activityId: step?.activityId ?? '', heartbeatDetails }
    await builder.addPending([running])
    expect(builder.tree().turns[0]?.cells[0]).toMatchObject({ status: 'running', output: 'page 1\n' })
    await builder.add(events.slice(count))
    expect(builder.tree().turns[0]?.cells[0]?.output).not.toContain('page 1')
  })

  test('the tree of a run has the note about a blocked event loop: call running, completed, timed out', async () => {
    const count = countUpTo(events, (event) => named(event, 'get_city'))
    const open = async (...changed: readonly HistoryEvent[]) => {
      const builder = new RunTreeBuilder()
      await builder.add([...events.slice(0, count), ...changed])
      return builder
    }
    const waiting = await open()
    const note = 'tool get_city has blocked the event loop of the worker for 3.1 s'
    const heartbeatDetails = { payloads: [defaultPayloadConverter.toPayload({ details: 1, blocked: note })] }
    await waiting.addPending([{ ...pending(2, 1), heartbeatDetails }])
    expect(firstCall(waiting.tree())).toMatchObject({ status: 'running', blocked: note })

    const scheduledEventId = events.slice(0, count).find((event) => named(event, 'get_city'))?.eventId
    const result = defaultPayloadConverter.toPayload('done')
    const noted = { ...result, metadata: { ...result.metadata, blocked: new TextEncoder().encode(note) } }
    const activityTaskCompletedEventAttributes = { scheduledEventId, result: { payloads: [noted] } }
    const ended = await open({ eventId: 9_998, activityTaskCompletedEventAttributes } as unknown as HistoryEvent)
    expect(firstCall(ended.tree())).toMatchObject({ status: 'ok', resultPreview: '"done"', blocked: note })

    const failure = { message: '', timeoutFailureInfo: { timeoutType: 4, lastHeartbeatDetails: heartbeatDetails } }
    const activityTaskTimedOutEventAttributes = { scheduledEventId, failure }
    const lost = await open({ eventId: 9_998, activityTaskTimedOutEventAttributes } as unknown as HistoryEvent)
    expect(firstCall(lost.tree())).toMatchObject({ status: 'timed_out', blocked: note })
  })

  test.each(recordedNames)('a run has a tree after every event, and repeated events are ignored (%s)', async (name) => {
    const all = recordedEvents(name)
    const builder = new RunTreeBuilder()
    for (const [index, event] of all.entries()) {
      await builder.add([event])
      await builder.add(all.slice(0, index))
      expect(builder.tree().status === 'running').toBe(index < all.length - 1)
    }
    expect(builder.tree()).toEqual(await treeOf(all))
  })
})

test('a failed run has the innermost failure with its code', async () => {
  const tree = await recordedTree('failed')
  expect(tree).toMatchObject({ status: 'failed', failure: { code: 'MODEL_AUTH' } })
  expect(tree.turns[0]?.model).toMatchObject({ status: 'failed', failure: { code: 'MODEL_AUTH' } })
})

test('cells and calls of a cancelled run are interrupted', async () => {
  const tree = await recordedTree('cancelled')
  expect(tree.status).toBe('cancelled')
  expect(tree.turns[0]?.cells[0]).toMatchObject({ status: 'interrupted', calls: [{ status: 'interrupted' }] })
})

test('a terminated run has the reason of the termination', async () => {
  const tree = await recordedTree('terminated')
  expect(tree).toMatchObject({ type: 'program', status: 'terminated', failure: { message: 'nobody waits' } })
  expect(tree.turns).toMatchObject([{ number: 0, model: undefined, cells: [{ status: 'interrupted' }] }])
})

test('a cell with a killed container is one cell with one rebuild, and has each call once', async () => {
  const tree = await recordedTree('rebuilt')
  const [cell] = tree.turns[0]?.cells ?? []
  expect(cell).toMatchObject({ status: 'ok', rebuilds: 1, steps: 3, output: 'Zürich\na moment later\n' })
  expect(cell?.calls.map(({ tool }) => tool)).toEqual(['get_city', 'wait_a_moment'])
})

test('the phase is rebuilding while the sandbox is rebuilt', async () => {
  const events = recordedEvents('rebuilt')
  const reopened = events.findLastIndex((event) => named(event, 'session.open'))
  const tree = await recordedTree('rebuilt', reopened + 1)
  expect(tree.phase).toEqual({ type: 'rebuilding', cell: 1 })
  expect(tree.turns[0]?.cells[0]).toMatchObject({ status: 'running', rebuilds: 1 })
})

test('a reset run has each turn, cell and call once', async () => {
  const tree = await recordedTree('reset')
  expect(tree).toMatchObject({ status: 'completed', totals: { turns: 3, cells: 2, toolCalls: 6 } })
  expect(tree.turns.map(({ cells }) => cells.map(({ calls }) => calls.length))).toEqual([[5], [0], []])
})

test('a continued run has each turn, cell and call once, and external values by reference', async () => {
  const tree = await recordedTree('continued')
  expect(tree.runIds.length).toBeGreaterThan(2)
  expect(tree).toMatchObject({
    status: 'completed',
    question: 'How long is it?',
    totals: { turns: 3, cells: 2, toolCalls: 17 },
    turns: [{ cells: [{ status: 'ok', output: 'counted\n' }] }, { cells: [{ status: 'ok' }] }, { cells: [] }],
  })
  expect(tree.turns[0]?.cells[0]?.calls.map(({ position }) => position.index)).toEqual(
    [...Array(16).keys()].map((n) => n + 1),
  )
  const second = tree.turns[1]?.cells[0]
  expect(second?.codeRef?.bytes).toBeGreaterThan(4_096)
  expect(second?.outputRefs).toHaveLength(1)
  expect(second?.calls).toMatchObject([{ tool: 'read_book', status: 'ok', resultRef: { bytes: expect.any(Number) } }])
  const sent = tree.turns.map(({ model }) => model?.requestBytes ?? 0)
  expect(sent).toEqual(sent.toSorted((a, b) => a - b))
})

test('the tree of a continued run has the same counts from its events as in its result', async () => {
  const events = recordedEvents('continued')
  const running = await recordedTree('continued', events.length - 1)
  expect(running.status).toBe('running')
  expect(running.totals).toEqual((await recordedTree('continued')).totals)
})

describe('a run with files', () => {
  test('the tree has the uploads and artifacts of the run, and each cell has its artifacts', async () => {
    const tree = await recordedTree('files')
    expect(tree.files).toMatchObject([
      { path: '/tmp/in/table.csv', bytes: 7, mediaType: 'text/csv' },
      { path: '/tmp/in/later.txt', bytes: 5, mediaType: 'text/plain' },
      { path: '/tmp/out/total.csv', bytes: 9, mediaType: 'text/csv' },
    ])
    expect(tree.turns.map(({ cells }) => cells.map(({ files, lostFiles }) => ({ files, lostFiles })))).toMatchObject([
      [
        {
          files: [{ path: '/tmp/out/total.csv', preview: 'total\n42' }],
          lostFiles: [{ path: '/tmp/out/link', problem: 'it is a link' }],
        },
      ],
      [{}],
      [],
    ])
  })

  test('the steps that write files count for no cell, and change no output', async () => {
    const tree = await recordedTree('files')
    expect(tree).toMatchObject({ status: 'completed', totals: { turns: 3, cells: 2, toolCalls: 1 } })
    expect(tree.turns[0]?.cells).toMatchObject([{ status: 'ok', steps: 2, output: '42 a moment later\n' }])
    expect(tree.turns[1]?.cells).toMatchObject([{ status: 'ok', steps: 1, output: 'later\n' }])
  })

  test('the phase says that files are moved, before the first cell and after it', async () => {
    const events = recordedEvents('files')
    const begun: string[] = []
    for (const [index, { activityTaskScheduledEventAttributes: scheduled }] of events.entries()) {
      const { phase } = await recordedTree('files', index + 1)
      if (scheduled && phase.type === 'moving_files') begun.push(scheduled.activityType?.name ?? '')
    }
    expect(begun).toEqual(['session.step', 'session.files', 'session.step'])
  })
})

test('a program has its source, and its outcome decides the status of its cell', async () => {
  const tree = await recordedTree('program')
  expect(tree).toMatchObject({
    type: 'program',
    result: { outcome: { status: 'ok' } },
    totals: { turns: 0, toolCalls: 5 },
  })
  expect(tree.turns).toMatchObject([{ number: 0, cells: [{ number: 1, status: 'ok' }] }])
})

test('an encrypted history gives the same tree with its codecs, and no error without them', async () => {
  const events = recordedEvents('answered')
  const plain = await treeOf(events)
  const [inner, outer] = [sealing('inner'), sealing('outer')]
  const sealed = events.map((event) => mapPayloads(event, (payload) => outer.seal(inner.seal(payload))) as HistoryEvent)
  const dataConverter = { ...defaultDataConverter, payloadCodecs: [inner.codec, outer.codec] }
  expect(await treeOf(sealed, { dataConverter })).toEqual(plain)
  const blind = await treeOf(sealed)
  expect(blind).toMatchObject({ type: 'agent', status: 'completed', question: '', turns: [] })
})

test('a workflow of another type has type other, and unknown events are ignored', async () => {
  const known = recordedEvents('answered').slice(1)
  const other = { eventId: 1, workflowExecutionStartedEventAttributes: { workflowType: { name: 'billing' } } }
  const odd = { eventId: 10_000, eventType: 9_999 }
  const events = [other, ...known, odd] as unknown as HistoryEvent[]
  expect(await treeOf(events, { workflowId: 'a' })).toMatchObject({
    type: 'other',
    workflowType: 'billing',
    workflowId: 'a',
    status: 'completed',
  })
})

test('the tree has the start and the size of a large result', async () => {
  const tree = await treeOf(recordedEvents('answered'), { previewCharacters: 8 })
  expect(firstCall(tree)).toMatchObject({ resultPreview: '{"name":', resultBytes: 34 })
})

function named(event: HistoryEvent, activity: string): boolean {
  return event.activityTaskScheduledEventAttributes?.activityType?.name === activity
}

/** @param state PENDING_ACTIVITY_STATE_*: 1 scheduled, 2 started */
function pending(state: number, attempt: number): PendingActivity {
  const lastFailure = { message: 'busy', applicationFailureInfo: { type: 'TOOL_FAILED' } }
  const pending: unknown = { activityId: 'turn-1.cell-1.call-1', state, attempt, lastFailure }
  return pending as PendingActivity
}

function firstCall(tree: RunTree) {
  return tree.turns[0]?.cells[0]?.calls[0]
}

/** A codec that decodes only its own payloads, like a codec that encrypts. */
function sealing(mark: string) {
  const invert = (data: Uint8Array | null | undefined) => data?.map((byte) => byte ^ 0x5a) ?? null
  const seal = ({ metadata, data }: Payload): Payload => {
    const encoding = new TextEncoder().encode(mark)
    return { metadata: { ...metadata, encoding, [mark]: metadata?.['encoding'] ?? encoding }, data: invert(data) }
  }
  const open = ({ metadata, data }: Payload): Payload => {
    const { [mark]: encoding, ...others } = metadata ?? {}
    if (!encoding || new TextDecoder().decode(others['encoding']) !== mark) throw new Error(`not sealed by ${mark}`)
    return { metadata: { ...others, encoding }, data: invert(data) }
  }
  const codec: PayloadCodec = {
    encode: (payloads) => Promise.resolve(payloads.map(seal)),
    decode: (payloads) => Promise.resolve(payloads.map(open)),
  }
  return { seal, codec }
}

/** A copy of an event with every payload replaced. */
function mapPayloads(value: unknown, change: (payload: Payload) => Payload): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  if ('metadata' in value && 'data' in value && value.data instanceof Uint8Array) {
    return change(value as Payload)
  }
  if (Array.isArray(value)) return value.map((each) => mapPayloads(each, change))
  if ('low' in value && 'high' in value) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, mapPayloads(each, change)]))
}
