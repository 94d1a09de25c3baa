import Dockerode from 'dockerode'
import { beforeAll, expect, onTestFinished, vi } from 'vitest'
import { parseConfig } from '../../../src/config/parse-config.js'
import { startWorker } from '../../../src/worker/index.js'
import { sandboxOwner } from '../../../src/worker/resources/sandbox-owner.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { readHistory, activityResultTexts } from '../../support/environment/histories.js'
import { pollOptions } from '../../support/poll-options.js'
import { temporalTest as test, useOwnNamespace } from '../../support/temporal/shared-server.js'
import '../../support/environment/install-runtime.js'

// Other tests may have idle containers of the shared namespace.
beforeAll(useOwnNamespace)

describeDocker('a worker with a warm pool', () => {
  test('a worker with a warm pool runs a program in a pool container, and leaves no container behind', async ({
    server,
    client,
    nativeConnection,
    taskQueue,
    workflowId,
  }) => {
    const { address, namespace } = server
    const worker = await startWorker({
      config: parseConfig({ tools: [], sandbox: { backend: 'docker' }, taskQueue }, 'test'),
      server: { address, namespace, connectionOptions: { address } },
      warm: 1,
      onProgress: () => undefined,
    })
    onTestFinished(() => worker.shutdown())
    const owner = await sandboxOwner(nativeConnection, namespace)
    const filters = { label: ['ptc.pool', `ptc.namespace=${owner}`] }
    const containers = () => new Dockerode().listContainers({ all: true, filters })
    const [spare] = await vi.waitFor(async () => {
      const found = await containers()
      expect(found).toMatchObject([{ State: 'running' }])
      return found
    }, pollOptions)

    const handle = await client.workflow.start('program', {
      taskQueue,
      workflowId,
      args: [{ source: 'print(6 * 7)' }],
    })
    expect(await handle.result()).toMatchObject({ outcome: { status: 'ok', output: '42\n' } })
    const results = activityResultTexts(await readHistory(client, workflowId))
    expect(results.join('\n')).toContain(`docker container ${spare?.Id.slice(0, 12)}`)

    await worker.shutdown()
    expect(await containers()).toEqual([])
  })
})
