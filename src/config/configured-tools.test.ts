import { describe, expect, it, vi } from 'vitest'
import { tool } from '../../test/support/tools.js'
import { defineAgent } from '../agents/index.js'
import { parseConfig } from './parse-config.js'

const ping = tool('ping', () => null)
const agent = (tools: readonly string[]) => defineAgent({ name: 'helper', instructions: 'Help.', tools })

function configure(list: () => readonly object[], more: object = {}) {
  const close = vi.fn()
  const { tools } = parseConfig({ tools: [ping, { name: 'server', list, close }], ...more }, 'ptc.config.ts')
  return { tools, close }
}

describe('a source of tools in a configuration', () => {
  it('is not listed when the configuration is loaded', async () => {
    const list = vi.fn(() => [tool('search', () => null)])
    const { tools } = configure(list)
    expect(tools.known.names).toEqual(['ping'])
    expect(list).not.toHaveBeenCalled()
    const opened = await tools.open()
    expect(opened.registry.names).toEqual(['ping', 'search'])
  })

  it('has tools that agents may name', async () => {
    const { tools } = configure(() => [tool('search', () => null)], { agents: [agent(['search'])] })
    const { agents } = await tools.open()
    expect(agents.require('helper').tools).toEqual(['search'])
  })

  it.each([
    [
      'a tool of an agent that no source lists',
      { agents: [agent(['find'])], credentials: { key: { file: 'key' } } },
      'there is no tool named "find"',
    ],
    ['a credential without a source', {}, 'tool search needs credential key'],
  ])('is closed when the worker refuses %s', async (_case, more, problem) => {
    const { tools, close } = configure(() => [tool('search', () => null, { credentials: ['key'] })], more)
    await expect(tools.open()).rejects.toThrow(problem)
    expect(close).toHaveBeenCalledOnce()
  })

  it('needs a name', () => {
    const unnamed = { tools: [ping, { list: () => [] }] }
    expect(() => parseConfig(unnamed, 'x')).toThrow('tools[1] is a source of tools without a name')
  })
})
