import type { Client } from '@temporalio/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connectClient, sharedServer, uniqueName } from '../../support/temporal/shared-server.js'
import { TestProject, type PtcProcess } from '../../support/cli/ptc.js'

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
  tools: [wait], sandbox: { backend: 'wasm' }, taskQueue: '${taskQueue}', [Symbol.for('durable-ptc.test-settings')]: { timeouts: { heartbeatMs: 1_000 } },
})
`

let project: TestProject
let client: Client

beforeAll(async () => {
  client = await connectClient()
  project = await TestProject.create({ 'ptc.config.ts': configuration }, { TEMPORAL_ADDRESS: sharedServer().address })
})

afterAll(async () => {
  await project[Symbol.asyncDispose]()
  await client.connection.close()
})

async function startWorker(roles: string): Promise<PtcProcess> {
  const worker = project.start('worker', '--roles', roles)
  await worker.waitForOutput(/worker ready/)
  return worker
}

async function kill(worker: PtcProcess): Promise<void> {
  worker.signal('SIGKILL')
  await worker.result
}

/** Matches the line that names the task queue, with any line breaks. */
function unservedBy(role: string, queue: string): RegExp {
  const line = `no worker takes tasks from ${queue}: waiting for .*, last poll .* ago; \`ptc worker --roles ${role}\``
  return new RegExp(line.replaceAll(' ', '\\s+'), 's')
}

/** Matches the error of a command that needs a worker. */
const workerMissingLine = expect.stringMatching(new RegExp(`^ptc: .*no worker .* ${taskQueue}.*last poll .* ago`, 'm'))

test('every command reports that no worker takes tasks, after the worker for workflows was killed', async () => {
  const [id, cancelled] = [uniqueName('lonely'), uniqueName('cancelled')]
  const others = await startWorker('tools,sandbox')
  const first = await startWorker('workflow')
  const begin = ['kept', 'shut'].map((name) => project.start('exec', '--session', name, '-').input('x = 41').result)
  expect(await Promise.all(begin)).toMatchObject([{ code: 0 }, { code: 0 }])
  await kill(first)

  // The server lists the killed worker for 70 seconds; after that a command reports that no worker is running.
  const unserved = unservedBy('workflow', taskQueue)
  const following = project.start('exec', '-', '--id', id).input('print(6 * 7)')
  const onKept = project.start('exec', '--session', 'kept', '-').input('print(x + 1)')
  const blocks = project.start('exec', '-i').input('print(6 * 7)\n')
  const closing = project.run('sessions', 'close', 'shut')
  const listing = project.run('sessions', 'list')
  await client.workflow.start('program', { taskQueue, workflowId: cancelled, args: [{ source: '1' }] })
  await Promise.all([following, onKept, blocks].map((ptc) => ptc.waitForOutput(unserved)))
  expect(await project.run('cancel', cancelled)).toMatchObject({ code: 0, stderr: expect.stringMatching(unserved) })

  expect(await closing).toMatchObject({ code: 3, stderr: workerMissingLine })
  expect(await listing).toMatchObject({ code: 3, stderr: workerMissingLine })

  expect((await project.run('show', id)).stdout).toMatch(unserved)
  const tree: unknown = JSON.parse((await project.run('show', id, '--json')).stdout)
  expect(tree).toMatchObject({ status: 'running', unserved: [{ taskQueue, role: 'workflow' }] })
  await expect.poll(async () => (await project.run('list')).stderr, { interval: 500 }).toMatch(unserved)
  const { stdout } = await project.run('doctor')
  expect(stdout).toMatch(
    new RegExp(`warn +Workers: task queue ${taskQueue}\n +- workflow: .*, \\d+ tasks? waiting, the oldest for`),
  )
  const watching = project.start('watch', id)
  await watching.waitForOutput(unserved)

  const worker = await startWorker('workflow')
  expect(await following.result).toMatchObject({ code: 0, stdout: '42\n' })
  expect(await watching.result).toMatchObject({ code: 0, stdout: '42\n' })
  expect(await onKept.result).toMatchObject({ code: 0, stdout: '42\n' })
  expect(await blocks.result).toMatchObject({ code: 0, stdout: '42\n' })
  await kill(worker)
  await kill(others)
})

test('interrupting and showing idle sessions reports that no worker takes tasks, after the worker was killed', async () => {
  const worker = await startWorker('workflow,tools,sandbox')
  const begin = ['stopped', 'idle'].map((name) => project.start('exec', '--session', name, '-').input('x = 1').result)
  expect(await Promise.all(begin)).toMatchObject([{ code: 0 }, { code: 0 }])
  await kill(worker)
  // Only the query waits for a worker.
  const showing = project.run('sessions', 'show', 'idle')
  const { code, stderr } = await project.run('sessions', 'interrupt', 'stopped')
  expect(stderr).toMatch(unservedBy('workflow', taskQueue))
  expect(stderr).toContain('session stopped is interrupted when a worker takes its tasks')
  expect(code).toBe(0)
  expect(await showing).toMatchObject({ code: 3, stderr: workerMissingLine })
})

test('a run reports that no worker takes its tool calls, after the worker for tools was killed', async () => {
  const engine = await startWorker('workflow,sandbox')
  const tools = await startWorker('tools')
  const following = project.start('exec', '-').input('await wait()')
  await tools.waitForOutput(/waiting/)
  await kill(tools)
  await following.waitForOutput(unservedBy('tools', taskQueue))
  following.signal('SIGINT')
  expect((await following.result).code).toBe(130)
  await kill(engine)
})
