import { expect, it, vi } from 'vitest'
import { ChildProcessSource, isAlive } from '../../../test/support/child-process-source.js'
import { Deferred, tool } from '../../../test/support/tools.js'
import { createRegistry } from '../registry.js'
import { listTools, type ToolSource } from './tool-source.js'

const first = tool('first', () => null)
const second = tool('second', () => null)
const third = tool('third', () => null)

function source(list: ToolSource['list']) {
  return { name: 'test', list, close: vi.fn() } satisfies ToolSource
}

it('lists the tools of a configuration and of its sources in the order of the configuration', async () => {
  const { tools } = await listTools([first, source(() => [second]), third])
  expect(tools).toEqual([first, second, third])
})

it('lists the tools of a source in the order of their names, so that the digest is that of every process', async () => {
  const digests = [
    [third, first, second],
    [second, third, first],
  ].map(async (list) => {
    const { tools } = await listTools([source(() => Promise.resolve(list))])
    return createRegistry(tools).digest
  })
  expect(new Set(await Promise.all(digests))).toEqual(new Set([createRegistry([first, second, third]).digest]))
})

it('refuses two tools of one name, also from a source', async () => {
  const { tools } = await listTools([first, source(() => [first])])
  expect(() => createRegistry(tools)).toThrow('two tools are named first')
})

it('names a source that does not list its tools, and closes all sources', async () => {
  const good = source(() => [first])
  const bad = { ...source(() => Promise.reject(new Error('no such server'))), name: 'mcp github' }
  await expect(listTools([good, bad])).rejects.toMatchObject({
    code: 'TOOL_SOURCE_FAILED',
    message: 'tool source mcp github did not list its tools: no such server',
  })
  expect(good.close).toHaveBeenCalledOnce()
  expect(bad.close).toHaveBeenCalledOnce()
})

it.each([
  [undefined, 'its list is not an array'],
  [[first, { name: 'second' }], 'tool 1 of its list is not a tool'],
])('refuses the list of a source: %#', async (list, reason) => {
  const problem = `tool source test did not list its tools: ${reason}`
  await expect(listTools([source(() => list as never)])).rejects.toThrow(problem)
})

it('fails after 60 seconds when a source does not list its tools, and aborts its signal', async () => {
  vi.useFakeTimers()
  try {
    let aborted: AbortSignal | undefined
    const hanging = source(({ signal }) => ((aborted = signal), new Promise(() => undefined)))
    const failed = expect(listTools([hanging])).rejects.toMatchObject({ code: 'TOOL_SOURCE_FAILED' })
    await vi.advanceTimersByTimeAsync(59_000)
    expect(aborted?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(1_000)
    await failed
    expect(aborted?.aborted).toBe(true)
    expect(hanging.close).toHaveBeenCalledOnce()
  } finally {
    vi.useRealTimers()
  }
})

it('names a source that does not close', async () => {
  const failing = { ...source(() => [first]), close: () => Promise.reject(new Error('still busy')) }
  const { close } = await listTools([failing])
  await expect(close()).rejects.toThrow('tool source test did not close: still busy')
})

it('closes a source that two workers share after the second one, and lists it again for a third', async () => {
  const list = vi.fn(() => [first])
  const shared = source(list)
  const workers = await Promise.all([listTools([shared]), listTools([shared])])
  expect(list).toHaveBeenCalledOnce()
  await workers[0].close()
  await workers[0].close()
  expect(shared.close).not.toHaveBeenCalled()
  await workers[1].close()
  expect(shared.close).toHaveBeenCalledOnce()
  await (await listTools([shared])).close()
  expect(list).toHaveBeenCalledTimes(2)
  expect(shared.close).toHaveBeenCalledTimes(2)
})

it('lists a source only after it has been closed', async () => {
  const ended = new Deferred()
  const list = vi.fn(() => [first])
  const slow = { ...source(list), close: () => ended.promise }
  const { close } = await listTools([slow])
  const closed = close()
  const again = listTools([slow])
  await new Promise(setImmediate)
  expect(list).toHaveBeenCalledOnce()
  ended.resolve()
  await closed
  await again
  expect(list).toHaveBeenCalledTimes(2)
})

it('lists the tools of a child process, and ends the process', async () => {
  const childProcess = new ChildProcessSource()
  const { tools, close } = await listTools([childProcess])
  expect(tools.map(({ name }) => name)).toEqual(['double', 'shout'])
  const [child] = childProcess.started
  expect(child && isAlive(child)).toBe(true)
  await close()
  expect(child && isAlive(child)).toBe(false)
  await close()
})
