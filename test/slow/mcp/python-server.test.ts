import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Tool } from '../../../src/index.js'
import { pollOptions } from '../../support/poll-options.js'
import { callMcpTool, listMcpTools } from '../../support/mcp/mcp-tools.js'
import { pythonPackages } from '../../support/python/python-environment.js'

const fileIn = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const packages = await pythonPackages(fileIn('support/mcp/python-client/requirements.txt'), 'the MCP SDK for Python')

async function open(options: Readonly<Record<string, unknown>> = {}, onChanged?: (tools: readonly Tool[]) => void) {
  const server = { command: 'python3', args: [fileIn('fixtures/mcp/python-server.py')], env: { PYTHONPATH: packages } }
  const { tools, close } = await listMcpTools('py', { ...server, ...options }, { ...(onChanged && { onChanged }) })
  onTestFinished(close)
  const milestones: string[] = []
  const call = (name: string, args: Readonly<Record<string, unknown>> = {}) =>
    callMcpTool(tools, `py__${name}`, args, { milestone: (text) => void milestones.push(text) })
  return { tools, call, milestones }
}

describe.skipIf(packages === undefined)('a server of the official SDK for Python', () => {
  it('returns structured content for a model as parameter, and keeps its reference in the schema', async () => {
    const { tools, call } = await open()
    expect(tools.find(({ name }) => name === 'py__weather')?.inputSchema).toMatchObject({
      properties: { place: { $ref: '#/$defs/Place' } },
      $defs: { Place: { properties: { city: { type: 'string' } } } },
    })
    expect(await call('weather', { place: { city: 'Oslo' } })).toEqual({
      city: 'Oslo',
      celsius: 21.5,
      tags: ['dry', 'é🎉'],
    })
  })

  it('returns an image as a block, and reports an error with its text', async () => {
    const { call } = await open()
    expect(await call('picture')).toEqual([
      { type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) },
    ])
    await expect(call('fails')).rejects.toMatchObject({
      name: 'ToolError',
      message: expect.stringContaining('there is no page 7'),
    })
  })

  it('reports the progress of a slow tool', async () => {
    const { call, milestones } = await open()
    expect(await call('slow')).toEqual({ result: 'done' })
    expect(milestones).toEqual(['step 1 of 3', 'step 2 of 3', 'step 3 of 3'])
  })

  it('lists and reads its resources and prompts', async () => {
    const { call, tools } = await open({ trusted: true })
    const { effect, approval } = tools.find(({ name }) => name === 'py__read_resource') ?? {}
    expect({ effect, approval }).toEqual({ effect: 'read', approval: undefined })
    expect(await call('list_resources')).toEqual({
      resources: [
        expect.objectContaining({ uri: 'notes://all', description: 'All notes.' }),
        expect.objectContaining({ uri: 'notes://picture', mimeType: 'image/png' }),
      ],
      templates: [expect.objectContaining({ uriTemplate: 'notes://day/{day}' })],
    })
    expect(await call('read_resource', { uri: 'notes://all' })).toBe('milk, tea')
    expect(await call('read_resource', { uri: 'notes://day/monday' })).toBe('notes of monday')
    expect(await call('read_resource', { uri: 'notes://picture' })).toEqual([
      { type: 'image', mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) },
    ])
    await expect(call('read_resource', { uri: 'other://all' })).rejects.toMatchObject({ name: 'ToolError' })
    expect(await call('list_prompts')).toEqual({
      prompts: [
        expect.objectContaining({
          name: 'review',
          arguments: [expect.objectContaining({ name: 'text', required: true })],
        }),
      ],
    })
    expect(await call('get_prompt', { name: 'review', arguments: { text: 'a poem' } })).toEqual({
      description: 'Asks for a review.',
      messages: [{ role: 'user', content: { type: 'text', text: 'Review this: a poem' } }],
    })
  })

  it('reports a changed list in the protocol of 2026', async () => {
    const lists: string[][] = []
    const { call } = await open({}, (tools) => void lists.push(tools.map(({ name }) => name)))
    await call('rename')
    await expect.poll(() => lists, pollOptions).toHaveLength(1)
    expect(lists[0]).toContain('py__new_name')
    expect(lists[0]).not.toContain('py__old_name')
  })
})
