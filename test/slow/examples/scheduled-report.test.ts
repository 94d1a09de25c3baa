import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { ExampleProject, expectStops, urlOf } from '../../support/example-process.js'

/** A network that loses the first delivery, and duplicates the second. */
async function startUnreliableNetwork(receiver: string) {
  const deliveries: { readonly id: unknown; readonly status: number }[] = []
  const transfer = async (request: IncomingMessage): Promise<number> => {
    const body = await text(request)
    const headers = new Headers()
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      headers.set(name, String(request.headers[name]))
    }
    const forward = async (sent: string): Promise<void> => {
      const { status } = await fetch(receiver, { method: 'POST', body: sent, headers })
      deliveries.push({ id: headers.get('webhook-id'), status })
    }
    if (deliveries.length === 0) {
      await forward(body.replace('31 orders', '99 orders'))
      return 503
    }
    await forward(body)
    await forward(body)
    return 204
  }
  const server = createServer((request, response) => {
    void transfer(request).then((status) => response.writeHead(status).end())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, deliveries }
}

test('the example of a scheduled report delivers one signed callback, in spite of lost, changed and repeated ones', async () => {
  const project = await ExampleProject.build('scheduled-report', { CALLBACK_SECRET: 'whsec_b2YgdGhlIHRlc3Q=' })
  const receiver = project.start('receiver.js')
  const lines = receiver.stdout
  if (!lines) throw new Error('no output')
  const network = await startUnreliableNetwork(await urlOf(receiver))
  const printed: string[] = []
  createInterface({ input: lines }).on('line', (line) => printed.push(line))
  const worker = project.start('worker.js', { env: { CALLBACK_URL: network.url } })

  expect(await project.run('schedule.js', 'create')).toBe('daily-report: create\n')
  onTestFinished(() => void project.run('schedule.js', 'delete').catch(() => undefined))
  // A second deployment changes the schedule.
  await project.run('schedule.js', 'create')
  await project.run('schedule.js', 'now')
  await expect.poll(() => network.deliveries, { timeout: 60_000 }).toHaveLength(3)

  const [{ id } = {}] = network.deliveries
  expect(id).toMatch(/^report-\d{4}-\d\d-\d\dT/)
  expect(network.deliveries).toEqual([
    { id, status: 401 },
    { id, status: 204 },
    { id, status: 204 },
  ])
  await expectStops(worker, receiver)
  const day = new Date().toISOString().slice(0, 10)
  const orders = [`berlin: 31 orders on ${day}`, `lyon: 28 orders on ${day}`, `porto: 15 orders on ${day}`]
  expect(printed).toEqual(['report ok', ...orders])
  expect(await project.run('schedule.js', 'delete')).toBe('daily-report: delete\n')
})
