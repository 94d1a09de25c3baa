import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'

const files = {
  'ptc.config.ts': `
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const add = defineTool({
  name: 'add', description: 'Adds two numbers.', effect: 'read',
  input: z.object({ a: z.number(), b: z.number() }), output: z.number(),
  run: async ({ a, b }) => a + b,
})
export default defineConfig({ tools: [add], sandbox: { backend: 'wasm' } })
`,
  'sum.py': 'print(await add(a=40, b=2))\n',
}

function listens(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => settle(true)).once('error', () => settle(false))
    socket.once('connect', () => socket.destroy())
  })
}

/** Kills the whole process group: the server and the shell that supervises it. */
async function killServer({ folder }: TestProject): Promise<void> {
  const { pid } = JSON.parse(await readFile(join(folder, '.ptc/temporal.json'), 'utf8')) as { readonly pid: number }
  process.kill(-pid, 'SIGKILL')
}

describe('ptc dev', () => {
  it('ptc dev starts a server with its UI and a worker for other commands, and stops them', async () => {
    await using project = await TestProject.create(files)
    const dev = project.start('dev')
    const [, uiUrl = ''] = await dev.waitForOutput(/^UI +(http:\S+)/m, 'stdout')
    const [, port] = await dev.waitForOutput(/^Temporal +127\.0\.0\.1:(\d+)/m, 'stdout')
    await dev.waitForOutput(/^Tools +add\n[^]*Ready\./m, 'stdout')
    expect((await fetch(uiUrl)).status).toBe(200)
    const settings = (await (await fetch(`${uiUrl}/api/v1/settings`)).json()) as { Codec: { Endpoint: string } }
    const preflight = { method: 'OPTIONS', headers: { origin: uiUrl } }
    expect((await fetch(`${settings.Codec.Endpoint}/decode`, preflight)).status).toBe(204)

    const { code, stdout, stderr } = await project.run('exec', 'sum.py')
    expect(stderr).toContain(`${uiUrl}/namespaces/default/workflows/program-`)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '42\n' })

    dev.signal('SIGINT')
    expect((await dev.result).code).toBe(0)
    expect(await listens(Number(port))).toBe(false)
    expect(existsSync(join(project.folder, '.ptc/temporal.json'))).toBe(false)
  })

  it('ptc dev reports that the configuration, or a file that it imports, has changed', async () => {
    const config = files['ptc.config.ts'].replace('description:', 'description: name + ').replace("name: 'add'", 'name')
    const imports = `import { name } from './name.js'\n`
    await using project = await TestProject.create({
      'ptc.config.ts': imports + config,
      'name.ts': `export const name: string = 'add'\n`,
    })
    const dev = project.start('dev')
    await dev.waitForOutput(/^Tools +add\n[^]*Ready\./m, 'stdout')
    await project.write('name.ts', `export const name: string = 'sum'\n`)
    await dev.waitForOutput(/^name\.ts changed: restart `ptc dev` to use it$/m)
    await project.write('ptc.config.ts', `${imports}${config}// changed\n`)
    await dev.waitForOutput(/^ptc\.config\.ts changed: /m)
    await project.write('.env', 'A=b\n')
    await dev.waitForOutput(/^\.env changed: /m)
  })

  it('ptc dev starts its worker again after a pause when a tool ends it, and its server keeps running', async () => {
    const end = `
const end = defineTool({
  name: 'end', description: 'Ends its worker.', effect: 'once', input: z.object({}), output: z.null(),
  run: () => process.abort(),
})
`
    const config = files['ptc.config.ts']
      .replace('export default', `${end}export default`)
      .replace('[add]', '[add, end]')
    await using project = await TestProject.create({ ...files, 'ptc.config.ts': config, 'end.py': 'await end()\n' })
    const dev = project.start('dev')
    await dev.waitForOutput(/^Tools +add, end\n[^]*Ready\./m, 'stdout')
    const ended = await project.run('exec', 'end.py')
    expect(ended).toMatchObject({ code: 1, stderr: expect.stringContaining('ToolOutcomeUnknown') })
    const lines =
      /^ptc: the worker has ended: SIGABRT ended its process\nIt starts again in 1 s; the server keeps running\.$/m
    expect(dev.stderr).toMatch(lines)
    expect(dev.stderr).toMatch(/^the worker runs again$/m)
    expect(await project.run('exec', 'sum.py')).toMatchObject({ code: 0, stdout: '42\n' })
    dev.signal('SIGINT')
    expect((await dev.result).code).toBe(0)
  })

  it("ptc dev ends with its server, the reason and its exit code when its worker can't start", async () => {
    const config = files['ptc.config.ts'].replace("'wasm'", "'docker'")
    const environment = { DOCKER_HOST: 'unix:///nope.sock' }
    await using project = await TestProject.create({ ...files, 'ptc.config.ts': config }, environment)
    const { code, stdout, stderr } = await project.run('dev')
    expect(stderr).toMatch(/^ptc: .*Docker/m)
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(existsSync(join(project.folder, '.ptc/temporal.json'))).toBe(false)
  })

  it('ptc dev and its server end at once on the second Ctrl-C', async () => {
    await using project = await TestProject.create(files)
    const dev = project.start('dev')
    const [, port] = await dev.waitForOutput(/^Temporal +127\.0\.0\.1:(\d+)/m, 'stdout')
    dev.signal('SIGINT')
    dev.signal('SIGTERM')
    expect((await dev.result).code).toBe(130)
    await expect.poll(() => listens(Number(port))).toBe(false)
  })
})

describe('a server that exits unexpectedly', () => {
  it('a server that exits unexpectedly ends ptc dev with exit code 3 and the reason', async () => {
    await using project = await TestProject.create(files)
    const dev = project.start('dev')
    await dev.waitForOutput(/Ready\./, 'stdout')
    await killServer(project)
    const { code, stderr } = await dev.result
    expect(stderr).toMatch(/^ptc: the Temporal server ended by itself/m)
    expect(code).toBe(3)
  })

  it('a server that exits unexpectedly ends its command with exit code 3, which says how to resume the run', async () => {
    await using project = await TestProject.create({ ...files, 'nap.py': 'import asyncio\nawait asyncio.sleep(60)\n' })
    const running = project.start('exec', 'nap.py', '--id', 'nap')
    await running.waitForOutput(/cell 1/)
    await killServer(project)
    const { code, stderr } = await running.result
    expect(stderr).toMatch(/^ptc: the Temporal server ended by itself[^]*Nothing is lost: `ptc watch nap` continues\./m)
    expect(code).toBe(3)
  })
})

describe('without ptc dev', () => {
  it('a command without ptc dev starts a server and a worker, and the run can be shown afterwards', async () => {
    await using project = await TestProject.create(files)
    const { code, stdout, stderr } = await project.run('exec', 'sum.py', '--id', 'sum')
    expect(stderr).toContain(
      'no Temporal server is running: starting one, and a worker, for this command (state in .ptc)',
    )
    expect({ code, stdout }).toEqual({ code: 0, stdout: '42\n' })
    expect(existsSync(join(project.folder, '.ptc/worker.log'))).toBe(true)
    expect((await project.run('show', 'sum')).stdout).toMatch(/sum +program · completed[^]*add\(a=40, b=2\)/)
  })

  it('a command without ptc dev logs a blocked event loop to the worker log, not to the terminal', async () => {
    const block = `
const block = defineTool({
  name: 'block', description: 'Computes.', effect: 'read', input: z.object({}), output: z.null(),
  run: () => { for (const end = Date.now() + 8_000; Date.now() < end; ); return null },
})
`
    const config = files['ptc.config.ts']
      .replace('export default', `${block}export default`)
      .replace('[add]', '[block]')
    await using project = await TestProject.create({ 'ptc.config.ts': config, 'block.py': 'print(await block())' })
    const { code, stdout, stderr } = await project.run('exec', 'block.py')
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'None\n' })
    const blocked = /WARN +tool block has blocked the event loop/
    expect(await readFile(join(project.folder, '.ptc/worker.log'), 'utf8')).toMatch(blocked)
    expect(stderr).not.toMatch(blocked)
  })

  it('ptc watch resumes a run whose process was killed', async () => {
    await using project = await TestProject.create({
      ...files,
      'nap.py': 'import asyncio\nawait asyncio.sleep(4)\nprint("awake")\n',
    })
    const killed = project.start('exec', 'nap.py', '--id', 'nap')
    await killed.waitForOutput(/cell 1/)
    killed.signal('SIGKILL')
    await killed.result
    expect(await project.run('watch', 'nap')).toMatchObject({ code: 0, stdout: 'awake\n' })
  })

  it('ptc run rejects --detach without a running server', async () => {
    await using project = await TestProject.create(files)
    const { code, stderr } = await project.run('run', 'why?', '--detach')
    expect(stderr).toContain('ptc: no Temporal server is running for this folder')
    expect(code).toBe(3)
  })
})
