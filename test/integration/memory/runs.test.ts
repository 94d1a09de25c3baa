import { expect, it } from 'vitest'
import { memory } from '../../../src/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, call, code, text, turn } from '../../support/script.js'

it('what an agent stores is there for a later run of the same user, and not for another tenant', async () => {
  const directory = await temporaryFolder()
  const path = '/memories/preferences.md'
  const env = await TestEnvironment.start({
    backend: 'wasm',
    tools: [memory({ store: { kind: 'local', directory }, scope: ({ tenant, user }) => [tenant, user] })],
    script: {
      conversations: [
        {
          match: { firstUserText: 'store' },
          turns: [
            turn(call('memory', { command: 'view', path: '/memories' })),
            turn(call('memory', { command: 'create', path, file_text: 'likes short answers\n' })),
            turn(
              code(`print(await memory(command="insert", path="${path}", insert_line=1, insert_text="speaks French"))`),
            ),
            turn(text('stored')),
          ],
        },
        { match: { firstUserText: 'look up' }, turns: [turn(call('memory', { command: 'view', path })), answerResult] },
        {
          match: { firstUserText: 'spy' },
          turns: [
            turn(call('memory', { command: 'view', path })),
            turn(
              code(`
try: await memory(command="view", path="/memories/../acme/ada")
except ToolError as error: print(error)
print(await memory(command="view", path="/memories"))
`),
            ),
            answerResult,
          ],
        },
      ],
    },
  })
  const ada = { tenant: 'acme', user: 'ada' }
  const first = await env.startAgent({ question: 'store', context: ada })
  expect(await first.result()).toMatchObject({ answer: 'stored' })
  const asked = JSON.stringify(env.api.requests[0]?.body)
  expect(asked).toContain('Your context may be compacted at any time')
  expect(asked).toContain('view_range')
  expect(asked).toContain('{"type":"memory_20250818","name":"memory"}')

  await env.workers.stop()
  await env.workers.start()
  const second = await env.startAgent({ question: 'look up', context: ada })
  expect(await second.result()).toMatchObject({
    answer: expect.stringContaining('     1\tlikes short answers\n     2\tspeaks French'),
  })

  const other = await env.startAgent({ question: 'spy', context: { tenant: 'other', user: 'ada' } })
  const { answer } = await env.agentResult(other)
  expect(answer).toContain('has the name ".."')
  expect(answer).toContain('0B\t/memories')
  expect(answer).not.toContain('preferences.md')
  expect(JSON.stringify(env.api.requests.at(-1)?.body)).toContain(`The path ${path} does not exist`)
  expect(JSON.stringify(env.api.requests.at(-1)?.body)).not.toContain('French')
  for (const handle of [first, second, other]) await env.expectCleanEnd(handle)
})

it('a run whose context names nobody gets an error from its memory, and goes on', async () => {
  const directory = await temporaryFolder()
  const env = await TestEnvironment.start({
    backend: 'wasm',
    tools: [memory({ store: { kind: 'local', directory }, scope: ({ user }) => user })],
    script: [turn(call('memory', { command: 'create', path: '/memories/a', file_text: 'x' })), answerResult],
  })
  const handle = await env.startAgent()
  expect((await env.agentResult(handle)).answer).toContain('the context of the run names nobody')
  await env.expectCleanEnd(handle)
})
