import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { runCommand } from '../../../src/tools/memory/commands/commands.js'
import { parseLimits } from '../../../src/tools/memory/limits.js'
import { ScopedMemory } from '../../../src/tools/memory/scoped-memory.js'
import { LocalObjects } from '../../../src/values/objects/local-objects.js'
import { TestProject } from '../../support/cli/ptc.js'
import { filesIn } from '../../support/folders.js'

const configuration = `
import { defineConfig, memory } from 'durable-ptc'
const store = { kind: 'local', directory: new URL('memory', import.meta.url).pathname }
export default defineConfig({ tools: [memory({ store, scope: ({ user }) => user })] })
`

async function createProject(config = configuration): Promise<TestProject> {
  const project = await TestProject.create({ 'ptc.config.mjs': config })
  onTestFinished(() => project[Symbol.asyncDispose]())
  return project
}

async function store(project: TestProject, scope: string, path: string, file_text: string): Promise<void> {
  const memory = new ScopedMemory(new LocalObjects(join(project.folder, 'memory')), scope)
  const { signal } = new AbortController()
  const call = { memory, limits: parseLimits({}), idempotencyKey: `${scope} ${path}`, signal }
  await runCommand({ command: 'create', path, file_text }, call)
}

it('ptc memory lists scopes, exports one and erases it, without a server', async () => {
  const project = await createProject()
  expect(await project.run('memory', 'list')).toMatchObject({ code: 0, stdout: '', stderr: 'no scope has files\n' })
  await store(project, 'ada', '/memories/a.txt', 'secret of ada\n\u001B[31m')
  await store(project, 'ada', '/memories/b/c.txt', '')
  await store(project, 'bob', '/memories/a.txt', 'text of bob')

  const { stdout: table } = await project.run('memory', 'list')
  expect(table).toMatch(/^SCOPE\s+FILES\s+SIZE\s+CHANGED\nada\s+2\s+19 B\s+20\S+Z\nbob\s+1\s+11 B\s+20\S+Z\n$/)
  const { stdout: json } = await project.run('memory', 'list', '--json')
  expect(JSON.parse(json)).toMatchObject([{ scope: 'ada', files: 2, bytes: 19 }, { scope: 'bob' }])

  const exported = await project.run('memory', 'export', 'ada')
  expect(exported).toMatchObject({ code: 0, stderr: '' })
  expect(exported.stdout).not.toContain('\u001B')
  expect(JSON.parse(exported.stdout)).toEqual({
    scope: 'ada',
    files: [
      { path: '/memories/a.txt', bytes: 19, text: 'secret of ada\n\u001B[31m' },
      { path: '/memories/b/c.txt', bytes: 0, text: '' },
    ],
  })

  expect(await project.run('memory', 'erase', 'ada', '--dry-run')).toMatchObject({
    stdout: 'would erase 2 files (19 B) of ada\n',
  })
  const erased = await project.run('memory', 'erase', 'ada', '--json')
  expect(JSON.parse(erased.stdout)).toEqual({ scope: 'ada', dryRun: false, files: 2, bytes: 19 })
  expect(await project.run('memory', 'erase', 'ada')).toMatchObject({ stdout: 'erased 0 files (0 B) of ada\n' })
  const { stdout: left } = await project.run('memory', 'list')
  expect(left).toContain('bob')
  expect(left).not.toContain('ada')
  // The index of an erased scope, and index and content of the other one.
  expect(await filesIn(join(project.folder, 'memory'))).toHaveLength(3)
})

it('ptc memory names what is wrong with its arguments and the configuration', async () => {
  const none = await createProject(`export default { tools: [] }`)
  expect(await none.run('memory', 'list')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Add `memory({ … })` to its `tools`.'),
  })
  const two = await createProject(`
import { defineConfig, memory } from 'durable-ptc'
const at = (directory) => ({ kind: 'local', directory })
const scope = () => 'all'
export default defineConfig({ tools: [memory({ store: at('a'), scope }), memory({ store: at('b'), scope, name: 'team' })] })
`)
  expect(await two.run('memory', 'list')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Name one with --tool: memory, team.'),
  })
  expect(await two.run('memory', 'list', '--tool', 'team')).toMatchObject({ code: 0 })
  expect(await two.run('memory', 'list', '--tool', 'other')).toMatchObject({ code: 2 })
  expect(await two.run('memory', 'export', '--tool', 'team')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("missing required argument 'scope'"),
  })
  expect(await two.run('memory', 'export', ' ', '--tool', 'team')).toMatchObject({
    code: expect.any(Number),
    stdout: '',
    stderr: expect.stringContaining('it is empty'),
  })
})
