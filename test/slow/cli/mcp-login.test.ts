import { expect, it } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'
import { browse, startOAuthServers } from '../../support/mcp/oauth-servers.js'

const configuration = `
import { defineConfig } from 'durable-ptc'
export default defineConfig({
  tools: [], sandbox: { backend: 'wasm' }, mcp: { wiki: { url: process.env.TEST_MCP, oauth: {} }, plain: { url: process.env.TEST_MCP } },
})
`

it('ptc mcp login gives workers access in a browser, and ptc mcp logout removes it', async () => {
  const servers = await startOAuthServers()
  await using project = await TestProject.create({ 'ptc.config.ts': configuration }, { TEST_MCP: servers.mcp })
  const unknown = await project.run('mcp', 'login', 'plain')
  expect(unknown.stderr).toContain('the configuration has no MCP server plain to log in to')
  expect(unknown.code).toBe(2)
  const login = project.start('mcp', 'login', 'wiki')
  const [address] = await login.waitForOutput(/http\S+auth\?\S+/, 'stdout')
  const redirect = new URL(new URL(address).searchParams.get('redirect_uri') ?? '')
  // A request of somebody else changes nothing.
  expect((await fetch(new URL('/callback?code=x&state=y', redirect))).status).toBe(404)
  const back = await browse(address, redirect.href)
  const page = await fetch(back)
  expect(await page.text()).toContain('go back to the terminal')
  const { code, stdout, stderr } = await login.result
  expect(stderr).toContain('workers have access to wiki now')
  expect({ code, lines: stdout.trim().split('\n').length }).toEqual({ code: 0, lines: 1 })
  expect(await servers.control({})).toMatchObject({ registrations: 1, token: 1 })
  expect((await project.run('mcp', 'logout', 'wiki')).stderr).toContain('the access to wiki is removed')
  expect((await project.run('mcp', 'logout', 'wiki')).stderr).toContain('there is no access to wiki')
})
