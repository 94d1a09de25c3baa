import { afterAll, beforeAll, expect, test } from 'vitest'
import { testTemporal, uniqueName } from '../support/temporal.js'
import { Project, type Ptc } from './ptc.js'

const taskQueue = uniqueName('unserved')

const configuration = `
import { setTimeout as delay } from 'node:timers/promises'
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const wait = defineTool({
  name: 'wait', description: 'Waits until it is cancelled.', effect: 'idempotent', timeout: '5m',
  input: z.object({}), output: z.string(),
  run: async (_, { signal, log }) => { log.info('waiting'); await delay(240_000, undefined, { signal }); return 'done' },
})
export default defineConfig({
  tools: [wait], sandbox: { backend: 'wasm' }, taskQueue: '${taskQueue}', timings: { heartbeat: '1s' },
})
`

let project: Project

beforeAll(async () => {
  project = await Project.create({ 'ptc.config.ts': configuration }, { TEMPORAL_ADDRESS: testTemporal().address })
})

afterAll(() => project[Symbol.asyncDispose]())

async function startWorker(roles: string): Promise<Ptc> {
  const worker = project.start('worker', '--roles', roles)
  await worker.said(/worker ready/)
  return worker
}

async function kill(worker: Ptc): Promise<void> {
  worker.signal('SIGKILL')
  await worker.ended
}

/** The line that names the queue, wherever it is broken to fit. */
function unservedBy(role: string, queue: string): RegExp {
  const line = `no worker takes tasks from ${queue}: waiting for .*, last poll .* ago; \`ptc worker --roles ${role}\``
  return new RegExp(line.replaceAll(' ', '\\s+'), 's')
}

test('every command says that no worker takes tasks, after all workers were killed', async () => {
  const id = uniqueName('lonely')
  const first = await startWorker('workflow,tools,sandbox')
  // The server knows the worker once a run needed every role of it.
  expect(await project.start('exec', '-').input('print(1)').ended).toMatchObject({ code: 0 })
  await kill(first)

  const following = project.start('exec', '-', '--id', id).input('print(6 * 7)')
  const unserved = unservedBy('workflow', taskQueue)
  await following.said(unserved)

  expect((await project.run('show', id)).stdout).toMatch(unserved)
  const tree: unknown = JSON.parse((await project.run('show', id, '--json')).stdout)
  expect(tree).toMatchObject({ status: 'running', unserved: [{ taskQueue, role: 'workflow' }] })
  await expect.poll(async () => (await project.run('list')).stderr, { interval: 500 }).toMatch(unserved)
  const { stdout } = await project.run('doctor')
  expect(stdout).toMatch(
    new RegExp(`warn +Workers: task queue ${taskQueue}\n +- workflow: .*, 1 task waiting, the oldest for`),
  )
  const watching = project.start('watch', id)
  await watching.said(unserved)

  const worker = await startWorker('workflow,tools,sandbox')
  expect(await following.ended).toMatchObject({ code: 0, stdout: '42\n' })
  expect(await watching.ended).toMatchObject({ code: 0, stdout: '42\n' })
  await kill(worker)
})

test('a run says that no worker takes its tool calls, after the worker for tools was killed', async () => {
  const engine = await startWorker('workflow,sandbox')
  const tools = await startWorker('tools')
  const following = project.start('exec', '-').input('await wait()')
  await tools.said(/waiting/)
  await kill(tools)
  await following.said(unservedBy('tools', `${taskQueue}\\.tools`))
  following.signal('SIGINT')
  expect((await following.ended).code).toBe(130)
  await kill(engine)
})
