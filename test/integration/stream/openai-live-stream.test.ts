import { expect, it } from 'vitest'
import { fileStream } from '../../../src/stream/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { readEvents, shownText } from '../../support/stream/shown-text.js'
import { tool } from '../../support/tools.js'
import { isolateTests, startServer } from '../models/harness.js'
import { chunk, done, event, startChatStream, usageChunk } from '../models/openai-harness.js'

isolateTests()

it('delivers text and code of a compatible server, and voids those of a failed attempt', async () => {
  const argumentPieces = ['', '{"code": "print(', 'await ping())\\n"}']
  const codeChunks = argumentPieces.map((piece, position) =>
    chunk({
      tool_calls: [
        position === 0
          ? { index: 0, id: 'call_1', type: 'function', function: { name: 'execute_code', arguments: piece } }
          : { index: 0, function: { arguments: piece } },
      ],
    }),
  )
  const replies = [
    [chunk({ content: 'Half of' }), event({ error: { message: 'The server had an error', type: 'server_error' } })],
    [
      chunk({ content: 'I ask ' }),
      chunk({ content: 'it. ' }),
      ...codeChunks,
      chunk({}, 'tool_calls'),
      usageChunk,
      done,
    ],
    [chunk({ content: 'It says ' }), chunk({ content: 'pong.' }), chunk({}, 'stop'), usageChunk, done],
  ]
  const server = await startServer(async (response) => {
    const pieces = replies[server.requests.length - 1] ?? []
    startChatStream(response)
    for (const piece of pieces) await new Promise((resolve) => response.write(piece, resolve))
    response.end()
  })
  const env = await TestEnvironment.start({
    stream: fileStream({ folder: await temporaryFolder() }),
    tools: [tool('ping', () => 'pong')],
    providers: { local: { kind: 'openai', baseURL: server.url } },
  })
  expect(await env.runAgent({ model: 'local/m' })).toMatchObject({ status: 'answered', answer: 'It says pong.' })
  const events = await readEvents(env.ptc.handle(env.lastRun.workflowId).stream())
  expect(shownText(events)).toBe('I ask it. It says pong.')
  expect(shownText(events, 'code')).toBe('print(await ping())\n')
  const first = events.filter((each) => 'unit' in each && each.unit === 'turn/1')
  const texts = first.flatMap((each) => (each.type === 'text.delta' ? [each.text] : []))
  expect(texts[0]).toBe('Half of')
  expect(
    first.map(({ type }) => type).filter((type) => !['turn.progressed', 'text.delta', 'code.delta'].includes(type)),
  ).toEqual(['turn.started', 'turn.failed', 'retry', 'reset', 'turn.started', 'turn.completed'])
  expect(first).toContainEqual(expect.objectContaining({ type: 'turn.failed', code: 'MODEL_SERVER' }))
  expect(first).toContainEqual(expect.objectContaining({ type: 'retry', attempt: 2 }))
})
