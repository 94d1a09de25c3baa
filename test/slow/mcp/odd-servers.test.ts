import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { Credentials } from '../../../src/tools/credentials/credentials.js'
import { ServerConnection } from '../../../src/tools/sources/mcp/server-connection.js'
import { mcpOption } from '../../../src/tools/sources/mcp/server-options.js'
import { parseArguments } from '../../../src/tools/validation/check-arguments.js'
import { createRegistry } from '../../../src/tools/registry.js'
import { noLog } from '../../../src/tools/sources/tool-source.js'
import { temporaryFolder } from '../../support/folders.js'
import { callMcpTool, listMcpTools } from '../../support/mcp/mcp-tools.js'

const server = fileURLToPath(new URL('../../fixtures/mcp/odd-server.mjs', import.meta.url))

const ownerScript = fileURLToPath(new URL('server-owner-process.ts', import.meta.url))

/** The tools of a server that does what `modes` say. */
async function openServer(
  modes: readonly string[] = [],
  options: Readonly<Record<string, unknown>> = {},
  credentials = new Credentials(),
) {
  const folder = await temporaryFolder()
  const ledger = join(folder, 'calls.jsonl')
  const warnings: string[] = []
  const debugLines: string[] = []
  const milestones: string[] = []
  const log = {
    ...noLog,
    warn: (line: string) => void warnings.push(line),
    debug: (line: string) => void debugLines.push(line),
  }
  const own = { command: process.execPath, args: [server, ledger, ...modes], ...options }
  const { tools, close } = await listMcpTools('odd', own, { credentials, folder, log })
  onTestFinished(close)
  const executed = () =>
    readFileSync(ledger, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as { readonly name: string; readonly args: object; readonly key: string })
  const call = (args: Readonly<Record<string, unknown>>, tool = 'odd__write', signal = new AbortController().signal) =>
    callMcpTool(tools, tool, args, { signal, milestone: (text) => void milestones.push(text) })
  return { tools, warnings, debugLines, milestones, executed, call, close, ledger }
}

describe('the list of an MCP server', () => {
  it.each([
    ['in one page', []],
    ['in pages', ['pages']],
    ['after a banner', ['banner']],
    ['of a process that ends at unknown requests', ['exits-at-unknown']],
  ])('leaves out bad tools and keeps the others, %s', async (_where, modes) => {
    const { tools, warnings } = await openServer(modes)
    const names = tools.map(({ name }) => name)
    expect(names).toEqual([
      'odd___n_code_name',
      expect.stringMatching(/^odd__long_x{45}_[0-9a-f]{8}$/),
      expect.stringMatching(/^odd__long_x{45}_[0-9a-f]{8}$/),
      'odd__no_schema',
      expect.stringMatching(/^odd__no_schema_[0-9a-f]{8}$/),
      'odd__reference',
      'odd__write',
    ])
    expect(new Set(names).size).toBe(7)
    expect(names.filter((name) => name.length > 64)).toEqual([])
    expect(warnings).toEqual([
      'MCP server odd: left out a tool without a name',
      expect.stringContaining('MCP server odd: left out array-schema: '),
    ])
  })
})

it('arguments of a model are repaired by the schema of a server: an object as its JSON text, and null', async () => {
  const { tools, executed, call } = await openServer()
  const tool = tools.find(({ name }) => name === 'odd__reference')
  if (tool === undefined) throw new Error('there is no such tool')
  const parsed = await parseArguments(tool, { filter: '{"since": "2026"}' })
  expect(parsed).toEqual({ ok: true, value: { filter: { since: '2026' } } })
  expect(await parseArguments(tool, { filter: null })).toEqual({ ok: true, value: {} })
  if (parsed.ok) expect(await call(parsed.value, 'odd__reference')).toEqual({ since: '2026' })
  expect(executed()).toMatchObject([{ args: { filter: { since: '2026' } } }])
})

it.each([
  ['does not end', 'endless-list', 'the list of tools has more than 100 pages'],
  ['exits', 'exits-at-once', 'Connection closed'],
])('a worker does not start with an MCP server whose list %s', async (_what, mode, message) => {
  await expect(openServer([mode])).rejects.toMatchObject({
    code: 'TOOL_SOURCE_FAILED',
    message: expect.stringMatching(new RegExp(`^tool source MCP server odd did not list its tools: .*${message}`)),
  })
})

it('the list of an MCP server ends when its server repeats a page', async () => {
  const { tools, warnings } = await openServer(['same-cursor'])
  expect(tools.map(({ name }) => name)).toEqual(['odd__write'])
  expect(warnings).toEqual(['MCP server odd: left out write: the server lists it twice'])
})

describe('a call of a tool of an MCP server', () => {
  it('has the idempotency key of the call, and returns the text of the server', async () => {
    const { call, executed } = await openServer()
    expect(await call({ id: 'a' })).toBe('wrote a')
    expect(executed()).toEqual([{ name: 'write', args: { id: 'a' }, key: 'key-1' }])
  })

  it('reaches the tool of its name on the server, also when the name was shortened', async () => {
    const { call, tools, executed } = await openServer()
    for (const { name } of tools) await call({ id: 'a' }, name)
    const own = ['long_1', 'long_2', 'no-schema', 'no_schema', 'reference', 'write', 'ünïcode name']
    expect(
      executed()
        .map(({ name }) => name.replace(/x{80}_/, ''))
        .sort(),
    ).toEqual(own)
  })

  it('resolves the references of a schema, and does not match its patterns', async () => {
    const { call, tools } = await openServer()
    const since = `${'a'.repeat(50)}!`
    expect(await call({ filter: { since } }, 'odd__reference')).toEqual({ since })
    const { inputSchema } = tools.find(({ name }) => name === 'odd__reference') ?? {}
    expect(inputSchema).toMatchObject({ $defs: { Filter: { properties: { since: { pattern: '^(a+)+$' } } } } })
    // The stub for code has the members of the parameter.
    const stub = createRegistry(tools)
      .signatures()
      .find(({ name }) => name === 'odd__reference')
    expect(stub?.documentation).toContain('since')
  })

  it.each([
    ['a result with isError', 'fails', 'no such page'],
    ['an error of the arguments', 'refuses', 'id is unknown'],
  ])('is refused with the text of %s', async (_what, id, message) => {
    const { call } = await openServer()
    await expect(call({ id })).rejects.toMatchObject({ name: 'ToolError', message: expect.stringContaining(message) })
  })

  it.each([
    ['an internal error', 'breaks', 'the disk is full'],
    ['the end of the server', 'dies', 'its connection has ended'],
    ['a message of 50 MB', 'huge', 'its connection has ended: the server sent a message of over 16777216 bytes'],
  ])('has an unknown outcome after %s, is sent once, and the next call works', async (_what, id, message) => {
    const { call, executed } = await openServer()
    await expect(call({ id })).rejects.toMatchObject({ message: expect.stringContaining(message) })
    await expect(call({ id })).rejects.not.toMatchObject({ name: 'ToolError' })
    expect(executed()).toHaveLength(2)
    await vi.waitFor(async () => expect(await call({ id: 'b' })).toBe('wrote b'), { timeout: 30_000, interval: 200 })
  })

  it('returns its result after invalid JSON, and when each byte comes alone', async () => {
    const { call } = await openServer()
    expect(await call({ id: 'invalid' })).toBe('after invalid JSON')
    expect(await call({ id: 'bytes' })).toBe('🎉é')
  })

  it('returns the result of a server that ends right after it', async () => {
    const { call } = await openServer()
    expect(await call({ id: 'leaves' })).toBe('x'.repeat(1_000_000))
  })

  it('reports the progress of its server, a few times a second', async () => {
    const { call, milestones } = await openServer()
    expect(await call({ id: 'progresses' })).toBe('done')
    expect(milestones[0]).toBe('step 1')
    expect(milestones.length).toBeLessThan(1_000)
  })

  it('ends with the reason of its signal when the server hangs, and tells the server', async () => {
    const { call, ledger } = await openServer()
    const controller = new AbortController()
    const hanging = call({ id: 'hangs' }, 'odd__write', controller.signal)
    await expect.poll(() => existsSync(`${ledger}.hanging`)).toBe(true)
    controller.abort(new Error('the call is cancelled'))
    await expect(hanging).rejects.toThrow('the call is cancelled')
    // The server learns which request it may end.
    await expect
      .poll(() => existsSync(`${ledger}.cancelled`) && readFileSync(`${ledger}.cancelled`, 'utf8'))
      .toBe(readFileSync(`${ledger}.hanging`, 'utf8'))
    expect(await call({ id: 'c' })).toBe('wrote c')
  })

  it('is refused, and has no effect, while a server that ends at once is not started again', async () => {
    const { call, executed, close } = await openServer()
    await close()
    await expect(call({ id: 'dies' })).rejects.toThrow('its connection has ended')
    await expect(call({ id: 'dies' })).rejects.toThrow('its connection has ended')
    await expect(call({ id: 'd' })).rejects.toMatchObject({
      name: 'ToolError',
      message: expect.stringMatching(
        /^MCP server odd is not available: its connection has ended; it is tried again in /,
      ),
    })
    expect(executed()).toHaveLength(2)
  })
})

it('an MCP server gets the variables of its options, its credentials, and no secret of the worker', async () => {
  vi.stubEnv('DURABLE_PTC_SENTINEL', 'a secret of the worker')
  vi.stubEnv('TOKEN_OF_TEST', 'the-token-of-the-test')
  onTestFinished(() => void vi.unstubAllEnvs())
  const credentials = new Credentials({ token: { environment: 'TOKEN_OF_TEST' } })
  const { call, tools } = await openServer([], { env: { MODE: 'test', AUTHORIZATION: 'Bearer ${token}' } }, credentials)
  const environment = JSON.parse(String(await call({ id: 'environment' }))) as Record<string, string>
  expect(environment).toMatchObject({ MODE: 'test', AUTHORIZATION: 'Bearer the-token-of-the-test' })
  expect(JSON.stringify(environment)).not.toContain('a secret of the worker')
  expect(Object.keys(environment).sort()).toEqual(
    [
      'AUTHORIZATION',
      'MODE',
      ...['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'].filter((name) => name in process.env),
    ].sort(),
  )
  expect(tools.every((tool) => tool.credentials.includes('token'))).toBe(true)
})

it('the log has what an MCP server writes to stderr, in short lines and without its credentials', async () => {
  vi.stubEnv('TOKEN_OF_TEST', 'the-token-of-the-test')
  onTestFinished(() => void vi.unstubAllEnvs())
  const credentials = new Credentials({ token: { environment: 'TOKEN_OF_TEST' } })
  const { debugLines } = await openServer(['leaks'], { env: { AUTHORIZATION: 'Bearer ${token}' } }, credentials)
  await expect.poll(() => debugLines.length).toBeGreaterThan(1)
  expect(debugLines[0]).toBe('MCP server odd: my token is Bearer [credential token]')
  expect(debugLines.every((line) => line.length < 600)).toBe(true)
})

describe('the process of an MCP server', () => {
  it.each([
    ['a server', []],
    ['a server that ignores the end of its input and SIGTERM', ['stays', 'ignores-signals']],
    ['the server behind a wrapper', ['wrapped']],
  ])('ends with its source: %s', async (_what, modes) => {
    const { call, close } = await openServer(modes)
    const pid = Number(await call({ id: 'pid' }))
    expect(isRunning(pid)).toBe(true)
    await close()
    await expect.poll(() => isRunning(pid)).toBe(false)
  })

  it('is the only one after 20 connections', async () => {
    const folder = await temporaryFolder()
    const options = { command: process.execPath, args: [server, join(folder, 'calls'), 'stays'] }
    const parsed = mcpOption.parse({ odd: options })['odd']
    if (parsed === undefined) throw new Error('the options are not those of a server')
    const ignored = (): void => undefined
    const own = { name: 'odd', server: parsed, credentials: new Credentials(), folder, log: noLog }
    const openContainer = () => Promise.reject(new Error('no server is sandboxed'))
    const connection = new ServerConnection({ ...own, onListChanged: ignored, openContainer })
    onTestFinished(() => connection.close())
    const pids: number[] = []
    for (let count = 0; count < 20; count++) {
      await connection.close()
      const client = await connection.client(new AbortController().signal)
      const { content } = await client.callTool({ name: 'write', arguments: { id: 'pid' } })
      pids.push(Number(content[0]?.type === 'text' && content[0].text))
    }
    expect(new Set(pids).size).toBe(20)
    expect(pids.filter(isRunning)).toEqual(pids.slice(-1))
    // Each has a process that watches it.
    expect(pids.filter((pid) => watchedGroups().includes(pid))).toEqual(pids.slice(-1))
  })

  it('ends when the worker is killed', async () => {
    const jiti = fileURLToPath(new URL('../../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))
    const owner = spawn(process.execPath, [jiti, ownerScript, server], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void owner.kill('SIGKILL'))
    const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string]
    const pid = Number(line)
    expect(isRunning(pid)).toBe(true)
    owner.kill('SIGKILL')
    await expect.poll(() => isRunning(pid), { timeout: 30_000 }).toBe(false)
  })
})

/** The process groups that processes of this machine watch. */
function watchedGroups(): readonly number[] {
  return readdirSync('/proc').flatMap((pid) => {
    try {
      const watch = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('durable-ptc-watch\0')[1]
      return watch === undefined ? [] : [Number.parseInt(watch, 10)]
    } catch {
      return []
    }
  })
}

/** Whether the process exists, and is no zombie whose parent has not asked for its end. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}
