import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { defineTool } from '../../../src/index.js'
import { resolveTemporal } from '../../../src/dev-server/resolve-temporal.js'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { type EnvironmentVariables, TestProject } from '../../support/cli/ptc.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { NetworkProxy } from '../../support/faults/network-proxy.js'
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

test('ptc approvals --watch prints each wait once, and asks a server again after an outage', async () => {
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ euros: z.number() }),
    output: z.string(),
    effect: 'once',
    approval: 'always',
    run: ({ euros }) => `paid ${euros}`,
  })
  const env = await TestEnvironment.start({ tools: [pay] })
  const { address, namespace } = sharedServer()
  const network = await NetworkProxy.start(address)
  onTestFinished(() => network.close())
  const environment = { TEMPORAL_ADDRESS: network.address, TEMPORAL_NAMESPACE: namespace }
  await using project = await TestProject.create({}, environment)
  await project.write('ptc.config.ts', `export default { tools: [], taskQueue: '${env.ptc.taskQueue}' }`)
  const { workflowId } = await env.startProgram('print(await pay(euros=1))\nprint(await pay(euros=2))')
  const watching = project.start('approvals', '--config', 'ptc.config.ts', '--watch')
  await watching.waitForOutput(/pay 1 waits for approval/, 'stdout')
  network.disconnect()
  await watching.waitForOutput(/trying again/)
  const [wait] = await env.ptc.waits()
  if (wait?.wait.type !== 'approval') throw new Error('the call does not wait')
  await env.ptc.approveCall(wait.wait.token)
  network.reconnect()
  await watching.waitForOutput(/pay 2 waits for approval/, 'stdout')
  watching.signal('SIGINT')
  const { stdout } = await watching.result
  expect(stdout.split(`ptc approve ${workflowId}`)).toHaveLength(3)
  await env.ptc.handle(workflowId).cancel()
})
