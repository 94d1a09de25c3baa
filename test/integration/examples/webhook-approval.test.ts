import { expect, test } from 'vitest'
import { ExampleProject, expectStops, urlOf } from '../../support/example-process.js'

test('the example of a webhook completes the calls of a program, and refuses a webhook with a wrong signature', async () => {
  const project = await ExampleProject.build('webhook-approval', { WEBHOOK_SECRET: 'of the test' })
  const webhook = project.start('webhook.js')
  const webhookUrl = await urlOf(webhook)
  const desk = project.start('desk.js', { env: { WEBHOOK_URL: webhookUrl } })
  const worker = project.start('worker.js', { env: { DESK_URL: await urlOf(desk) } })

  const body = '{"token":"x","result":{}}'
  const forged = await fetch(webhookUrl, { method: 'POST', body, headers: { 'x-signature': '0'.repeat(64) } })
  expect(forged.status).toBe(401)

  expect(await project.run('start.js')).toBe('INV-7 is approved by ada\nINV-8 is rejected by ada\n')
  await expectStops(worker, webhook, desk)
})
