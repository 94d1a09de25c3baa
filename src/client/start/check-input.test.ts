import { describe, expect, it } from 'vitest'
import { checkInput } from './check-input.js'
import { createPtcClient } from '../client.js'

const invalidInput = (message: unknown) => expect.objectContaining({ code: 'RUN_INPUT_INVALID', message })

describe('checkInput', () => {
  it.each([
    ['agent', { question: 'why?', model: 'm', sandbox: 'mine', limits: { turns: 3, cpus: 0.5 } }],
    ['agent', { question: 'why?', model: undefined, limits: {} }],
    ['agent', { question: 'why?', mode: 'single-turn' }],
    ['agent', { question: 'why?', thinking: { budgetTokens: 1_024 }, effort: 'xhigh' }],
    ['agent', { question: 'why?', thinking: 'off', temperature: 0 }],
    ['program', { source: 'print(1)', limits: { cellSeconds: 1.5 } }],
    ['program', { source: '1', network: false }],
    ['agent', { question: 'why?', network: { allow: ['a.test', { host: '*.b.test', headers: { a: 'b' } }] } }],
    ['agent', { question: 'why?', agent: 'clerk', tools: [], context: { tenant: 'acme' }, input: null }],
  ] as const)('checkInput accepts: %s %j', (kind, input) => {
    expect(() => checkInput(kind, input)).not.toThrow()
  })

  it.each([
    ['agent', { question: 'why?', modle: 'm' }, 'the input: unknown key "modle". Did you mean "model"?'],
    ['agent', { question: 'why?', mode: 'auto' }, expect.stringContaining('"autonomous"')],
    ['program', { source: '1', mode: 'plan' }, 'the input: unknown key "mode". Did you mean "model"?'],
    ['program', { source: '1', question: 'why?' }, 'the input: unknown key "question"'],
    ['agent', { question: 'why?', limits: { turn: 1 } }, 'limits: unknown key "turn". Did you mean "turns"?'],
    ['agent', { question: 'why?', limits: { turns: 0 } }, expect.stringMatching(/>=1\n.*limits\.turns/)],
    ['agent', { question: 'why?', limits: { callsInFlight: 5_000 } }, expect.stringContaining('at most 1,000')],
    ['agent', { question: 'why?', network: true }, expect.stringContaining('at network')],
    ['program', { source: '1', network: { alow: [] } }, expect.stringMatching(/"alow"\n.*at network/)],
    [
      'program',
      { source: '1', network: { allow: ['http://a.test'] } },
      expect.stringMatching(/a host.*\n.*allow\[0\]/),
    ],
    [
      'program',
      { source: '1', network: { allow: [{ host: 'a.test', methods: ['get'] }] } },
      expect.stringMatching(/capital.*\n.*network\.allow\[0\]\.methods\[0\]/),
    ],
    ['agent', { question: 'why?', network: { allow: Array(1_001).fill('a.test') } }, expect.stringContaining('1000')],
    ['agent', { question: 7 }, expect.stringMatching(/expected string.*\n.*question/)],
    [
      'agent',
      { question: 'why?', temperature: 0, thinking: 'adaptive' },
      'temperature and thinking exclude each other',
    ],
    [
      'agent',
      { question: 'why?', thinking: { budgetTokens: 1_023 } },
      expect.stringMatching(/>=1024\n.*thinking\.budgetTokens/),
    ],
    ['agent', { question: 'why?', effort: 'minimal' }, expect.stringContaining('effort')],
    ['program', { source: '1', temperature: 0 }, 'the input: unknown key "temperature"'],
    ['program', { source: '1', agent: 'clerk' }, 'the input: unknown key "agent"'],
    ['agent', { question: 'why?', input: { at: new Date(0) } }, expect.stringContaining('not JSON at at')],
    ['agent', { question: 'why?', input: () => 1 }, expect.stringContaining('not JSON')],
    ['agent', { question: 'why?', context: [] }, expect.stringContaining('not an object')],
    ['program', { source: '1', context: { x: 'x'.repeat(2_048) } }, expect.stringContaining('at most 2048 bytes')],
    ['program', { source: '1', tools: 'pay' }, expect.stringContaining('tools')],
    ['agent', 'why?', expect.stringContaining('expected object')],
    ['program', {}, expect.stringMatching(/expected string.*\n.*source/)],
  ] as const)('checkInput rejects: %s %j', (kind, input, message) => {
    expect(() => checkInput(kind, input)).toThrow(invalidInput(message))
  })
})

it('the client rejects invalid input and options before it sends a request', async () => {
  const ptc = createPtcClient({ client: {} as never })
  const wrong = { question: 'why?', limits: { turns: 0 } }
  await expect(ptc.startAgent(wrong)).rejects.toThrow(invalidInput(expect.stringContaining('limits.turns')))
  const options = { workflowID: 'mine' } as object
  await expect(ptc.startAgent({ question: 'why?' }, options)).rejects.toThrow(
    invalidInput('the options: unknown key "workflowID". Did you mean "workflowId"?'),
  )
  await expect(ptc.sessions.execute('books', '1', { limits: { turns: 0 } })).rejects.toThrow(
    invalidInput(expect.stringContaining('limits.turns')),
  )
  const executeOptions = { mustExists: true } as object
  await expect(ptc.sessions.execute('books', '1', executeOptions)).rejects.toThrow(
    invalidInput('the options: unknown key "mustExists". Did you mean "mustExist"?'),
  )
  await expect(ptc.list({ state: 'running' } as object)).rejects.toThrow(
    invalidInput('the options: unknown key "state". Did you mean "status"?'),
  )
  await expect(ptc.sessions.list({ run: 1 } as object)).rejects.toThrow(
    invalidInput('the options: unknown key "run". Did you mean "runs"?'),
  )
  expect(() => createPtcClient({ client: {} as never, taskqueue: 'q' } as never)).toThrow(
    invalidInput('the options: unknown key "taskqueue". Did you mean "taskQueue"?'),
  )
})
