import { execFile } from 'node:child_process'
import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Script, type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'
import { WorkerProcess } from '../../support/environment/worker-process.js'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))
const compiler = join(checkout, 'node_modules/typescript/bin/tsc')

/** The configuration of the README, in a project that has only the package and zod. */
const config = (taskQueue: string) => `
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.number(),
  effect: 'read',
  run: ({ a, b }) => a + b,
})

export default defineConfig({ tools: [add], sandbox: { backend: 'wasm' }, taskQueue: '${taskQueue}' })
`

const script: Script = [
  { reply: { content: [{ type: 'tool_use', name: 'execute_code', input: { code: 'print(await add(a=20, b=22))' } }] } },
  { reply: { content: [{ type: 'text', text: 'It is {{last_tool_result}}.' }] } },
]

describe('the package, packed and installed into a project of ptc init', () => {
  let project: string
  let api: ScriptedMessagesApi
  let worker: WorkerProcess

  beforeAll(async () => {
    project = await mkdtemp(join(tmpdir(), 'ptc-package-'))
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', project], { cwd: checkout })
    const [tarball] = (await readdir(project)).filter((name) => name.endsWith('.tgz'))
    // As the README says: the package.json of `ptc init` names the published package, and the packed one replaces it.
    await run(process.execPath, [join(checkout, 'dist/cli/main.js'), 'init', project])
    await run('npm', ['install', '--no-audit', '--no-fund', `./${tarball ?? ''}`, '@types/node@20'], { cwd: project })
    const taskQueue = uniqueName('package')
    await writeFile(join(project, 'ptc.config.ts'), config(taskQueue))
    await writeFile(join(project, 'add.py'), 'print(await add(a=1, b=41))')
    api = await startScriptedMessagesApi({ script })
    worker = await WorkerProcess.start({
      command: join(project, 'node_modules/durable-ptc/dist/cli/main.js'),
      config: join(project, 'ptc.config.ts'),
      taskQueue,
      environment: { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'test' },
    })
  })

  afterAll(async () => {
    await worker?.kill()
    await api?.close()
    await rm(project, { recursive: true, force: true })
  })

  /** Errors of the compiler, without those in declarations of Temporal's packages, which `skipLibCheck` would hide. */
  async function compileErrors(args: readonly string[], cwd: string): Promise<readonly string[]> {
    const { stdout } = await run(process.execPath, [compiler, ...args], { cwd }).catch(
      (thrown: { readonly stdout: string }) => thrown,
    )
    // All lines of an error except the first are indented.
    const errors = stdout.trimEnd().split(/\n(?=\S)/)
    return errors.filter((error) => error !== '' && !/^\S*node_modules\/@temporalio\//.test(error))
  }

  const ptc = async (args: readonly string[]) => {
    const { address, namespace } = sharedServer()
    const env = { ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }
    return run(join(project, 'node_modules/.bin/ptc'), args, { cwd: project, env, timeout: 170_000 })
  }

  it('the installed package runs a program with a tool', async () => {
    expect((await ptc(['exec', 'add.py'])).stdout).toBe('42\n')
  })

  it('the installed package answers a question with code', async () => {
    const { stdout } = await ptc(['run', '--json', 'How much is 20 and 22?'])
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'answered',
      answer: 'It is 42.',
      turns: 2,
      cells: 1,
      toolCalls: 1,
    })
  })

  it('the installed package accepts a third-party backend that passes the published conformance suite', async () => {
    const folder = join(project, 'backend')
    await cp(join(checkout, 'examples/child-process-backend'), folder, { recursive: true })
    // Compiles as the file's author would: strictly, against the published types.
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--module', 'nodenext', '--target', 'es2022']
    const files = ['conformance.test.ts', 'ptc.config.ts']
    expect(await compileErrors([...strict, '--types', 'node', ...files], folder)).toEqual([])
    const env = { ...process.env }
    delete env['NODE_OPTIONS']
    const { stdout } = await run(process.execPath, ['--test-reporter=tap', 'conformance.test.js'], { cwd: folder, env })
    expect(stdout).toMatch(/^# pass ([4-9]\d|\d{3})$/m)
    expect(stdout).toMatch(/^# fail 0$/m)
    expect(stdout).toMatch(/^# skipped [1-9]\d?$/m)
    expect(stdout).toMatch(/^ok .*network: code reaches an allowed host, and no other one$/m)
  })

  it('the installed package runs a program in a third-party backend', async () => {
    const folder = join(project, 'backend')
    const taskQueue = uniqueName('backend')
    const named = `import config from './ptc.config.js'\nexport default { ...config, taskQueue: '${taskQueue}' }\n`
    await writeFile(join(folder, 'named.config.ts'), named)
    const owned = await WorkerProcess.start({
      command: join(project, 'node_modules/durable-ptc/dist/cli/main.js'),
      config: join(folder, 'named.config.ts'),
      taskQueue,
    })
    try {
      const { stdout } = await ptc(['exec', '--config', 'backend/named.config.ts', 'backend/add.py'])
      expect(stdout).toBe('42 False\n')
    } finally {
      await owned.kill()
    }
  })

  it('the installed package has types that compile in a strict project', async () => {
    const strict = ['--strict', '--noEmit', '--module', 'nodenext', '--target', 'es2022', '--types', 'node']
    expect(await compileErrors([...strict, 'ptc.config.ts'], project)).toEqual([])
    await writeFile(join(project, 'wrong.ts'), config('q').replace('a + b', 'String(a)'))
    expect((await compileErrors([...strict, 'wrong.ts'], project)).join()).toContain('not assignable')
  })

  it('the installed package contains no test, no source but linked pages, and no secret path', async () => {
    const { stdout } = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: checkout })
    const [{ files }] = JSON.parse(stdout) as [{ files: readonly { readonly path: string }[] }]
    const paths = files.map(({ path }) => path)
    expect(paths).toContain('dist/workflow-bundle.js')
    expect(paths.filter((path) => /\.test\.|golden|^src\/.*(?<!\.md)$|^test|^\./.test(path))).toEqual([])
  })
})
