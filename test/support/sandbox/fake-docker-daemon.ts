import { mkdtempSync, rmSync } from 'node:fs'
import type { Server, Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** Makes a server of a test listen at the address for a Docker client, and returns the value of DOCKER_HOST. */
export async function startFakeDaemon(server: Server): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'ptc-daemon-'))
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  const path = join(directory, 'docker.sock')
  await new Promise<void>((resolve) => server.listen(path, resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
    rmSync(directory, { recursive: true, force: true })
  })
  return `unix://${path}`
}
