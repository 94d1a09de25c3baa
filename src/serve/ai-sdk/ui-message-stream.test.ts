import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai'
import { expect, it } from 'vitest'
import type { ConversationAnswer } from '../../client/index.js'
import type { StreamEvent } from '../../stream/index.js'
import { UiMessageStream } from './ui-message-stream.js'

const answered: ConversationAnswer = {
  status: 'answered',
  answer: 'Done.',
  isTakenBack: false,
  message: 1,
  turns: 2,
  cells: 1,
  toolCalls: 1,
  isNew: true,
}

type Data = StreamEvent extends infer Event
  ? Event extends StreamEvent
    ? Omit<Event, 'offset' | 'time'>
    : never
  : never

const turn = (number: number, attempt = 1) => ({ unit: `turn/${number}`, turn: number, attempt })
const begins = (number: number, attempt = 1) =>
  ({ type: 'turn.started', model: 'm', messages: 0, committedTurns: 0, ...turn(number, attempt) }) as const
const text = (number: number, piece: string, attempt = 1) =>
  ({ type: 'text.delta', block: 0, text: piece, ...turn(number, attempt) }) as const
const code = (number: number, piece: string, block = 1) =>
  ({ type: 'code.delta', block, text: piece, ...turn(number) }) as const
const ends = (number: number) =>
  ({ type: 'turn.completed', model: 'm', stopReason: 'end_turn', ...turn(number) }) as const
const step = { unit: 'step/s/1', attempt: 1, cell: 1 }
const call = { unit: 'call/k', attempt: 1, call: 'k', tool: 'pay', caller: 'direct', turn: 1, cell: 0, index: 1 }

function chunksOf(events: readonly Data[], answer = answered): readonly UIMessageChunk[] {
  const stream = new UiMessageStream()
  const added = events.flatMap((event, index) => stream.add({ ...event, offset: `${index}`, time: 0 }))
  return [...stream.start('m1'), ...added, ...stream.finish(answer)] as readonly UIMessageChunk[]
}

/** The message that the AI SDK makes of these parts; rejects when the AI SDK does not accept a part. */
async function messageOf(chunks: readonly object[]): Promise<UIMessage | undefined> {
  let last: UIMessage | undefined
  const stream = new ReadableStream<UIMessageChunk>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk as UIMessageChunk)
      controller.close()
    },
  })
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message
  return last
}

it('makes a step of each turn, with text, code, output and calls', async () => {
  const message = await messageOf(
    chunksOf([
      { type: 'run.started', model: 'm', unit: 'run', attempt: 1 },
      begins(1),
      text(1, 'I '),
      text(1, 'look.'),
      code(1, 'print("a'),
      code(1, '\\n")\n'),
      ends(1),
      { type: 'cell.started', ...step },
      { type: 'call.started', summary: 'pay 3 EUR', ...call },
      { type: 'call.completed', ...call },
      { type: 'output.delta', text: 'a\n', ...step },
      { type: 'cell.completed', ...step },
      begins(2),
      text(2, 'Done.'),
      ends(2),
    ]),
  )
  const flags = { providerExecuted: true }
  expect(message).toMatchObject({ id: 'answer-m1', role: 'assistant', metadata: { status: 'answered' } })
  expect(message?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'text', text: 'I look.', state: 'done' },
    {
      type: 'dynamic-tool',
      toolName: 'execute_code',
      state: 'output-available',
      input: { code: 'print("a\\n")\n' },
      output: { status: 'completed', output: 'a\n' },
      ...flags,
    },
    { type: 'dynamic-tool', toolName: 'pay', input: { summary: 'pay 3 EUR' }, output: { status: 'ok' }, ...flags },
    { type: 'step-start' },
    { type: 'text', text: 'Done.', state: 'done' },
  ])
})

it('reports that the parts of a failed attempt are void', async () => {
  const message = await messageOf(
    chunksOf([
      begins(1),
      text(1, 'Don'),
      { type: 'turn.failed', code: 'MODEL_STREAM', ...turn(1) },
      { type: 'retry', ...turn(1, 2) },
      { type: 'reset', unit: 'turn/1', since: '0' },
      begins(1, 2),
      text(1, 'Done.', 2),
      ends(1),
    ]),
  )
  expect(message?.parts.map((part) => ('text' in part ? part.text : part.type))).toEqual([
    'step-start',
    'Don',
    'data-reset',
    'step-start',
    'Done.',
  ])
})

it('adds the language of code that names one', async () => {
  const started = { type: 'cell.started', language: 'bash', ...step } as const
  const message = await messageOf(
    chunksOf([begins(1), code(1, 'ls'), ends(1), started, { type: 'cell.completed', ...step }, begins(2), ends(2)]),
  )
  expect(message?.parts).toContainEqual(
    expect.objectContaining({ toolName: 'execute_code', input: { code: 'ls', language: 'bash' } }),
  )
})

it('leaves out the output of a step whose sandbox was lost', () => {
  const chunks = chunksOf([
    begins(1),
    code(1, 'f()'),
    ends(1),
    { type: 'cell.started', ...step },
    { type: 'output.delta', text: 'old', ...step },
    { type: 'reset', unit: step.unit, since: '0' },
    { type: 'output.delta', text: 'new', ...step, attempt: 2 },
    { type: 'cell.failed', status: 'code_error', error: ' ValueError', ...step },
  ])
  expect(chunks).toContainEqual(expect.objectContaining({ type: 'tool-output-error', errorText: 'new ValueError' }))
})

it('sends the answer when the stream lost it, and ends tools whose result the stream lost', async () => {
  const message = await messageOf(
    chunksOf([begins(1), text(1, 'Do'), code(1, 'f()'), { type: 'call.started', summary: 'pay', ...call }]),
  )
  const texts = message?.parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))
  expect(texts).toEqual(['Do', 'Done.'])
  const states = message?.parts.flatMap((part) => (part.type === 'dynamic-tool' ? [part.state] : []))
  expect(states).toEqual(['output-error', 'output-error'])
  expect(chunksOf([])).toMatchObject([
    { type: 'start' },
    { type: 'text-start' },
    { type: 'text-delta', delta: 'Done.' },
    { type: 'text-end' },
    { type: 'finish', finishReason: 'stop' },
  ])
})

it.each([
  [{ status: 'failed', error: { code: 'MODEL_AUTH', message: 'no key' } }, ['error', 'finish'], 'error'],
  [{ status: 'interrupted' }, ['abort', 'finish'], 'other'],
  [{ status: 'truncated' }, ['finish'], 'length'],
  [{ status: 'turn_limit' }, ['finish'], 'other'],
] as const)('reports how the work on a message ended: %o', (end, types, finishReason) => {
  const chunks = chunksOf([], { ...answered, answer: '', ...end }).slice(1)
  expect(chunks.map(({ type }) => type)).toEqual(types)
  expect(chunks.at(-1)).toMatchObject({ finishReason, messageMetadata: { status: end.status } })
})

it('sends a milestone of a call as a preliminary output', async () => {
  const milestone = { ...call, type: 'milestone.reached', text: 'half way' } as const
  const chunks = chunksOf([begins(1), { ...call, type: 'call.started', summary: 'pay' }, milestone])
  expect(chunks).toContainEqual(
    expect.objectContaining({ toolCallId: 'k', output: { milestone: 'half way' }, preliminary: true }),
  )
  const late = chunksOf([{ ...call, type: 'call.completed' }, milestone])
  expect(late).not.toContainEqual(expect.objectContaining({ preliminary: true }))
  expect((await messageOf(chunks))?.parts).toContainEqual(expect.objectContaining({ toolCallId: 'k' }))
})

it('requests approvals of waiting calls after the code, in a separate step', async () => {
  const stream = new UiMessageStream()
  const ofCell = { ...call, caller: 'code_execution', cell: 1, summary: 'pay 3 EUR' }
  const requested = { ...ofCell, type: 'approval.requested', unit: 'approval/k' } as const
  const events: readonly Data[] = [begins(1), code(1, 'pay()'), ends(1), { type: 'cell.started', ...step }, requested]
  const chunks = events.flatMap((event, index) => stream.add({ ...event, offset: `${index}.0`, time: 0 }))
  expect(stream.isWaiting).toBe(true)
  const requests = stream.requestApprovals(new Set(['k', 'of another message']))
  expect(requests).toContainEqual({ type: 'tool-approval-request', toolCallId: 'k', approvalId: 'k@4.0' })
  const message = await messageOf([...stream.start('m1'), ...chunks, ...requests])
  expect(message?.parts).toMatchObject([
    { type: 'step-start' },
    { type: 'dynamic-tool', toolName: 'execute_code', state: 'input-available' },
    { type: 'step-start' },
    { type: 'dynamic-tool', toolName: 'pay', state: 'approval-requested', approval: { id: 'k@4.0' } },
  ])
  // The call is already a part: only its end is one more.
  expect(stream.respond([{ call: 'k', offset: '4.0', approved: true, reason: undefined }])).toEqual([])
  expect(stream.add({ type: 'call.started', ...ofCell, offset: '5.0', time: 0 })).toEqual([])
  expect(stream.isWaiting).toBe(false)
  const end = stream.add({ type: 'call.completed', ...ofCell, offset: '6.0', time: 0 })
  expect(end).toMatchObject([{ type: 'tool-output-available', toolCallId: 'k' }])
})

it('forgets calls that no longer wait for their approval', () => {
  const stream = new UiMessageStream()
  stream.add({ type: 'approval.requested', ...call, summary: 'pay', offset: '1.0', time: 0 })
  let looks = 0
  for (; stream.isWaiting; looks += 1) expect(stream.requestApprovals(new Set())).toEqual([])
  expect(looks).toBe(11)
  stream.add({ type: 'approval.requested', ...call, summary: 'pay', offset: '2.0', time: 0 })
  stream.add({ ...begins(2), offset: '3.0', time: 0 })
  expect(stream.isWaiting).toBe(false)
})
