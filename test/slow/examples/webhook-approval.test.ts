import { createHmac, randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { ExampleProject, expectStops, outputOf, urlOf } from '../../support/example-process.js'
import { connectClient } from '../../support/temporal/shared-server.js'

const secret = 'of the test'

test('webhooks start a run once and complete its calls, and one with a wrong signature does nothing', async () => {
  const project = await ExampleProject.build('webhook-approval', { WEBHOOK_SECRET: secret })
  const webhook = project.start('webhook.js')
  const webhookUrl = await urlOf(webhook)
  const desk = project.start('desk.js', { env: { WEBHOOK_URL: webhookUrl } })
  const worker = project.start('worker.js', { env: { DESK_URL: await urlOf(desk) } })

  const send = async (path: string, body: string, signature: string) => {
    const options = { method: 'POST', body, headers: { 'x-signature': signature } }
    return (await fetch(new URL(path, webhookUrl), options)).status
  }
  const delivery = randomUUID()
  const forged = '0'.repeat(64)
  expect(await send('/payments', JSON.stringify({ delivery, invoices: { A: 1 } }), forged)).toBe(401)
  expect(await send('/decisions', '{"token":"x","result":{},"by":"eve"}', forged)).toBe(401)
  const signed = (body: string) => createHmac('sha256', secret).update(body).digest('hex')
  expect(await send('/payments', '{"delivery":"a b"}', signed('{"delivery":"a b"}'))).toBe(400)
  const noToken = '{"token":"x","result":{},"by":"ada"}'
  expect(await send('/decisions', noToken, signed(noToken))).toBe(422)

  // The sender sends its webhook twice.
  const start = () => outputOf(project.start('start.js', { args: [delivery], env: { WEBHOOK_URL: webhookUrl } }))
  const output = 'INV-7 is approved by ada\nINV-8 is rejected by ada\n'
  expect(await start()).toBe(output)
  expect(await start()).toBe(output)
  const client = await connectClient()
  onTestFinished(() => client.connection.close())
  const workflowId = `payments-${delivery}`
  const { count } = await client.workflow.count(`WorkflowId = '${workflowId}'`)
  expect(count).toBe(1)
  await expectStops(worker, webhook, desk)
})
