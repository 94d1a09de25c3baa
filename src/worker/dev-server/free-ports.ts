import { createServer, type Server } from 'node:net'

const ip = '127.0.0.1'

/**
 * One free port of this machine for each wish: the wished one if it is free, else (or for 0) any. All are held until
 * every one is found, so they differ. Somebody else can still take one before it is used: be ready to try again.
 */
export async function freePorts(wishes: readonly number[]): Promise<readonly number[]> {
  const held: Server[] = []
  try {
    for (const wish of wishes) held.push((await listen(wish)) ?? (await listenAnywhere()))
    return held.map(portOf)
  } finally {
    await Promise.all(held.map((server) => new Promise((closed) => server.close(closed))))
  }
}

async function listenAnywhere(): Promise<Server> {
  const server = await listen(0)
  if (server === undefined) throw new Error(`no free port on ${ip}`)
  return server
}

function listen(port: number): Promise<Server | undefined> {
  return new Promise((settle) => {
    const server = createServer()
    server.once('error', () => settle(undefined))
    server.listen({ port, host: ip, exclusive: true }, () => settle(server))
  })
}

function portOf(server: Server): number {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a TCP server has a port')
  return address.port
}
