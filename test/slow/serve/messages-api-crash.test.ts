import { expect, it } from 'vitest'
import { startServer } from '../../../src/serve/index.js'
import { startWithLedger } from '../../support/environment/ledger-environment.js'
import { code, text, turn } from '../../support/script.js'
import { MessagesClient, textOf, toolUses } from '../../support/serve/messages-client.js'

const ask = {
  name: 'ask',
  input_schema: { type: 'object' as const, properties: { n: { type: 'integer' } } },
  allowed_callers: ['code_execution_20260120' as const],
}

it('resumes after kill -9 of its worker and its server while code waits, without repeating a call', async () => {
  const source = 'total = 0\nfor n in (1, 2):\n  total += int(await ask(n=n))\nprint(total)'
  const { env } = await startWithLedger([turn(code(source)), turn(text('It is 30.'))], { backend: 'wasm' })
  const first = await startServer({ ptc: env.ptc, port: 0 })
  const client = new MessagesClient({ env, ptc: env.ptc }, first.url, [ask])
  const one = await client.ask('Go.')
  expect(toolUses(one)).toMatchObject([{ input: { n: 1 } }])
  await first.close()
  await env.workers.replace()
  const second = await startServer({ ptc: env.ptc, port: 0 })
  try {
    client.use(second.url)
    const two = await client.answer(one, () => '10')
    expect(toolUses(two)).toMatchObject([{ input: { n: 2 } }])
    await env.workers.replace()
    const done = await client.answer(two, () => '20')
    expect(textOf(done)).toBe('It is 30.')
    expect(done.content[0]).toMatchObject({ content: { stdout: '30\n' } })
    expect(env.api.requests).toHaveLength(2)
  } finally {
    await second.close()
  }
})
