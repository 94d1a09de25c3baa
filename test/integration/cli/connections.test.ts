import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, expect, test } from 'vitest'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { type EnvironmentVariables, TestProject } from '../../support/cli/ptc.js'
import { unusedAddress } from '../../support/unused-address.js'

const config = { 'ptc.config.ts': 'export default { tools: [] }' }

/** Maximum milliseconds until a command reports why the connection fails, without the start of the command. */
const maxFailureMs = 8_000
let startMs = 0

/** Returns milliseconds. */
async function timeToFail(environment: EnvironmentVariables, reason: RegExp): Promise<number> {
  await using project = await TestProject.create(config, { TEMPORAL_ADDRESS: sharedServer().address, ...environment })
  const begunAt = performance.now()
  const { code, stderr } = await project.run('list')
  expect(stderr).toMatch(reason)
  expect(code).toBe(3)
  return performance.now() - begunAt
}

beforeAll(async () => {
  startMs = await timeToFail({ TEMPORAL_NAMESPACE: 'nobodys' }, /has no namespace nobodys\n.*TEMPORAL_NAMESPACE/)
})

test.each([
  [{ TEMPORAL_ADDRESS: unusedAddress }, /nothing listens there \(connection refused\)/],
  [{ TEMPORAL_ADDRESS: 'nowhere.invalid:7233' }, /the host name nowhere\.invalid is not known/],
  [{ TEMPORAL_TLS: 'true' }, /it does not speak TLS/],
  [{ TEMPORAL_NAMESPACE: 'nobodys' }, /has no namespace nobodys\n.*TEMPORAL_NAMESPACE/],
])('a failed connection reports the reason: %j', async (environment, reason) => {
  expect((await timeToFail(environment, reason)) - startMs).toBeLessThan(maxFailureMs)
})

test('a connection to a web server reports the reason', async () => {
  const server = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const ms = await timeToFail({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` }, /what listens there is not Temporal/)
    expect(ms - startMs).toBeLessThan(maxFailureMs)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
