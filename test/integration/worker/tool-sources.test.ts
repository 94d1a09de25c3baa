import { expect, it } from 'vitest'
import { defineAgent } from '../../../src/index.js'
import { ChildProcessSource, isAlive } from '../../support/child-process-source.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'

it('a worker starts the process of a source of tools, runs its tools in code, and ends it', async () => {
  const source = new ChildProcessSource()
  const env = await TestEnvironment.start({ tools: [source] })
  const { outcome } = await env.runProgram('print(await shout(text="hello"), await double(text="ab"))')
  expect(outcome).toMatchObject({ status: 'ok', output: 'HELLO abab\n' })
  expect(source.started.map(isAlive)).toEqual([true])
  await env.workers.stop()
  expect(source.started.map(isAlive)).toEqual([false])
})

it('two workers of a process share a source of tools, and the last one ends its process', async () => {
  const source = new ChildProcessSource()
  const env = await TestEnvironment.start({ tools: [source], initialWorkers: [] })
  const first = await env.workers.start()
  const second = await env.workers.start()
  await first.shutdown()
  expect(source.started.map(isAlive)).toEqual([true])
  const { outcome } = await env.runProgram('print(await shout(text="still here"))')
  expect(outcome).toMatchObject({ status: 'ok', output: 'STILL HERE\n' })
  await second.shutdown()
  expect(source.started.map(isAlive)).toEqual([false])
})

it('a worker that refuses its configuration ends the process of a source of tools', async () => {
  const source = new ChildProcessSource()
  const agents = [defineAgent({ name: 'helper', instructions: 'Help.', tools: ['whisper'] })]
  const env = await TestEnvironment.start({ tools: [source], agents, initialWorkers: [] })
  await expect(env.workers.start()).rejects.toMatchObject({ code: 'TOOL_UNKNOWN' })
  expect(source.started.map(isAlive)).toEqual([false])
})

it('a worker does not start without the tools of a source, and names the source', async () => {
  const source = { name: 'mcp github', list: () => Promise.reject(new Error('spawn gh-mcp ENOENT')) }
  const env = await TestEnvironment.start({ tools: [source], initialWorkers: [] })
  await expect(env.workers.start()).rejects.toMatchObject({
    code: 'TOOL_SOURCE_FAILED',
    message: 'tool source mcp github did not list its tools: spawn gh-mcp ENOENT',
  })
})
