import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { containerName } from '../../../../src/sandbox/docker/container/sandbox-identity.js'
import type { DockerBackendOptions } from '../../../../src/sandbox/docker/index.js'
import { describeDocker } from '../../../support/docker/describe-docker.js'
import { DockerProxy } from '../../../support/docker/docker-proxy.js'
import {
  DockerEnvironment,
  docker,
  neverAborted,
  execRunner,
  openRunnerClient,
} from '../../../support/sandbox/docker-sandbox.js'

describeDocker('a connection to a sandbox', () => {
  const environment = new DockerEnvironment(execRunner)

  beforeAll(async () => {
    await environment.backend().ensureImage()
  })
  afterAll(() => environment.close())

  /** A sandbox whose backend reaches the daemon through a proxy. */
  async function openThroughProxy(options: DockerBackendOptions = {}) {
    const proxy = await DockerProxy.start()
    onTestFinished(() => proxy.close())
    vi.stubEnv('DOCKER_HOST', proxy.host)
    const backend = environment.backend(options)
    vi.unstubAllEnvs()
    const spec = environment.spec()
    return { proxy, spec, client: await openRunnerClient(backend, spec) }
  }

  test('a connection ends as disconnected when the daemon dies; a later attach finds the sandbox', async () => {
    const { proxy, spec, client } = await openThroughProxy()
    await client.evaluate('kept = 19; print(0)')
    await proxy.shutDown()
    expect(await client.connection.ended).toMatchObject({ reason: 'disconnected', exitCode: null })
    await expect(client.send('1')).rejects.toMatchObject({ code: 'SANDBOX_LOST' })
    expect(await environment.backend().attach(spec, neverAborted)).toBeDefined()
  })

  test('a connection ends as disconnected when the daemon dies while the output is not read', async () => {
    const { proxy, client } = await openThroughProxy()
    await client.send('stdout.write(b"x" * (8 << 20))')
    await expect.poll(() => client.connection.received).toHaveProperty('readableLength', expect.toSatisfy(isFull))
    await proxy.shutDown()
    expect(await client.connection.ended).toMatchObject({ reason: 'disconnected' })
  })

  test('a connection survives a broken wait request, and still reports the exit', async () => {
    const { proxy, spec, client } = await openThroughProxy()
    await expect.poll(() => proxy.dropConnections(/\/wait\?/)).toBe(1)
    expect(await client.evaluate('print("still here")')).toBe('still here')
    await docker.getContainer(containerName(spec)).kill()
    expect(await client.connection.ended).toMatchObject({ reason: 'exited', exitCode: 137 })
  })

  test('a connection ends as disconnected, not exited, when only the stream breaks', async () => {
    const { proxy, client } = await openThroughProxy()
    expect(proxy.dropConnections(/\/attach\?/)).toBe(1)
    expect(await client.connection.ended).toMatchObject({ reason: 'disconnected', exitCode: null })
  })

  test('kill rejects and the connection ends when the daemon hangs', async () => {
    // The timeout also applies to the open.
    const { proxy, client } = await openThroughProxy({ requestTimeoutMs: 5_000 })
    proxy.stopResponding()
    // Connections that dockerode reuses would still get a response.
    proxy.dropConnections(/^(?!.*(attach|wait)\?)/)
    await expect(client.connection.kill()).rejects.toMatchObject({ code: 'SANDBOX_BACKEND_DOWN' })
    expect(await client.connection.ended).toMatchObject({ reason: 'disconnected' })
  })

  test('detach sends no request to a daemon that hangs', async () => {
    const { proxy, client } = await openThroughProxy({ requestTimeoutMs: 600_000 })
    proxy.stopResponding()
    await client.connection.detach()
    await client.connection.detach()
    expect(await client.readChunk()).toBeUndefined()
  })
})

function isFull(bytes: number): boolean {
  return bytes >= 1 << 20
}
