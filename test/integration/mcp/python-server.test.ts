import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { callMcpTool, listMcpTools } from '../../support/mcp/mcp-tools.js'
import { pythonPackages } from '../../support/python/python-environment.js'

const fileIn = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const packages = await pythonPackages(fileIn('support/mcp/python-client/requirements.txt'), 'the MCP SDK for Python')

async function open(options: Readonly<Record<string, unknown>> = {}) {
  const server = { command: 'python3', args: [fileIn('fixtures/mcp/python-server.py')], env: { PYTHONPATH: packages } }
  const { tools, close } = await listMcpTools('py', { ...server, ...options })
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
})
