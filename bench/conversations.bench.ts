import { randomUUID } from 'node:crypto'
import { startScriptedMessagesApi } from '../dist/testing/index.js'
import { createPtcClient } from '../dist/client/index.js'
import { benchmark } from './support/benchmark.js'
import { startStack } from './support/stack.js'

const conversations = 500
const concurrency = 20

// Measures the memory of a worker whose conversations all wait for a message. Each had one message without code.
await benchmark('conversations', async (context) => {
  const { progress, defer } = context
  const reply = { content: [{ type: 'text', text: 'Hello.' }] } as const
  const api = await startScriptedMessagesApi({ script: [{ reply }] })
  defer(() => api.close())
  const { client, taskQueue } = await startStack(context, {
    roles: ['workflow', 'model', 'tools', 'sandbox'],
    modelApi: { baseURL: api.url, apiKey: 'scripted' },
  })
  const ptc = createPtcClient({ client, taskQueue })
  const open: { close(): Promise<unknown> }[] = []
  async function talk(count: number): Promise<void> {
    for (let left = count; left > 0; left -= concurrency) {
      const batch = Array.from({ length: Math.min(concurrency, left) }, async () => {
        const conversation = ptc.conversation(`bench-${randomUUID()}`)
        open.push(conversation)
        const { status } = await conversation.ask('Hello?')
        if (status !== 'answered') throw new Error(`a message ended with status ${status}`)
      })
      await Promise.all(batch)
    }
  }
  progress('warming up')
  await talk(concurrency)
  const before = residentMiB()
  progress(`${conversations} conversations`)
  await talk(conversations)
  const after = residentMiB()
  progress('closing them')
  while (open.length > 0) await Promise.all(open.splice(0, concurrency).map((each) => each.close()))
  return [
    { name: `memory of the worker after ${concurrency} conversations`, unit: 'MiB', samples: [before] },
    { name: `memory of the worker with ${conversations} idle conversations`, unit: 'MiB', samples: [after] },
    {
      name: 'memory of an idle conversation',
      unit: 'MiB',
      samples: [(after - before) / conversations],
    },
  ]
})

/** Resident memory of this process, which includes the worker, the scripted model and the client. */
function residentMiB(): number {
  return process.memoryUsage.rss() / 2 ** 20
}
