import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import { type ProcessResult, TestProject } from '../../support/cli/ptc.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { text, turn } from '../../support/script.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'

let env: TestEnvironment
let project: TestProject
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  env = await TestEnvironment.start({
    backend: 'wasm',
    script: [turn(text('42'))],
    onCleanup: (cleanup) => (end = cleanup),
  })
  const { address, namespace } = sharedServer()
  project = await TestProject.create(
    { 'ptc.config.mjs': `export default { tools: [], taskQueue: '${env.taskQueue}' }` },
    { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace },
  )
})

afterAll(async () => {
  await project[Symbol.asyncDispose]()
  await end?.()
})

const hint = (id: string) => `\`ptc show ${id}\` shows it. Choose another id, or none, to start another run.`

const refused = (id: string, status: string): ProcessResult => ({
  code: 1,
  stdout: '',
  stderr: `ptc: there is already a run ${id} (${status})\n${hint(id)}\n`,
})

const exec = (id: string, source = 'print(7)') => project.start('exec', '-', '--id', id).input(source).result

describe('the id of a run', () => {
  it('the id of a completed run is refused: the model is not called again', async () => {
    const id = uniqueName('completed')
    const ask = (...options: readonly string[]) => project.run('run', 'How much?', '--id', id, ...options)
    expect(await ask()).toMatchObject({ code: 0, stdout: '42\n' })
    const requests = env.api.requests.length
    const { runId } = await env.ptc.handle(id).describe()

    expect(await ask()).toEqual(refused(id, 'completed'))
    expect(await ask('--detach')).toEqual(refused(id, 'completed'))
    expect(await exec(id)).toEqual(refused(id, 'completed'))
    const { code, stdout } = await ask('--json')
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', error: { code: 'RUN_EXISTS' } })
    expect(code).toBe(1)
    expect(env.api.requests).toHaveLength(requests)
    expect(await env.ptc.handle(id).describe()).toMatchObject({ runId, status: 'completed' })
  })

  it('the id of a running run, and of one that ended with a code error, is refused', async () => {
    const [wrong, open] = [uniqueName('wrong'), uniqueName('open')]
    expect(await exec(wrong, '1 / 0')).toMatchObject({ code: 1 })
    expect(await exec(wrong)).toEqual(refused(wrong, 'code error'))
    await start(open)
    expect(await exec(open)).toEqual(refused(open, 'running'))
  })

  it.each([
    ['failed', { tools: ['no_such_tool'] }, {}, () => Promise.resolve()],
    ['cancelled', {}, {}, (run: WorkflowHandle) => run.cancel()],
    ['terminated', {}, {}, (run: WorkflowHandle) => run.terminate()],
    ['timed_out', {}, { workflowExecutionTimeout: '1s' }, () => Promise.resolve()],
  ] as const)('the id of a run that has %s starts a new run', async (status, input, options, stop) => {
    const id = uniqueName(status)
    const run = await start(id, input, options)
    await stop(run)
    await expect(run.result()).rejects.toThrow()
    expect(await env.ptc.handle(id).describe()).toMatchObject({ status })
    expect(await exec(id)).toMatchObject({ code: 0, stdout: '7\n' })
    expect(await exec(id)).toEqual(refused(id, 'completed'))
  })
})

/** A program that runs until it is stopped. */
function start(workflowId: string, input: object = {}, options: object = {}): Promise<WorkflowHandle> {
  return env.startProgram('import asyncio\nawait asyncio.sleep(3600)', input, { workflowId, ...options })
}
