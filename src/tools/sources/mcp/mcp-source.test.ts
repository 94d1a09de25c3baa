import { createRequire } from 'node:module'
import { expect, it, onTestFinished } from 'vitest'
import { Credentials } from '../../credentials/credentials.js'
import { noLog } from '../tool-source.js'
import { mcpSource } from './mcp-source.js'
import { mcpOption } from './server-options.js'

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js')

it('lists the tools of a published server', async () => {
  const { demo } = mcpOption.parse({ demo: { command: process.execPath, args: [everything, 'stdio'] } })
  const source = mcpSource({ name: 'demo', server: demo!, credentials: new Credentials(), folder: '.' })
  onTestFinished(() => source.close?.())
  const warnings: string[] = []
  const tools = await source.list({
    signal: new AbortController().signal,
    log: { ...noLog, warn: (line) => void warnings.push(line) },
  })
  console.log(tools.map((t) => JSON.stringify(t)).join('\n'), warnings)
  expect(tools.map(({ name }) => name)).toContain('demo__echo')
})
