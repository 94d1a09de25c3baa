import { createServer, type IncomingMessage } from 'node:http'
import { Client, Connection } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { PtcError } from 'durable-ptc'
import { createPtcClient } from 'durable-ptc/client'
import { z } from 'zod'
import { listen, readBody } from './http.js'
import { paymentsWebhook, startPayments } from './payments.js'
import { isSigned } from './signature.js'
import { taskQueue } from './task-queue.js'

/** The result itself is checked by the run, against the output schema of the tool. */
const decisionWebhook = z.object({ token: z.string(), result: z.json(), by: z.string() })

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await Connection.connect(connectionOptions)
const ptc = createPtcClient({ client: new Client({ connection, namespace }), taskQueue })

async function receive(request: IncomingMessage): Promise<number> {
  const body = await readBody(request)
  // Before anything of the body is read.
  if (!isSigned(body, request.headers['x-signature'])) return 401
  try {
    switch (request.url) {
      case '/payments':
        await startPayments(ptc, paymentsWebhook.parse(parseJson(body)))
        return 202
      case '/decisions': {
        const { token, result, by } = decisionWebhook.parse(parseJson(body))
        // A webhook that is delivered twice has the same result, and is no error.
        await ptc.completeCall(token, result, { by })
        return 204
      }
      default:
        return 404
    }
  } catch (error) {
    return error instanceof z.ZodError ? 400 : statusOf(error)
  }
}

/** A sender repeats a webhook after a 5xx, and gives up after a 4xx. */
function statusOf(error: unknown): number {
  switch (PtcError.isInstance(error) ? error.code : undefined) {
    case 'COMPLETION_TOKEN_INVALID':
    case 'TOOL_OUTPUT_INVALID':
    case 'TOOL_RESULT_TOO_LARGE':
      return 422
    case 'CALL_NOT_FOUND':
    case 'CALL_EXPIRED':
      return 410
    case 'CALL_COMPLETED':
      return 409
    default:
      console.error(error)
      return 503
  }
}

function parseJson(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString())
  } catch {
    return undefined
  }
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
console.log(`webhook on ${await listen(server, 8090)}`)
process.once('SIGTERM', () => {
  server.close(() => void connection.close())
})
