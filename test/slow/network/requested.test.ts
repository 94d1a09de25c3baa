import { fileURLToPath } from 'node:url'
import { Worker } from '@temporalio/worker'
import { expect, it } from 'vitest'
import { defineAgent } from '../../../src/index.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { clientOf, connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { executionHistories } from '../../support/environment/histories.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { TestSession } from '../../support/environment/test-session.js'
import { answerResult, code, turn } from '../../support/script.js'
import { temporalTest } from '../../support/temporal/shared-server.js'
import { body, startWebServer } from '../../support/web/web-server.js'
import type * as blocks from '../../integration/embedding/workflows/blocks.js'

/** Programs do not use the proxy for 127.0.0.1. */
const get = (port: number) => `
import urllib.request
try:
    print(urllib.request.urlopen('http://127.1:${port}/').read().decode())
except OSError as error:
    print(error)`

const invalid = expect.objectContaining({ code: 'RUN_INPUT_INVALID' })

describeDocker('a network that the client of a run chooses', () => {
  it('replaces that of the agent and the configuration, or removes it', async () => {
    const server = await startWebServer({ '/': body('reached') })
    const address = `127.0.0.1:${server.port}`
    const env = await TestEnvironment.start({
      backend: 'docker',
      network: { allow: [address] },
      agents: [defineAgent({ name: 'reader', instructions: 'Test.', network: { allow: ['example.com'] } })],
      script: [turn(code(get(server.port))), answerResult],
    })
    const output = async (network?: false | { readonly allow: readonly string[] }) => {
      const { outcome } = await env.runProgram(get(server.port), { ...(network !== undefined && { network }) })
      return outcome.status === 'ok' ? outcome.output.trim() : outcome.error
    }
    expect(await output()).toBe('reached')
    expect(await output(false)).toContain('Connection refused')
    expect(await output({ allow: ['example.com'] })).toContain(`${address} is not allowed`)
    await env.runAgent({ agent: 'reader', network: { allow: [address] } })
    expect(JSON.stringify(env.api.requests.at(-1)?.body)).toContain('reached')
    expect(JSON.stringify(env.api.requests[0]?.body)).toContain(`through the proxy in its environment: ${address}.`)
  })

  it('a client that sends its input to Temporal itself uses no credential in a way of its own', async () => {
    const env = await TestEnvironment.start({
      backend: 'docker',
      credentials: { api_key: () => 'secret-value' },
      network: { allow: [{ host: 'api.test', headers: { 'x-key': '${api_key}' } }] },
    })
    for (const network of [
      { allow: [{ host: 'other.test', headers: { 'x-key': '${api_key}' } }] },
      { allow: ['http://a.test'] },
      { allow: ['169.254.169.254'] },
      'all',
    ]) {
      const handle = await env.startProgram('1', { network: network as unknown as false })
      await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'RUN_INPUT_INVALID' } } })
    }
  })

  it('is that of the execution that starts a session; later ones may only name the same', async () => {
    const server = await startWebServer({ '/': body('reached') })
    const session = await TestSession.start({ backend: 'docker' })
    const network = { allow: [`127.0.0.1:${server.port}`] }
    expect(await session.execute(get(server.port), { network })).toMatchObject({ outcome: { output: 'reached\n' } })
    expect(await session.execute('print(1)')).toMatchObject({ outcome: { output: '1\n' } })
    expect(await session.execute('print(2)', { network: { ...network } })).toMatchObject({ outcome: { output: '2\n' } })
    for (const other of [false, { allow: ['example.com'] }] as const)
      await expect(session.execute('print(3)', { network: other })).rejects.toEqual(invalid)
    await expect(session.execute('print(3)', { network: { allow: ['a b'] } })).rejects.toEqual(invalid)
    const named = session.env.ptc.session(session.name, { network })
    expect(await named.execute(get(server.port))).toMatchObject({ outcome: { output: 'reached\n' } })
    await session.close()
  })

  temporalTest('is that of a session in a workflow of a user', async ({ taskQueue, workflowId }) => {
    const server = await startWebServer({ '/': body('reached') })
    const workflowsPath = fileURLToPath(new URL('../../integration/embedding/workflows/blocks.ts', import.meta.url))
    const plugin = await createPlugin({ sandbox: { backend: 'docker', warm: 0 } })
    const connection = await connect({ plugins: [plugin] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const client = clientOf(connection)
    const outcome = await worker.runUntil(
      client.workflow.execute<typeof blocks.withNetwork>('withNetwork', {
        taskQueue,
        workflowId,
        args: [get(server.port), `127.0.0.1:${server.port}`],
      }),
    )
    expect(outcome).toMatchObject({ status: 'ok', output: 'reached\n' })
    const [history = { events: [] }] = await executionHistories(client, { workflowId })
    await Worker.runReplayHistory({ plugins: [plugin], workflowsPath }, history, workflowId)
  })
})
