import { afterAll, beforeAll, expect, test } from 'vitest'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'
import { TestProject, type PtcProcess } from '../../support/cli/ptc.js'

/** `hold` ignores its cancellation, and heartbeats are too rare to deliver a cancellation. */
const configuration = `
import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const broken = defineTool({
  name: 'broken', description: 'Throws.', effect: 'read', retry: { attempts: 1 },
  input: z.object({ text: z.boolean() }), output: z.null(),
  run: function inkless({ text }) { throw text ? 'out of paper' : new Error('out of ink') },
})
const hold = defineTool({
  name: 'hold', description: 'Waits until it is released.', effect: 'idempotent', timeout: '20m',
  input: z.object({}), output: z.null(),
  run: async (_, { log }) => {
    log.info('begins')
    while (!existsSync('released')) await delay(50)
    log.info('ends')
    return null
  },
})
export default defineConfig({
  tools: [broken, hold], sandbox: { backend: 'wasm' }, taskQueue: '${uniqueName('worker-log')}', [Symbol.for('durable-ptc.test-settings')]: { timeouts: { heartbeatMs: 600_000 } },
})
`

let project: TestProject
let worker: PtcProcess

beforeAll(async () => {
  project = await TestProject.create({ 'ptc.config.ts': configuration }, { TEMPORAL_ADDRESS: sharedServer().address })
  worker = project.start('worker')
  await worker.waitForOutput(/worker ready/)
})

afterAll(() => project[Symbol.asyncDispose]())

test.each([
  ['an error', 'False', 'out of ink'],
  ['a string', 'True', 'out of paper'],
])('a tool that throws is logged with the message, its own stack, and the run: %s', async (_, text, message) => {
  const id = uniqueName('thrown')
  const begin = worker.stderr.length
  const { stderr } = await project.start('exec', '-', '--id', id).input(`await broken(text=${text})`).result
  expect(stderr).toContain(message)
  await worker.waitForOutput(new RegExp(`broken threw .*workflowId=${id}`))
  const log = worker.stderr.slice(begin).trimEnd().split('\n')
  const line = (pattern: string) => expect.stringMatching(new RegExp(`^${pattern}`))
  expect(log).toContainEqual(line(`\\S+ WARN +broken threw .*workflowId=${id}`))
  expect(log.filter((each) => each.includes('Activity failed'))).toEqual([])
  expect(log).toContainEqual(line(` {4}(Error: )?${message}$`))
  if (message === 'out of ink') expect(log).toContainEqual(line(' {4}at .*inkless .*ptc\\.config\\.ts'))
  expect(log.filter((each) => each.trim() === '')).toEqual([])
})

test('JSON lines of the log have the ids of the run, the tool and its stack; stderr has no other lines', async () => {
  await project.write('json.config.ts', configuration.replace(/taskQueue: '.*?'/, `taskQueue: '${uniqueName('json')}'`))
  const json = project.start('worker', '--config', 'json.config.ts', '--log-format', 'json')
  await json.waitForOutput(/worker ready/)
  await project.start('exec', '-', '--config', 'json.config.ts').input('await broken(text=False)').result
  json.signal('SIGTERM')
  const { stderr } = await json.result
  const lines = stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines.find(({ message }) => message === 'broken threw')).toMatchObject({
    time: expect.stringMatching(/^20\d\d-/),
    level: 'WARN',
    tool: 'broken',
    attempt: 1,
    workflowType: 'program',
    workflowId: expect.stringMatching(/^program-/),
    runId: expect.any(String),
    activityId: expect.stringMatching(/^turn-0/),
    stack: expect.stringMatching(/^Error: out of ink\n +at .*inkless/),
  })
  for (const line of lines) expect(line).not.toHaveProperty('taskToken')
})

test('running calls of a cancelled run are not logged', async () => {
  const calls = 20
  const source = `import asyncio\nawait asyncio.gather(*[hold() for _ in range(${calls})])`
  const following = project.start('exec', '-').input(source)
  const times = (message: string) => worker.stderr.split(` ${message} `).length - 1
  await expect.poll(() => times('begins')).toBe(calls)
  const begin = worker.stderr.length
  following.signal('SIGINT')
  expect((await following.result).code).toBe(130)
  // This happens before the next heartbeat, so no call knows that its run has ended.
  await project.write('released', '')
  await expect.poll(() => times('ends')).toBe(calls)
  worker.signal('SIGTERM')
  const { stderr } = await worker.result
  expect(stderr).not.toContain('Activity not found')
  const lines = stderr.slice(begin).split('\n')
  expect(lines.filter((line) => !/ ends |Worker state changed/.test(line)).length).toBeLessThan(10)
})
