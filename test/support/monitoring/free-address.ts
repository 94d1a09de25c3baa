import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

/** An address for a process that can't choose a port itself and report it. */
export async function freeAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `127.0.0.1:${port}`
}
