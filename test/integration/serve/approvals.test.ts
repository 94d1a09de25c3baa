import { expect, it } from 'vitest'
import { z } from 'zod'
import { askHuman, defineTool } from '../../../src/index.js'
import { code, answerResult, turn } from '../../support/script.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'

interface Listed {
  readonly conversation: string
  readonly call: string
  readonly token: string
  readonly arguments: object
  readonly since: string
  readonly expiresAt: string
}

const pay = defineTool({
  name: 'pay',
  description: 'Pays.',
  input: z.object({ euros: z.number() }),
  output: z.string(),
  effect: 'once',
  approval: 'always',
  run: ({ euros }) => `paid ${euros}`,
})

const source = `
import asyncio
results = await asyncio.gather(pay(euros=1), pay(euros=2), ask_human(question="Which?"), return_exceptions=True)
print(*results, sep="; ")`

it('lists waiting calls, and approves, denies and answers each once', async () => {
  const served = await ServeEnvironment.start({ tools: [pay, askHuman()], script: [turn(code(source)), answerResult] })
  const [server, other] = [await served.server(), await served.server()]
  await server.post('/messages', { text: 'Pay.', id: 'm' })
  const list = async (query: string): Promise<readonly Listed[]> => {
    const response = await fetch(`${other.url}/approvals${query}`)
    return (await response.json()) as readonly Listed[]
  }
  await expect.poll(() => server.get()).toMatchObject({ body: { waitingCalls: 3 } })
  const calls = await list(`?conversation=${served.name}`)
  const find = (call: string) => calls.find((each) => each.call === `turn-1.cell-1.call-${call}`)
  expect([find('1'), find('2'), find('3')]).toMatchObject([
    { waitsFor: 'approval', tool: 'pay', arguments: { euros: 1 }, conversation: served.name },
    { waitsFor: 'approval', tool: 'pay', arguments: { euros: 2 } },
    { waitsFor: 'result', tool: 'ask_human', summary: 'Which?' },
  ])
  // The server's index of runs is not up to date yet. A history has the times of events, which are milliseconds earlier.
  const byCall = (each: readonly Listed[]) =>
    each
      .map(({ since, expiresAt, ...others }) => ({ ...others, waitMs: Date.parse(expiresAt) - Date.parse(since) }))
      .toSorted((one, other) => one.call.localeCompare(other.call))
  await expect.poll(async () => byCall(await list(''))).toEqual(byCall(calls))
  const [first, second, question] = ['1', '2', '3'].map((call) => find(call)?.token)

  for (const body of [{}, { decision: 'maybe' }, { decision: 'deny' }, { decision: 'approve', arguments: [1] }])
    expect(await server.decide(first ?? '', body)).toMatchObject({ status: 400 })
  expect(await server.decide('no-token', { decision: 'approve' })).toMatchObject({
    status: 400,
    body: { error: { code: 'COMPLETION_TOKEN_INVALID' } },
  })
  const wrong = await server.decide(first ?? '', { decision: 'approve', arguments: { euros: 'many' } })
  expect(wrong).toMatchObject({ status: 400, body: { error: { code: 'TOOL_INPUT_INVALID' } } })

  const approval = { decision: 'approve', arguments: { euros: 10 }, by: 'ada' }
  expect(await Promise.all([server.decide(first ?? '', approval), other.decide(first ?? '', approval)])).toEqual([
    { status: 204, body: undefined },
    { status: 204, body: undefined },
  ])
  expect(await server.decide(first ?? '', { decision: 'deny', reason: 'late' })).toMatchObject({
    status: 409,
    body: { error: { code: 'CALL_COMPLETED' } },
  })
  expect(await server.decide(second ?? '', { decision: 'deny', reason: 'no money' })).toMatchObject({ status: 204 })
  expect(await other.decide(question ?? '', { decision: 'answer', value: 'INV-8' })).toMatchObject({ status: 204 })
  const { body } = await server.get('/messages/m')
  expect(body).toMatchObject({
    status: 'answered',
    answer: expect.stringMatching(/^paid 10; .*no money.*; INV-8/) as string,
  })
  expect(await list(`?conversation=${served.name}`)).toEqual([])
})
