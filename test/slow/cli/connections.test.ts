import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { resolveTemporal } from '../../../src/dev-server/resolve-temporal.js'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { type EnvironmentVariables, TestProject } from '../../support/cli/ptc.js'
import { unusedAddress } from '../../support/unused-address.js'

const config = { 'ptc.config.ts': 'export default { tools: [] }' }

/** Maximum milliseconds until the reason is known: the request has 5 s, and then the connection is examined. */
const maxFailureMs = 8_000

/** Expects the reason from a command, and in time. The start of a command may take long on a busy machine. */
async function expectFailure(environment: EnvironmentVariables, reason: RegExp): Promise<void> {
  const variables = { TEMPORAL_ADDRESS: sharedServer().address, ...environment }
  await using project = await TestProject.create(config, variables)
  const { code, stderr } = await project.run('list')
  expect(stderr).toMatch(reason)
  expect(code).toBe(3)
  const begunAt = performance.now()
  const resolving = resolveTemporal({ environment: variables, onProgress: () => undefined })
  await expect(resolving).rejects.toMatchObject({ code: 'TEMPORAL_UNREACHABLE' })
  expect(performance.now() - begunAt).toBeLessThan(maxFailureMs)
}

test.each([
  [{ TEMPORAL_ADDRESS: unusedAddress }, /nothing listens at this address \(connection refused\)/],
  [{ TEMPORAL_ADDRESS: 'nowhere.invalid:7233' }, /the host name nowhere\.invalid is not known/],
  [{ TEMPORAL_TLS: 'true' }, /the server does not speak TLS/],
  [{ TEMPORAL_NAMESPACE: 'nobodys' }, /has no namespace nobodys\n.*TEMPORAL_NAMESPACE/],
])('a failed connection reports the reason: %j', async (environment, reason) => {
  await expectFailure(environment, reason)
})

test('a connection to a web server reports the reason', async () => {
  const server = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1')
  try {
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    await expectFailure({ TEMPORAL_ADDRESS: `127.0.0.1:${port}` }, /the server at this address is not Temporal/)
  } finally {
    server.close()
    server.closeAllConnections()
  }
})
