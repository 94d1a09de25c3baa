import { expect, it } from 'vitest'
import { stubbedTurn } from '../../../test/support/models/stubbed-turn.js'
import type { ModelDelta } from '../provider.js'

const event = (delta: object, finish_reason: string | null = null) => ({
  choices: [{ index: 0, delta, finish_reason }],
})

async function deltasOf(...events: readonly object[]): Promise<readonly ModelDelta[]> {
  return (await stubbedTurn({ baseURL: 'https://models.example' }, [...events, '[DONE]'])).deltas
}

const call = (index: number, name: string, args: string) => ({
  index,
  id: `call_${index}`,
  function: { name, arguments: args },
})
const more = (index: number, args: string) => ({ index, function: { arguments: args } })

it('reports the text and code of a chat completion as they arrive', async () => {
  const deltas = await deltasOf(
    event({ role: 'assistant', content: '', reasoning_content: 'Hm.' }),
    event({ content: 'I ' }),
    event({ content: 'run it.' }),
    event({ tool_calls: [call(0, 'execute_code', '')] }),
    event({ tool_calls: [more(0, '{"co')] }),
    event({ tool_calls: [more(0, 'de": "pri')] }),
    event({ tool_calls: [more(0, 'nt(1)\\'), call(1, 'pay', '{"code": "no"}')] }),
    event({ tool_calls: [more(0, 'n"}'), call(2, 'execute_code', '{"code": "x"}')] }),
    event({}, 'tool_calls'),
  )
  expect(deltas).toEqual([
    { type: 'text', block: 0, text: 'I ' },
    { type: 'text', block: 0, text: 'run it.' },
    { type: 'code', block: 1, text: 'pri' },
    { type: 'code', block: 1, text: 'nt(1)' },
    { type: 'code', block: 1, text: '\n' },
    { type: 'code', block: 3, text: 'x' },
  ])
})

it('reports the code of a server that sends complete calls, all with number 0', async () => {
  const whole = (id: string, code: string) => ({
    index: 0,
    id,
    function: { name: 'execute_code', arguments: { code } },
  })
  const deltas = await deltasOf(event({ tool_calls: [whole('a', 'x = 1'), whole('b', 'x')] }), event({}, 'stop'))
  expect(deltas).toEqual([
    { type: 'code', block: 0, text: 'x = 1' },
    { type: 'code', block: 1, text: 'x' },
  ])
})

it('reports the text of a refusal', async () => {
  const deltas = await deltasOf(event({ refusal: 'I can' }), event({ refusal: "'t." }), event({}, 'stop'))
  expect(deltas.map(({ text }) => text)).toEqual(['I can', "'t."])
})
