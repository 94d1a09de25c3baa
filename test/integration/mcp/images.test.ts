import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { TestEnvironment, type TestEnvironmentOptions } from '../../support/environment/test-environment.js'
import { answerResult, call, code, text, turn } from '../../support/script.js'

const script = fileURLToPath(new URL('../../fixtures/mcp/image-server.mjs', import.meta.url))

function start(options: TestEnvironmentOptions): Promise<TestEnvironment> {
  const shots = { command: process.execPath, args: [script], approval: 'never', effect: 'read' } as const
  return TestEnvironment.start({ backend: 'wasm', mcp: { shots }, ...options })
}

interface Block {
  readonly type: string
  readonly text?: string
  readonly content?: string
  readonly source?: { readonly media_type: string; readonly data: string }
}

/** The blocks of the last message of a request. */
function lastMessage(env: TestEnvironment, request: number): readonly Block[] {
  const body = env.api.requests[request]?.body as { messages: readonly { content: readonly Block[] }[] }
  return body.messages.at(-1)?.content ?? []
}

const isImage = ({ type }: Block) => type === 'image'

it('a model sees the images of a direct call, and code gets blocks, and no image is in the history', async () => {
  const env = await start({
    script: [
      turn(call('shots__one', {})),
      turn(code('print([(each["type"], len(each.get("data", ""))) for each in await shots__one()])')),
      answerResult,
    ],
  })
  const handle = await env.startAgent()
  const result = await handle.result()
  const [answer, title, image, ...others] = lastMessage(env, 1)
  expect(answer).toMatchObject({ type: 'tool_result', content: 'The page:\n[image 1]\nIt has loaded.' })
  expect(title).toEqual({ type: 'text', text: '[image 1] of shots__one:' })
  expect(image).toMatchObject({ type: 'image', source: { type: 'base64', media_type: 'image/png' } })
  expect(others).toEqual([])
  const { length } = image?.source?.data ?? ''
  expect(length).toBeGreaterThan(260_000)
  expect(result).toMatchObject({ answer: `[('text', 0), ('image', ${length}), ('text', 0)]` })
  // Later requests have the image once.
  expect(JSON.stringify(env.api.requests[2]?.body).split(image?.source?.data ?? '').length).toBe(2)
  const history = await handle.fetchHistory()
  expect(JSON.stringify(history).length).toBeLessThan(200_000)
  await env.expectCleanEnd(handle)
})

it('of many images the model sees four in a turn and twenty in a run, and reads which are missing', async () => {
  const both = turn(call('shots__many', {}), call('shots__one', {}))
  const env = await start({ script: [both, both, both, both, both, both, turn(text('done'))] })
  const handle = await env.startAgent()
  expect(await handle.result()).toMatchObject({ answer: 'done' })
  const messages = [1, 2, 3, 4, 5, 6].map((request) => lastMessage(env, request))
  expect(messages.map((blocks) => blocks.filter(isImage).length)).toEqual([4, 4, 4, 4, 4, 0])
  const answers = messages.map((blocks) => blocks.filter(({ type }) => type === 'tool_result'))
  for (const results of answers) {
    expect(results).toHaveLength(2)
    expect(results[0]?.content).toMatch(
      /^(96|100) more images not shown: a model sees 4 images of a turn, and 20 of a run$/m,
    )
    expect(results[0]?.content?.length).toBeLessThan(4_000)
  }
  await env.expectCleanEnd(handle)
})

it('the model reads what else is in a result, and why an image is not shown', async () => {
  const env = await start({
    script: [turn(call('shots__broken', {})), turn(text('done'))],
  })
  const handle = await env.startAgent()
  expect(await handle.result()).toMatchObject({ status: 'answered' })
  const [answer, ...shown] = lastMessage(env, 1)
  expect(answer?.content?.split('\n')).toEqual([
    '[image 1]',
    '[image 2]',
    '[image 3]',
    '[image 4]',
    '[audio, audio/wav, 29.3 KB: only code gets it]',
    '[resource notes://1]',
    'a note',
    '[resource shot://1] [image 5]',
    '[image 1] is not shown: it is no PNG, JPEG, GIF or WebP',
    '[image 2] is not shown: it has 2001 x 1 pixels; 2000 are the limit for each side',
    '[image 3] is not shown: it has more than 3.75 MiB',
  ])
  // The bytes decide the type: an API refuses an image of another type than it is said to be.
  expect(shown.map(({ text: title, source }) => title ?? source?.media_type)).toEqual([
    '[image 4] of shots__broken:',
    'image/png',
    '[image 5] of shots__broken:',
    'image/png',
  ])
  await env.expectCleanEnd(handle)
})

it('structured content keeps its form, and resources are shown, in a run that continues as new', async () => {
  const env = await start({
    limits: { historyEvents: 10 },
    script: [
      turn(call('shots__structured', {}), call('shots__read_resource', { uri: 'shot://2' })),
      turn(call('shots__structured', {})),
      turn(text('done')),
    ],
  })
  const handle = await env.startAgent()
  expect(await handle.result()).toMatchObject({ answer: 'done' })
  expect(lastMessage(env, 1)).toMatchObject([
    { type: 'tool_result', content: '{"width":5}' },
    { type: 'tool_result', content: '[image 1]' },
    { type: 'text', text: expect.stringMatching(/^\[image 1\] of shots__(structured|read_resource):$/) },
    { type: 'image' },
    { type: 'text' },
    { type: 'image' },
  ])
  expect(lastMessage(env, 2).map(({ type }) => type)).toEqual(['tool_result', 'text', 'image'])
  const [first] = (await env.client.workflow.getHandle(handle.workflowId).fetchHistory()).events ?? []
  expect(first?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId).not.toBe('')
  await env.expectCleanEnd(handle)
})
