import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../support/folders.js'

/**
 * The scenarios of what the client offers. It registers itself, and needs a new login for more scopes: so not those of
 * client metadata documents (`basic-cimd`), of a step-up (`scope-step-up`, `scope-retry-limit`) and of signed clients.
 */
const scenarios = [
  'auth/metadata-default',
  'auth/metadata-var1',
  'auth/metadata-var2',
  'auth/metadata-var3',
  'auth/scope-from-www-authenticate',
  'auth/scope-from-scopes-supported',
  'auth/scope-omitted-when-undefined',
  'auth/token-endpoint-auth-basic',
  'auth/token-endpoint-auth-post',
  'auth/token-endpoint-auth-none',
  'auth/pre-registration',
  'auth/resource-mismatch',
  'auth/offline-access-scope',
  'auth/offline-access-not-supported',
  'auth/client-credentials-basic',
]

it('the MCP client passes the published scenarios of authorization', { timeout: 300_000 }, async () => {
  const cwd = await temporaryFolder()
  const root = process.cwd()
  const suite = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
  const preload = join(root, 'test/support/mcp/conformance-on-node-20.mjs')
  const jiti = join(root, 'node_modules/jiti/lib/jiti-cli.mjs')
  const command = `${process.execPath} ${jiti} ${join(root, 'test/support/mcp/conformance-auth-client.ts')}`
  const results: string[] = []
  for (const scenario of scenarios) {
    const args = ['--import', preload, suite, 'client', '--command', command, '--scenario', scenario]
    const run = promisify(execFile)(process.execPath, args, { cwd, maxBuffer: 64 * 1024 * 1024 })
    const { stdout, stderr } = await run.catch((thrown: unknown) => thrown as { stdout: string; stderr: string })
    const summary = /Passed: \d+\/\d+, \d+ failed, \d+ warnings/.exec(`${stdout}${stderr}`)?.[0]
    results.push(`${scenario}: ${summary ?? stdout + stderr}`)
  }
  expect(results).toEqual(scenarios.map((each) => expect.stringMatching(`^${each}: Passed: ([1-9]\\d*)/\\1, 0 failed`)))
})
