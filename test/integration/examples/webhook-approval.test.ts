import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { buildExample } from '../../support/build-example.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

const run = promisify(execFile)

function start(project: string, name: string, env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, [join('dist', name)], {
    cwd: project,
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** The URL that a server prints when it listens. */
async function urlOf({ stdout }: ChildProcess): Promise<string> {
  if (!stdout) throw new Error('no output')
  const [line] = (await once(createInterface({ input: stdout }), 'line')) as [string]
  return line.slice(line.indexOf('http'))
}

test('the example of a webhook completes the calls of a program, and refuses a webhook with a wrong signature', async () => {
  const project = await buildExample('webhook-approval')
  const { address, namespace } = sharedServer()
  const env = {
    ...process.env,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    WEBHOOK_SECRET: 'of the test',
  }
  const webhook = start(project, 'webhook.js', env)
  const webhookUrl = await urlOf(webhook)
  const desk = start(project, 'desk.js', { ...env, WEBHOOK_URL: webhookUrl })
  const worker = start(project, 'worker.js', { ...env, DESK_URL: await urlOf(desk) })

  const body = '{"token":"x","result":{}}'
  const forged = await fetch(webhookUrl, { method: 'POST', body, headers: { 'x-signature': '0'.repeat(64) } })
  expect(forged.status).toBe(401)

  const { stdout } = await run(process.execPath, ['dist/start.js'], { cwd: project, env })
  expect(stdout).toBe('INV-7 is approved by ada\nINV-8 is rejected by ada\n')

  for (const child of [worker, webhook, desk]) {
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  }
})
