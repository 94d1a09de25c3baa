// `node test/run-tree/record-histories.mjs [name …]`: records the histories that src/client/history is tested with, by real
// runs: a Temporal dev server, a worker of the built package, Docker, and the scripted Messages API.
import { writeFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Connection } from '@temporalio/client'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import Docker from 'dockerode'
import { z } from 'zod'
import { defineConfig, defineTool, ToolError } from '../../dist/index.js'
import { startScriptedMessagesApi } from '../../dist/testing/index.js'
import { parseConfig } from '../../dist/worker/config/parse-config.js'
import { startDevServer, startWorker } from '../../dist/worker/index.js'

const wanted = process.argv.slice(2)
const tell = (line) => console.error(`› ${line}`)

const slow = new Set()

const tools = [
  defineTool({
    name: 'get_city',
    description: 'A city by its number.',
    input: z.object({ number: z.int() }),
    output: z.object({ name: z.string(), people: z.number() }),
    effect: 'read',
    summary: ({ number }) => `get_city ${number}`,
    retry: { attempts: 3 },
    async run({ number }, { attempt }) {
      if (number === 3 && attempt < 3) throw new Error('the map is being printed')
      if (number > 4) throw new ToolError(`there is no city ${number}`)
      return [
        { name: 'Zürich', people: 448_664 },
        { name: '東京', people: 14_178_218 },
        { name: 'Kraków', people: 807_644 },
        { name: 'Oslo', people: 717_710 },
      ][number - 1]
    },
  }),
  defineTool({
    name: 'read_book',
    description: 'All of a book.',
    input: z.object({ preface: z.string() }),
    output: z.string(),
    effect: 'read',
    run: ({ preface }) => preface + 'It was a dark and stormy night. '.repeat(400),
  }),
  defineTool({
    name: 'wait_for_mail',
    description: 'Waits until mail comes.',
    input: z.object({ box: z.string() }),
    output: z.string(),
    effect: 'once',
    async run({ box }, { signal }) {
      for (const told of slow) told(box)
      await delay(60_000, undefined, { signal })
      return 'mail'
    },
  }),
  defineTool({
    name: 'wait_a_moment',
    description: 'Waits for a short time.',
    input: z.object({}),
    output: z.string(),
    effect: 'read',
    async run(_, { signal }) {
      for (const told of slow) told('moment')
      await delay(4_000, undefined, { signal })
      return 'a moment later'
    },
  }),
]

const gather = `import asyncio
cities = await asyncio.gather(*(get_city(number=n) for n in (1, 2, 3, 4)))
print(sum(city["people"] for city in cities))
try:
    await get_city(number=5)
except Exception as error:
    print("caught:", error)`
const code = (text, source) => ({
  reply: {
    content: [
      { type: 'text', text },
      { type: 'tool_use', name: 'execute_code', input: { code: source } },
    ],
  },
})
const say = (text) => ({ reply: { content: [{ type: 'text', text }] } })
const script = {
  conversations: [
    {
      match: { firstUserText: 'people' },
      turns: [
        code('I will add them up.', gather),
        {
          reply: {
            content: [
              { type: 'tool_use', name: 'get_city', input: { number: 2 } },
              { type: 'tool_use', name: 'get_city', input: { number: 'two' } },
              { type: 'tool_use', name: 'execute_code', input: { code: 'print(cities[1]["name"])\nprint(citties)' } },
            ],
          },
        },
        say('16,152,236 people live there.\n\nThat is the sum: {{last_tool_result}}'),
      ],
    },
    {
      match: { firstUserText: 'long' },
      turns: [
        code('I count.', 'for n in range(16):\n    await get_city(number=n % 2 + 1)\nprint("counted")'),
        code(
          'Now the book.',
          `${'# word by word\n'.repeat(300)}text = await read_book(preface="Dear reader, " * 400)\nprint(text)`,
        ),
        say('It is long.'),
      ],
    },
    { match: { firstUserText: 'mail' }, turns: [code('I wait.', 'print(await wait_for_mail(box="A"))'), say('Done.')] },
    {
      match: { firstUserText: 'moment' },
      turns: [
        code('One moment.', 'a = await get_city(number=1)\nprint(a["name"])\nprint(await wait_a_moment())'),
        say('Done.'),
      ],
    },
    {
      match: { firstUserText: 'refused key' },
      turns: [{ ...say('never'), faults: [{ type: 'status', status: 401, attempt: 'every' }] }],
    },
  ],
}

const server = await startDevServer({ onProgress: tell, signal: AbortSignal.timeout(60_000) })
const api = await startScriptedMessagesApi({ script })
process.env.ANTHROPIC_BASE_URL = api.url
process.env.ANTHROPIC_API_KEY = 'scripted'
const config = parseConfig(
  defineConfig({ tools, sandbox: { backend: 'docker' }, timings: { heartbeat: '2s' }, taskQueue: 'record' }),
  'record',
)
const worker = await startWorker({ config, server, onProgress: tell })
const connection = await Connection.connect({ address: server.address })
const client = new Client({ connection, namespace: server.namespace })

async function start(name, type, input) {
  return client.workflow.start(type, { taskQueue: 'record', workflowId: `recorded-${name}`, args: [input] })
}

function toolCalled() {
  return new Promise((resolve) => {
    const told = () => {
      slow.delete(told)
      resolve()
    }
    slow.add(told)
  })
}

const docker = new Docker()
async function killContainer(workflowId) {
  const all = await docker.listContainers({ all: true })
  const ours = all.filter(({ Labels }) => Object.values(Labels).includes(workflowId))
  if (ours.length !== 1) throw new Error(`${ours.length} containers of ${workflowId}`)
  await docker.getContainer(ours[0].Id).remove({ force: true })
}

const recordings = {
  async answered() {
    const handle = await start('answered', 'agent', { question: 'How many people live in the first four cities?' })
    await handle.result()
    return handle
  },
  async program() {
    const handle = await start('program', 'program', { source: gather })
    await handle.result()
    return handle
  },
  async continued() {
    const limits = { historyEvents: 100 }
    const handle = await start('continued', 'agent', { question: 'How long is it?', limits })
    await handle.result()
    return client.workflow.getHandle('recorded-continued')
  },
  async failed() {
    const handle = await start('failed', 'agent', { question: 'What does a refused key do?' })
    await handle.result().catch((error) => tell(error.cause?.message))
    return handle
  },
  async cancelled() {
    const called = toolCalled()
    const handle = await start('cancelled', 'agent', { question: 'Is there mail?' })
    await called
    await handle.cancel()
    await handle.result().catch((error) => tell(error.message))
    return handle
  },
  async terminated() {
    const called = toolCalled()
    const handle = await start('terminated', 'program', { source: 'print(await wait_for_mail(box="B"))' })
    await called
    await handle.terminate('nobody waits')
    // A terminated workflow closes no session, and the worker that would reap it ends with this script.
    await killContainer('recorded-terminated')
    return handle
  },
  async rebuilt() {
    const called = toolCalled()
    const handle = await start('rebuilt', 'agent', { question: 'Give me a moment.' })
    await called
    await killContainer('recorded-rebuilt')
    await handle.result()
    return handle
  },
  async reset() {
    const handle = await start('reset', 'agent', { question: 'How many people live there, again?' })
    await handle.result()
    const { events } = await handle.fetchHistory()
    const id = events.findLast(
      ({ workflowTaskCompletedEventAttributes }) => workflowTaskCompletedEventAttributes,
    ).eventId
    const { runId } = await client.workflowService.resetWorkflowExecution({
      namespace: server.namespace,
      workflowExecution: { workflowId: 'recorded-reset', runId: handle.firstExecutionRunId },
      reason: 'again',
      requestId: 'reset',
      workflowTaskFinishEventId:
        events[Math.floor(events.length / 2)] && firstTaskAfter(events, Math.floor(events.length / 2), id),
    })
    const again = client.workflow.getHandle('recorded-reset', runId)
    await again.result()
    return again
  },
}

function firstTaskAfter(events, place, fallback) {
  return events.slice(place).find((event) => event.workflowTaskCompletedEventAttributes)?.eventId ?? fallback
}

/** Of all the histories it went on in, the first first. */
async function eventsOf(handle) {
  const { events } = await handle.fetchHistory()
  const before = events[0].workflowExecutionStartedEventAttributes.continuedExecutionRunId
  return before ? [...(await eventsOf(client.workflow.getHandle(handle.workflowId, before))), ...events] : events
}

try {
  for (const [name, record] of Object.entries(recordings)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    const handle = await record()
    const history = { events: await eventsOf(handle) }
    // Small and free of this machine: identities name hosts and processes.
    const json = historyToJSON(history)
      .replace(/"identity": "[^"]*"/g, '"identity": "worker"')
      .replace(/"\d+@[^"]*"/g, '"worker"')
    writeFileSync(new URL(`histories/${name}.json`, import.meta.url), `${JSON.stringify(JSON.parse(json))}\n`)
    tell(`${name}: ${history.events.length} events`)
  }
} finally {
  await connection.close()
  await worker.shutdown()
  await api.close()
  await server.close()
}
