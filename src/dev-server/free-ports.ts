import { type AddressInfo, createServer, type Server } from 'node:net'

const ip = '127.0.0.1'

/**
 * Finds a free port for each preferred one: the preferred port if it is free, else (or for 0) any. The ports differ.
 * Another process can take one before it is used, so callers must be ready to retry.
 */
export async function freePorts(preferred: readonly number[]): Promise<readonly number[]> {
  const servers: Server[] = []
  try {
    for (const port of preferred) {
      const server = (await listen(port)) ?? (await listen(0))
      if (server === undefined) throw new Error(`no free port on ${ip}`)
      servers.push(server)
    }
    return servers.map((server) => (server.address() as AddressInfo).port)
  } finally {
    await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))))
  }
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((settle) => {
    const server = createServer()
    server.once('error', () => settle(undefined))
    server.listen({ port, host: ip, exclusive: true }, () => settle(server))
  })
}
