/** Plays the service that is told how reports end. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import type { Completion } from './completion.js'
import { isSigned } from './signature.js'

const completion: z.ZodType<Completion> = z.object({
  id: z.string(),
  workflowId: z.string(),
  status: z.string(),
  output: z.string().optional(),
  error: z.string().optional(),
})

/** Completions that were handled. A service keeps them in its database, in the transaction that handles them. */
const handled = new Set<string>()

async function receive(request: IncomingMessage): Promise<number> {
  const body = await text(request)
  // Before anything of the body is read.
  if (!isSigned(body, request.headers)) return 401
  const { id, status, output = '', error = '' } = completion.parse(JSON.parse(body))
  // The answer to the first delivery was lost: it is accepted, and nothing is done twice.
  if (handled.has(id)) return 204
  handled.add(id)
  console.log(`report ${status}\n${output}${error}`.trim())
  return 204
}

const server = createServer((request, response) => {
  receive(request).then(
    (status) => response.writeHead(status).end(),
    (error: unknown) => {
      console.error(error)
      response.writeHead(500).end()
    },
  )
})
server.listen(Number(process.env['PORT'] ?? 8092), '127.0.0.1')
await once(server, 'listening')
console.log(`receiver on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
process.once('SIGTERM', () => void server.close())
