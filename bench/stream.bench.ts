import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { fileStream } from 'durable-ptc'
import { createTestEnvironment, startScriptedMessagesApi } from '../dist/testing/index.js'
import { benchmark } from './support/benchmark.js'
import { interleaved, type ResultRow } from './support/measure.js'

const script = [
  { reply: { content: [{ type: 'text', text: 'The travel budget was exceeded by Ada and Grace.' }] }, msPerChunk: 20 },
] as const

// Measures when the first text of a model reaches a person: from the request to the first text, with only the official
// SDK and with the live stream of a run. The stream is in files.
await benchmark('stream', async ({ runs, calls, defer, progress }) => {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-bench-stream-'))
  defer(() => rm(folder, { recursive: true, force: true }))
  const env = await createTestEnvironment({
    script,
    config: { stream: fileStream({ folder }) },
    onProgress: progress,
  })
  defer(() => env.close())
  const direct = await startScriptedMessagesApi({ script })
  defer(() => direct.close())
  const anthropic = new Anthropic({ baseURL: direct.url, apiKey: 'scripted' })

  async function fromSdk(): Promise<number> {
    const number = direct.requests.length + 1
    const requested = direct.waitForRequest((request) => request.number === number).then(() => performance.now())
    const message = { role: 'user', content: 'Who exceeded the budget?' } as const
    const stream = anthropic.messages.stream({ model: 'scripted', max_tokens: 1_000, messages: [message] })
    const shown = new Promise<number>((resolve) => stream.once('text', () => resolve(performance.now())))
    const ms = (await shown) - (await requested)
    await stream.finalMessage()
    return ms
  }

  async function fromRun(): Promise<number> {
    const number = env.api.requests.length + 1
    const requested = env.api.waitForRequest((request) => request.number === number).then(() => performance.now())
    const run = await env.client.startAgent({ question: 'Who exceeded the budget?' })
    let shown: number | undefined
    for await (const event of run.stream()) if (event.type === 'text.delta') shown ??= performance.now()
    await run.result()
    return (shown ?? Number.NaN) - (await requested)
  }

  const repetitions = Math.max(runs, Math.ceil(calls / 5))
  progress(`${repetitions} replies, read by the SDK and from the live stream`)
  await interleaved(2, { fromSdk, fromRun })
  const samples = await interleaved(repetitions, { fromSdk, fromRun })
  const added = samples.fromRun.map((ms, index) => ms - (samples.fromSdk[index] ?? Number.NaN))
  const rows: ResultRow[] = [
    { name: 'request to first text, official SDK', unit: 'ms', samples: samples.fromSdk },
    { name: 'request to first text, live stream of a run', unit: 'ms', samples: samples.fromRun },
    { name: 'added by the live stream', unit: 'ms', samples: added },
  ]
  return rows
})
