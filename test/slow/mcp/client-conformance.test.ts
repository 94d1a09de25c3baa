import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../support/folders.js'

/** The scenarios for clients, without those of OAuth and of questions to people. */
const scenarios = ['initialize', 'tools_call', 'sse-retry']

it.each(scenarios)('the MCP client passes scenario %s of the published conformance suite', async (scenario) => {
  const root = process.cwd()
  const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const preload = join(root, 'test/support/mcp/conformance-on-node-20.mjs')
  const client = ['node_modules/jiti/lib/jiti-cli.mjs', 'test/support/mcp/conformance-client.ts']
  const command = [process.execPath, ...client.map((path) => join(root, path))].join(' ')
  const args = ['--import', preload, suite, 'client', '--command', command, '--scenario', scenario]
  const cwd = await temporaryFolder()
  // The suite ends with status 1 after a failed check.
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [...args, '--timeout', '120000'], {
    cwd,
    maxBuffer: 64 * 1024 * 1024,
  })
  expect(`${stdout}${stderr}`).toMatch(/Passed: \d+\/\d+, 0 failed/)
})
