import { beforeEach, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, file } from '../../../src/index.js'
import { LocalStore } from '../../../src/values/local/local-store.js'
import { TestProject } from '../../support/cli/ptc.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { WorkerClock } from '../../support/faults/worker-clock.js'
import { sharedServer, useOwnNamespace } from '../../support/temporal/shared-server.js'
import { listAll, readAll } from '../../support/values/conformance.js'

// Erasing reads the histories of all runs of a namespace.
beforeEach(useOwnNamespace)

const leave =
  'import os\nos.makedirs("/tmp/out", exist_ok=True)\nopen("/tmp/out/b.txt", "w").write("artifact of the run")'

describeDocker('erasing a run with files', () => {
  it('ptc values erase removes the files of a run, and keeps those of another run', async () => {
    const exported = defineTool({
      name: 'exported',
      description: 'Returns a file.',
      input: z.object({}),
      output: file(),
      effect: 'read',
      run: () => ({ name: 'c.txt', data: 'secret of a tool' }),
    })
    const env = await TestEnvironment.start({ backend: 'docker', tools: [exported] })
    const clock = new WorkerClock()
    const { address, namespace } = sharedServer()
    const store = { kind: 'local', directory: env.valuesDirectory }
    await using project = await TestProject.create(
      {
        'ptc.config.mjs': `export default ${JSON.stringify({ tools: [], taskQueue: env.taskQueue, values: { store } })}`,
      },
      { TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ...clock.environment },
    )
    const own = await env.ptc.startProgram({
      source: `${leave}\nawait exported()`,
      files: [
        { data: 'secret of the run', path: 'own.txt' },
        { data: 'text of both runs', path: 'shared.txt' },
      ],
    })
    await own.files.upload([{ data: 'late secret of the run', path: 'late.txt' }])
    const other = await env.ptc.startProgram({ source: leave, files: [{ data: 'text of both runs', path: 'x.txt' }] })
    await Promise.all([own.result(), other.result()])
    const contents = async () => {
      const values = new LocalStore(env.valuesDirectory)
      const read = await Promise.all((await listAll(values)).map((value) => readAll(values, value)))
      return read.map((value) => Buffer.from(JSON.parse(value.toString()) as string, 'base64').toString())
    }
    const texts = [
      'secret of the run',
      'secret of a tool',
      'late secret of the run',
      'text of both runs',
      'artifact of the run',
    ]
    expect(await contents()).toEqual(expect.arrayContaining(texts))
    for (const { workflowId } of [own, other])
      await expect.poll(async () => (await env.client.workflow.count(`WorkflowId = '${workflowId}'`)).count).toBe(1)

    const list = await project.run('files', 'list', own.workflowId)
    const [path = ''] = /\/tmp\/in\/tools\/[0-9a-f]{16}\/c\.txt/.exec(list.stdout) ?? []
    expect(await project.run('files', 'get', own.workflowId, path, '-')).toMatchObject({ stdout: 'secret of a tool' })
    expect((await project.run('show', own.workflowId)).stdout).toContain(`→ ${path}  text/plain · 16 B`)

    clock.setOffset(61_000)
    expect(await project.run('values', 'erase', own.workflowId)).toMatchObject({ code: 0 })
    const left = await contents()
    expect(left).toEqual(expect.arrayContaining(['text of both runs', 'artifact of the run']))
    expect(left).not.toContain('secret of the run')
    expect(left).not.toContain('secret of a tool')
    expect(left).not.toContain('late secret of the run')
    expect(await project.run('files', 'get', other.workflowId, 'b.txt', '-')).toMatchObject({
      code: 0,
      stdout: 'artifact of the run',
    })
  })
})
