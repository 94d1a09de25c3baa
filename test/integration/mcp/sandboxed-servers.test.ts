import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import Docker from 'dockerode'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Credentials } from '../../../src/tools/credentials/credentials.js'
import { mcpOption } from '../../../src/tools/sources/mcp/server-options.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { callMcpTool, listMcpTools } from '../../support/mcp/mcp-tools.js'

const source = readFileSync(new URL('../../fixtures/mcp/sandboxed-server.py', import.meta.url), 'utf8')
const ownerScript = fileURLToPath(new URL('sandboxed-owner-process.ts', import.meta.url))

const uniqueServer = () => `s${randomUUID().slice(0, 8)}`

async function containersOf(server: string): Promise<readonly string[]> {
  const filters = JSON.stringify({ label: [`ptc.server=${server}`] })
  return (await new Docker().listContainers({ all: true, filters })).map(({ State }) => State)
}

describeDocker('a sandboxed MCP server', () => {
  it('has no network, no files and no secrets of the worker, and its container ends with its source', async () => {
    vi.stubEnv('TOKEN_OF_TEST', 'the-token-of-the-test')
    onTestFinished(() => void vi.unstubAllEnvs())
    const name = uniqueServer()
    const credentials = new Credentials({ token: { environment: 'TOKEN_OF_TEST' } })
    const { tools, close } = await listMcpTools(
      name,
      { command: 'python3', args: ['-c', source], sandboxed: true, env: { TOKEN: '${token}' } },
      { credentials },
    )
    onTestFinished(close)
    const seen = JSON.parse(String(await callMcpTool(tools, `${name}__look`, {}))) as Record<string, unknown>
    expect(seen).toMatchObject({ token: 'the-token-of-the-test', interfaces: ['lo'], writable: false, pid: 1 })
    expect(seen['environment']).toEqual(['HOME', 'LANG', 'PATH', 'TOKEN'].concat(['HOSTNAME']).sort())
    expect(seen['user']).toBeGreaterThanOrEqual(1_000)
    expect(await containersOf(name)).toEqual(['running'])
    await close()
    await expect.poll(() => containersOf(name)).toEqual([])
  })

  it('whose command does not exist fails the start of a worker, and leaves no container', async () => {
    const name = uniqueServer()
    await expect(listMcpTools(name, { command: 'no-such-server', sandboxed: true })).rejects.toMatchObject({
      code: 'TOOL_SOURCE_FAILED',
    })
    await expect.poll(() => containersOf(name)).toEqual([])
  })

  it('ends when the worker is killed', async () => {
    const name = uniqueServer()
    const jiti = fileURLToPath(new URL('../../../node_modules/jiti/lib/jiti-cli.mjs', import.meta.url))
    const args = [jiti, ownerScript, name, source]
    const owner = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void owner.kill('SIGKILL'))
    await once(createInterface({ input: owner.stdout }), 'line')
    expect(await containersOf(name)).toEqual(['running'])
    owner.kill('SIGKILL')
    await expect.poll(() => containersOf(name), { timeout: 30_000 }).toEqual([])
  })
})

it('a sandboxed MCP server has no working folder of the host', () => {
  const { error } = mcpOption.safeParse({ srv: { command: 'python3', sandboxed: true, cwd: '.' } })
  expect(error?.issues[0]?.message).toBe('a sandboxed server has no `cwd` of the host')
})
