import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { TestProject } from '../../support/cli/ptc.js'

const sessionCommands = [['list'], ['show', 'x'], ['interrupt', 'x'], ['close', 'x'], ['close-all']].map((command) => [
  'sessions',
  ...command,
])
const readOnlyCommands = [['list'], ['show', 'nap'], ['watch', 'nobody'], ['values', 'stat']]

describe('a command that only reads', () => {
  it('a command that only reads resumes no open run', async () => {
    await using project = await TestProject.create({
      'ptc.config.mjs': 'export default { tools: [], sandbox: { backend: "wasm" } }',
      'nap.py': 'import asyncio\nprint("asleep")\nawait asyncio.sleep(3600)\n',
    })
    const killed = project.start('exec', 'nap.py', '--id', 'nap')
    await killed.waitForOutput(/cell 1/)
    killed.signal('SIGKILL')
    await killed.result
    const workerLog = () => readFile(join(project.folder, '.ptc/worker.log'), 'utf8')
    const before = await workerLog()

    for (const command of sessionCommands) {
      expect(await project.run(...command), command.join(' ')).toMatchObject({
        code: 3,
        stdout: '',
        stderr: expect.stringMatching(/^ptc: no Temporal server is running for this folder\n.*`ptc dev`/m),
      })
    }
    expect(await project.run('watch', 'nobody')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('there is no run nobody'),
    })
    expect(await project.run('show', 'nap')).toMatchObject({ code: 0, stdout: expect.stringContaining('running') })
    expect(await project.run('list')).toMatchObject({ code: 0, stdout: expect.stringMatching(/^nap +running/m) })
    expect(await workerLog()).toBe(before)
  })

  it('a command that only reads uses cached settings instead of running the configuration', async () => {
    const configuration = `
      import { writeFileSync } from 'node:fs'
      writeFileSync('loaded', '')
      export default { tools: [], taskQueue: 'reading-${process.pid}' }`
    await using project = await TestProject.create(
      { 'ptc.config.mjs': configuration },
      { TEMPORAL_ADDRESS: sharedServer().address },
    )
    const isLoaded = () => existsSync(join(project.folder, 'loaded'))
    for (const command of readOnlyCommands) {
      const { stderr } = await project.run(...command)
      expect(stderr, command.join(' ')).not.toContain(`reading-${process.pid}`)
    }
    for (const command of sessionCommands) {
      const { code, stderr } = await project.run(...command)
      expect({ code, stderr }, command.join(' ')).toEqual({
        code: 3,
        stderr: expect.stringContaining('no worker is running on task queue durable-ptc'),
      })
    }
    expect(isLoaded()).toBe(false)
    expect((await project.run('list')).stderr).toContain('ptc.config.mjs was not loaded; pass --config ptc.config.mjs')

    expect(await project.run('run', 'why?')).toMatchObject({ code: 3 })
    expect(isLoaded()).toBe(true)
    expect((await project.run('list')).stderr).toBe(`no runs on task queue reading-${process.pid} yet\n`)
  })
})

it('the state folder is readable only by the user, and ignored by git', async () => {
  await using project = await TestProject.create({
    'ptc.config.mjs': 'export default { tools: [], sandbox: { backend: "wasm" } }',
    'hello.py': 'print("x" * 100_000)',
  })
  expect(await project.run('exec', 'hello.py')).toMatchObject({ code: 0 })
  const state = join(project.folder, '.ptc')
  const names = await readdir(state, { recursive: true })
  expect(names).toEqual(expect.arrayContaining(['temporal.db', 'temporal.log', 'worker.log', '.gitignore']))
  for (const name of ['', ...names]) {
    const { mode } = await stat(join(state, name))
    expect(mode & 0o077, name).toBe(0)
  }
  expect(await readFile(join(state, '.gitignore'), 'utf8')).toBe('*\n')
})
