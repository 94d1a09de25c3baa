import { expect, test } from 'vitest'
import { ask, assistant, cached, result, text, tool, use, user, withMessages, withTools } from './rejected-requests.js'
import { validRequest, post, startServer } from './support.js'

const accepted: readonly { readonly name: string; readonly body: unknown }[] = [
  { name: 'a system message later on', body: withMessages(ask, { role: 'system', content: 'Be brief.' }) },
  { name: 'consecutive messages of one role, as one turn', body: withMessages(ask, ask) },
  {
    name: 'results of one turn in two messages',
    body: withMessages(ask, assistant(use('a'), use('b')), user(result('a')), user(result('b'))),
  },
  { name: 'text after the results', body: withMessages(ask, assistant(use('a')), user(result('a'), text('and?'))) },
  {
    name: 'results in another order',
    body: withMessages(ask, assistant(use('a'), use('b')), user(result('b'), result('a'))),
  },
  {
    name: 'an empty result',
    body: withMessages(ask, assistant(use('a')), user({ type: 'tool_result', tool_use_id: 'a', content: '' })),
  },
  {
    name: 'a call with its caller, as it was sent',
    body: withMessages(ask, assistant({ ...use('a'), caller: { type: 'direct' } }), user(result('a'))),
  },
  {
    name: 'four cache_controls',
    body: {
      ...validRequest,
      system: [{ ...text('x'), ...cached }],
      messages: [user({ ...text('a'), ...cached }, { ...text('b'), ...cached }, { ...text('c'), ...cached })],
    },
  },
  { name: 'a server tool', body: withTools({ type: 'code_execution_20260120', name: 'code_execution' }, tool) },
  { name: 'a block that only the script knows', body: withMessages(ask, assistant({ type: 'mood', value: 3 }), ask) },
  {
    name: 'a prefill where the model takes one',
    body: { ...validRequest, model: 'claude-sonnet-4-5', messages: [ask, assistant(text('So'))] },
  },
]

test.each(accepted)('the scripted server accepts $name', async ({ body }) => {
  const turn = {
    reply: {
      content: [
        { type: 'mood', value: 3 },
        { type: 'text', text: 'Hi' },
      ],
    },
  }
  const server = await startServer({ script: [turn, turn, turn] })

  const response = await post(server, body)

  expect(await response.json()).toMatchObject({ type: 'message' })
})
