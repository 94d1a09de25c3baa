import { describe, expect, it } from 'vitest'
import { startWorker } from '../../../../src/worker/index.js'
import { parseConfig } from '../../../../src/config/parse-config.js'
import { workflowBundle } from '../../../../src/worker/plugin/workflow-bundle.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { answerResult, code, turn } from '../../../support/script.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { sharedServer, uniqueName } from '../../../support/temporal/shared-server.js'
import { unusedAddress } from '../../../support/unused-address.js'

function startWorkerWith(sandbox: object, address = sharedServer().address) {
  const config = parseConfig({ tools: [], sandbox, taskQueue: uniqueName('starting') }, 'test')
  const { namespace } = sharedServer()
  return startWorker({
    config,
    server: { address, namespace, connectionOptions: { address } },
    onProgress: () => undefined,
  })
}

describe("a worker that can't start", () => {
  it("a worker that can't start reports the reason and the remedy when Temporal does not answer", async () => {
    await expect(startWorkerWith({ backend: 'wasm' }, unusedAddress)).rejects.toMatchObject({
      code: 'TEMPORAL_UNREACHABLE',
      message: expect.stringContaining(`Temporal at ${unusedAddress} does not answer`),
      hint: 'Start it, or correct TEMPORAL_ADDRESS.',
    })
  })

  it("a worker that can't start reports the reason and the remedy when the workflow bundle was not built", () => {
    expect(() => workflowBundle('plain', '/nowhere/workflow-bundle.js')).toThrowError(
      expect.objectContaining({ message: 'the workflow bundle /nowhere/workflow-bundle.js is missing' }),
    )
  })
})

describeDocker('a worker with Docker', () => {
  it('a worker with Docker reports a missing image at its start', async () => {
    await expect(startWorkerWith({ backend: 'docker', image: 'durable-ptc-no-such-image:1' })).rejects.toMatchObject({
      code: 'SANDBOX_IMAGE_MISSING',
      message: expect.stringContaining('durable-ptc-no-such-image:1'),
      hint: expect.any(String),
    })
  })
})

it('a worker with the embedded sandbox executes the same run as one with Docker', async () => {
  const env = await TestEnvironment.start({
    backend: 'wasm',
    script: [turn(code('x = 20')), turn(code('print(x + 22)')), answerResult],
  })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: '42', cells: 2 })
})
