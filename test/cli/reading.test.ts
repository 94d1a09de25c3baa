import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { testTemporal } from '../support/temporal.js'
import { Project } from './ptc.js'

const ofSessions = [['list'], ['show', 'x'], ['interrupt', 'x'], ['close', 'x'], ['close-all']].map((command) => [
  'sessions',
  ...command,
])
const readers = [['list'], ['show', 'nap'], ['watch', 'nobody'], ['values', 'stat']]

describe('a command that only reads', () => {
  it('goes on with no run that is there', async () => {
    await using project = await Project.create({
      'ptc.config.mjs': 'export default { tools: [], sandbox: { backend: "wasm" } }',
      'nap.py': 'import asyncio\nprint("asleep")\nawait asyncio.sleep(3600)\n',
    })
    const killed = project.start('exec', 'nap.py', '--id', 'nap')
    await killed.said(/cell 1/)
    killed.signal('SIGKILL')
    await killed.ended
    const workerLog = () => readFile(join(project.folder, '.ptc/worker.log'), 'utf8')
    const before = await workerLog()

    for (const command of ofSessions) {
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

  it('runs no code of a configuration; the last command that did has left what it needs to know', async () => {
    const configuration = `
      import { writeFileSync } from 'node:fs'
      writeFileSync('loaded', '')
      export default { tools: [], taskQueue: 'reading-${process.pid}' }`
    await using project = await Project.create(
      { 'ptc.config.mjs': configuration },
      { TEMPORAL_ADDRESS: testTemporal().address },
    )
    const isLoaded = () => existsSync(join(project.folder, 'loaded'))
    for (const command of readers) {
      const { stderr } = await project.run(...command)
      expect(stderr, command.join(' ')).not.toContain(`reading-${process.pid}`)
    }
    for (const command of ofSessions) {
      const { code, stderr } = await project.run(...command)
      expect({ code, stderr }, command.join(' ')).toEqual({
        code: 3,
        stderr: expect.stringContaining('no worker is running on task queue durable-ptc'),
      })
    }
    expect(isLoaded()).toBe(false)
    expect((await project.run('list')).stderr).toContain('does not run ptc.config.mjs: --config ptc.config.mjs')

    expect(await project.run('run', 'why?')).toMatchObject({ code: 3 })
    expect(isLoaded()).toBe(true)
    expect((await project.run('list')).stderr).toBe(`no runs on task queue reading-${process.pid} yet\n`)
  })
})

it('the state of a folder is for its user only, and git passes over it', async () => {
  await using project = await Project.create({
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
