import { expect, it, onTestFinished, vi } from 'vitest'
import { checkTools } from '../../../src/cli/doctor/check-tools.js'
import { parseConfig } from '../../../src/config/parse-config.js'
import { defineAgent, type Tool } from '../../../src/index.js'
import { fileStream } from '../../../src/stream/index.js'
import { noLog } from '../../../src/tools/sources/tool-source.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { ChangingServer } from '../../support/mcp/changing-server.js'
import { temporaryFolder } from '../../support/folders.js'
import { callMcpTool, listMcpTools } from '../../support/mcp/mcp-tools.js'
import { pollOptions } from '../../support/poll-options.js'
import { answerResult, code, text, turn } from '../../support/script.js'
import { readEvents } from '../../support/stream/shown-text.js'
import { Deferred, tool } from '../../support/tools.js'

async function open(server: ChangingServer, options: Readonly<Record<string, unknown>> = {}, callsTools = true) {
  const warnings: string[] = []
  const lists: string[][] = []
  let latest: readonly Tool[] = []
  const { tools, close } = await listMcpTools(
    'srv',
    { ...server.options, ...options },
    {
      log: { ...noLog, warn: (line: string) => void warnings.push(line) },
      callsTools,
      namedTools: ['srv__write', 'other__tool'],
      onChanged: (changed) => {
        latest = changed
        lists.push(changed.map(({ name }) => name))
      },
    },
  )
  onTestFinished(close)
  return { tools, warnings, lists, latest: () => latest }
}

const isRunning = (line: string | undefined): boolean => {
  try {
    return process.kill(Number(line?.split(' ')[1]), 0)
  } catch {
    return false
  }
}

it('a changed list of an MCP server is read once for many reports, and a failed reading keeps the last list', async () => {
  const server = await ChangingServer.create([{ name: 'write' }])
  const { lists, warnings } = await open(server)
  const before = server.lines('list').length
  await server.change({ tools: [{ name: 'write' }, { name: 'fresh' }] })
  await expect.poll(() => lists, pollOptions).toEqual([['srv__fresh', 'srv__write']])
  // A burst may begin before and end after a reading.
  expect(server.lines('list').length - before).toBeLessThanOrEqual(2)
  await server.change({ tools: [], error: 'the disk is full' })
  await expect.poll(() => warnings, pollOptions).toEqual([expect.stringContaining('the disk is full')])
  expect(lists).toHaveLength(1)
  await server.change({ tools: [{ name: 'later' }] })
  await expect.poll(() => lists, pollOptions).toEqual([['srv__fresh', 'srv__write'], ['srv__later']])
})

it('a call is refused when the server was restarted with another definition, also before its list is read', async () => {
  const server = await ChangingServer.create([{ name: 'write', description: 'Old.' }, { name: 'same' }])
  const { tools, lists } = await open(server)
  expect(await callMcpTool(tools, 'srv__write', {})).toBe('called write')
  process.kill(Number(server.lines('started').at(-1)?.split(' ')[1]), 'SIGKILL')
  await server.change({ tools: [{ name: 'write', description: 'New.' }, { name: 'same' }] })
  await vi.waitFor(
    () =>
      expect(callMcpTool(tools, 'srv__write', {})).rejects.toMatchObject({
        name: 'ToolError',
        message: expect.stringContaining('write was changed or removed by its server'),
      }),
    { timeout: 30_000, interval: 200 },
  )
  expect(await callMcpTool(tools, 'srv__same', {})).toBe('called same')
  expect(server.lines('call')).toEqual(['call write', 'call same'])
  expect(lists).toEqual([['srv__same', 'srv__write']])
})

it('a worker starts without an MCP server that is not required, and has its tools when it is available', async () => {
  const server = await ChangingServer.create()
  const { tools, warnings, lists, latest } = await open(server, { required: false })
  expect(tools.map(({ name }) => name)).toEqual(['srv__unavailable', 'srv__write'])
  expect(warnings).toContainEqual(
    expect.stringMatching(/^MCP server srv is not required, and not available: runs start without its tools: /),
  )
  await expect(callMcpTool(tools, 'srv__write', { id: '1' })).rejects.toMatchObject({
    name: 'ToolError',
    message: expect.stringContaining('MCP server srv was not available when this run began'),
  })
  await server.change({ tools: [{ name: 'write' }] })
  await expect.poll(() => lists, { ...pollOptions, timeout: 60_000 }).toEqual([['srv__write']])
  expect(await callMcpTool(latest(), 'srv__write', {})).toBe('called write')
})

it('a run learns that an MCP server is missing, also one of an agent that names a tool of it', async () => {
  const server = await ChangingServer.create()
  const clerk = defineAgent({ name: 'clerk', instructions: 'Write.', tools: ['srv__write'] })
  const env = await TestEnvironment.start({
    agents: [clerk],
    mcp: { srv: { ...server.options, required: false } },
    script: [turn(code('try: await srv__write()\nexcept ToolError as error: print(error)')), answerResult],
  })
  await env.runAgent({ agent: 'clerk' })
  expect(JSON.stringify(env.api.requests[0]?.body)).toContain('MCP server srv did not answer when this run began')
  expect(JSON.stringify(env.lastUserContent())).toContain('MCP server srv was not available when this run began')
  const { outcome } = await env.runProgram('try: await srv__unavailable()\nexcept ToolError as error: print(error)')
  expect(outcome).toMatchObject({ output: expect.stringContaining('MCP server srv was not available') })
})

it('`ptc doctor` warns of an MCP server that is not required and not available', async () => {
  const { options } = await ChangingServer.create()
  const { tools } = parseConfig({ tools: [], mcp: { srv: { ...options, required: false } } }, 'test')
  expect(await checkTools({ tools })).toContainEqual(
    expect.objectContaining({ status: 'warning', message: expect.stringContaining('MCP server srv is not required') }),
  )
})

it('an MCP server that is required, which is the default, fails the start of a worker', async () => {
  await expect(open(await ChangingServer.create())).rejects.toMatchObject({ code: 'TOOL_SOURCE_FAILED' })
})

it('odd schemas of an MCP server leave out at most their own tool, and the log names it', async () => {
  const server = await ChangingServer.create([
    { name: 'one_of', inputSchema: { oneOf: [{ type: 'object', properties: { a: { type: 'string' } } }] } },
    { name: 'untyped_output', outputSchema: { properties: { a: { type: 'string' } } } },
    { name: 'dangling', inputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/Missing' } } } },
    { name: 'only_reference', inputSchema: { $ref: '#/$defs/Input', $defs: { Input: { type: 'object' } } } },
    { name: 'bad_output', outputSchema: 'a text' },
    { name: 'write' },
  ])
  const { tools, warnings } = await open(server)
  const names = tools.map(({ name }) => name)
  expect(names).toContain('srv__write')
  const left = ['one_of', 'untyped_output', 'dangling', 'only_reference', 'bad_output'].filter(
    (name) => !names.includes(`srv__${name}`),
  )
  expect(warnings.map((line) => /left out (\w+)/.exec(line)?.[1])).toEqual(left)
  expect(left).toEqual(['dangling'])
})

it('tools for requests have a digest in their names when the server has tools of these names', async () => {
  const server = await ChangingServer.create([{ name: 'read_resource' }], { resources: {}, prompts: {} })
  const { tools } = await open(server)
  expect(tools.map(({ name }) => name)).toEqual([
    'srv__get_prompt',
    'srv__list_prompts',
    'srv__list_resources',
    'srv__read_resource',
    expect.stringMatching(/^srv__read_resource_[0-9a-f]{8}$/),
  ])
  expect(await callMcpTool(tools, 'srv__read_resource', {})).toBe('called read_resource')
})

it('only the tools for requests that `allow` names are tools of runs', async () => {
  const server = await ChangingServer.create([{ name: 'write' }], { resources: {} })
  const { tools } = await open(server, { allow: ['write', 'read_resource'] })
  expect(tools.map(({ name }) => name)).toEqual(['srv__read_resource', 'srv__write'])
})

it('the process of an MCP server lives only in a worker that makes calls of tools', async () => {
  const server = await ChangingServer.create([{ name: 'write' }])
  const { tools } = await open(server, {}, false)
  expect(tools.map(({ name }) => name)).toEqual(['srv__write'])
  await expect.poll(() => isRunning(server.lines('started').at(-1))).toBe(false)
})

it('a run keeps its tools when the list changes: a changed one is refused, and new runs have the new list', async () => {
  const opened = new Deferred()
  const called = new Deferred()
  const gate = tool('gate', async () => {
    called.resolve()
    await opened.promise
    return null
  })
  const server = await ChangingServer.create([
    { name: 'write', description: 'Old.' },
    { name: 'same' },
    { name: 'gone' },
  ])
  const env = await TestEnvironment.start({ tools: [gate], mcp: { srv: server.options } })
  const handle = await env.startProgram(`
print(await srv__write())
await gate()
for function in (srv__write, srv__same, srv__gone):
    try: print(await function())
    except ToolError as error: print(type(error).__name__, error)
print("srv__fresh" in globals())`)
  await called.promise
  await server.change({ tools: [{ name: 'write', description: 'New.' }, { name: 'same' }, { name: 'fresh' }] })
  await vi.waitFor(
    async () => {
      const { outcome } = await env.runProgram('print(await srv__fresh(), await srv__write())')
      expect(outcome).toMatchObject({ status: 'ok', output: 'called fresh called write\n' })
    },
    { timeout: 120_000, interval: 500 },
  )
  opened.resolve()
  const { outcome } = (await handle.result()) as { readonly outcome: { readonly output: string } }
  const [first, changed, same, gone, knowsFresh] = outcome.output.split('\n')
  expect([first, same, knowsFresh]).toEqual(['called write', 'called same', 'False'])
  expect(changed).toContain('srv__write was changed after this run began. Start a new run')
  expect(gone).toContain('there is no tool gone')
  expect(server.lines('call write')).toHaveLength(2)
  await env.expectCleanEnd(handle)
})

it('a run whose MCP tool changed while no worker ran is refused the call, and learns why', async () => {
  const server = await ChangingServer.create([{ name: 'write', description: 'Old.' }])
  const called = new Deferred()
  const opened = new Deferred()
  const gate = tool('gate', async (_input, { signal }) => {
    called.resolve()
    await Promise.race([opened.promise, new Promise((_resolve, reject) => signal.addEventListener('abort', reject))])
    return null
  })
  const env = await TestEnvironment.start({ tools: [gate], mcp: { srv: server.options } })
  const handle = await env.startProgram(`
await gate()
try: print(await srv__write())
except ToolError as error: print(error)`)
  await called.promise
  await env.workers.stop()
  await server.change({ tools: [{ name: 'write', description: 'New.' }] })
  opened.resolve()
  await env.workers.start()
  expect(await handle.result()).toMatchObject({
    outcome: { status: 'ok', output: expect.stringContaining('srv__write was changed after this run began.') },
  })
  expect(server.lines('call')).toEqual([])
  await env.expectCleanEnd(handle)
})

it('what an MCP server logs and reports during a call is in the live stream of its run', async () => {
  const server = await ChangingServer.create([{ name: 'write' }])
  const stream = fileStream({ folder: await temporaryFolder() })
  const env = await TestEnvironment.start({ stream, mcp: { srv: server.options } })
  const handle = await env.startProgram('await srv__write()')
  await handle.result()
  const events = await readEvents(env.ptc.handle(handle.workflowId).stream())
  expect(events.filter(({ type }) => type === 'milestone.reached')).toEqual([
    expect.objectContaining({ tool: 'srv__write', text: 'working on write' }),
  ])
})

it('200 tools of an MCP server cost less than 5,000 tokens a turn', async () => {
  const [first, second] = ['customer', 'order'].map((subject) =>
    Array.from({ length: 100 }, (_, index) => ({
      name: `${index % 2 === 0 ? 'list' : 'update'}_${subject}_records_${index}`,
      description: `Works with the ${subject} records of department ${index}. Fails without the permission for it.`,
      inputSchema: {
        type: 'object',
        properties: {
          department: { type: 'string', description: 'Who is responsible.' },
          limit: { type: 'integer', description: 'How many records.' },
          filter: { type: 'object', properties: { since: { type: 'string' }, until: { type: 'string' } } },
        },
        required: ['department'],
      },
    })),
  )
  const server = await ChangingServer.create([...(first ?? []), ...(second ?? [])])
  const env = await TestEnvironment.start({ mcp: { srv: server.options }, script: [turn(text('done'))] })
  await env.runAgent()
  const body = JSON.stringify(env.api.requests[0]?.body)
  expect(body).toContain('srv__list_customer_records_98')
  // A token has at least three bytes of such text.
  expect(body.length / 3).toBeLessThan(5_000)
})

it('rules on data may name tools of an MCP server that is not required and not available', async () => {
  const { options } = await ChangingServer.create()
  const { tools } = parseConfig(
    {
      tools: [],
      mcp: { srv: { ...options, required: false } },
      dataFlow: { labels: { 'srv__*': ['pii'] }, rules: [{ labels: ['pii'], tools: ['srv__write'], action: 'deny' }] },
    },
    'test',
  )
  const { registry, close } = await tools.open()
  await close()
  expect(registry.names).toEqual(['srv__unavailable', 'srv__write'])
})
