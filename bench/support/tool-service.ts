import { once } from 'node:events'
import { createServer } from 'node:http'
import type { BenchContext } from './benchmark.js'

/**
 * Starts an HTTP server in the benchmark's process for requests of the tools of worker processes.
 *
 * @param reply gets the path of a request, without the first slash; its text is sent when its promise resolves
 * @returns the address, for `BENCH_URL`
 */
export async function startToolService(
  { defer }: BenchContext,
  reply: (path: string) => string | Promise<string>,
): Promise<string> {
  const server = createServer((request, response) => {
    void (async () => {
      response.end(await reply(request.url?.slice(1) ?? ''))
    })()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  defer(async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the tool service has no port')
  return `http://127.0.0.1:${address.port}`
}
