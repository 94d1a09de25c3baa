/** Plays the product in which people approve payments: approves what is under 1,000 EUR. */
import { createServer, type IncomingMessage } from 'node:http'
import { z } from 'zod'
import { listen, readBody } from './http.js'
import { sign } from './signature.js'

const webhookUrl = process.env['WEBHOOK_URL'] ?? 'http://127.0.0.1:8090'
const ticket = z.object({ key: z.string(), token: z.string(), invoice: z.string(), euros: z.number() })
const seen = new Set<string>()

async function decide({ token, invoice, euros }: z.infer<typeof ticket>): Promise<void> {
  const by = 'ada'
  const body = Buffer.from(JSON.stringify({ token, result: { approved: euros < 1_000, by }, by }))
  const response = await fetch(new URL('/decisions', webhookUrl), {
    method: 'POST',
    body,
    headers: { 'x-signature': sign(body) },
  })
  console.log(`decided on ${invoice}: the webhook answered with status ${response.status}`)
}

async function receive(request: IncomingMessage): Promise<void> {
  const asked = ticket.parse(JSON.parse((await readBody(request)).toString()))
  if (seen.has(asked.key)) return
  seen.add(asked.key)
  setImmediate(() => void decide(asked).catch(console.error))
}

const server = createServer((request, response) => {
  receive(request).then(
    () => response.writeHead(202).end(),
    () => response.writeHead(400).end(),
  )
})
console.log(`desk on ${await listen(server, 8091)}`)
process.once('SIGTERM', () => void server.close())
