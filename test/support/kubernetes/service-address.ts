import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** The address of the API server for pods: the first of the addresses of services. The cluster has no kube-proxy. */
export const serviceAddress = '10.96.0.1'

/**
 * Gives this machine the address, and forwards its ports to ports of the loopback interface. The returned function
 * undoes both.
 *
 * @param ports each port of the address, and that of the loopback interface
 */
export async function forwardServicePorts(ports: Readonly<Record<number, number>>): Promise<() => Promise<void>> {
  await run('ip', ['address', 'replace', `${serviceAddress}/32`, 'dev', 'lo'])
  const servers: Server[] = []
  for (const [port, target] of Object.entries(ports)) {
    const server = createServer((client) => {
      const upstream = connect(target, '127.0.0.1')
      // A side that breaks its connection ends the other one, too.
      pipeline(client, upstream, client).catch(() => undefined)
    })
    servers.push(server.listen(Number(port), serviceAddress))
    await once(server, 'listening')
  }
  return async () => {
    for (const server of servers) server.close()
    await run('ip', ['address', 'delete', `${serviceAddress}/32`, 'dev', 'lo'])
  }
}
