import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { sharedServer } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))

const plus = tool('plus', ({ a, b }) => Number(a) + Number(b))

const source = `
import { Client, Connection } from '@temporalio/client'
import { defineAgent } from 'durable-ptc'
import { createPtcClient, PtcError, type PtcClient } from 'durable-ptc/client'
import { z } from 'zod'

export const clerk = defineAgent({ name: 'clerk', instructions: 'You work.', output: z.object({ total: z.number() }) })

export async function total(ptc: PtcClient): Promise<number> {
  const result = await (await ptc.startAgent(clerk, { question: 'How much?' })).result()
  return result.status === 'answered' ? result.output.total : 0
}

async function main(): Promise<void> {
  const connection = await Connection.connect({ address: process.env['TEMPORAL_ADDRESS'] ?? '' })
  const client = new Client({ connection, namespace: process.env['TEMPORAL_NAMESPACE'] ?? '' })
  const ptc = createPtcClient({ client, taskQueue: process.env['TASK_QUEUE'] ?? '' })
  const { outcome } = await (await ptc.startProgram({ source: 'print(await plus(a=40, b=2))' })).result()
  const refused: unknown = await ptc.startProgram({ source: '' }).catch((error: unknown) => error)
  console.log(outcome.output.trim(), PtcError.isInstance(refused) && refused.code)
  await connection.close()
}

void main()
`

describe('the package, installed without the packages of the worker', () => {
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'ptc-client-'))
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: checkout })
    const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'))
    await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'backend', private: true }))
    const packages = [`./${tarball}`, '@temporalio/client@1', 'zod@4', '@types/node@20', 'typescript@5.9']
    await run('npm', ['install', '--omit=optional', '--no-audit', '--no-fund', ...packages], { cwd: folder })
  })

  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('an installation for clients has none of the packages of the worker', async () => {
    const modules = join(folder, 'node_modules')
    const scoped = async (scope: string) => (await readdir(join(modules, scope))).map((name) => `${scope}/${name}`)
    const installed = [...(await readdir(modules)), ...(await scoped('@temporalio'))]
    expect(installed).toContain('@temporalio/client')
    const ofWorker = ['@temporalio/worker', '@temporalio/core-bridge', '@temporalio/testing', 'pyodide', 'dockerode']
    const others = ['@aws-sdk', '@anthropic-ai', 'webpack', '@swc']
    expect(installed.filter((name) => [...ofWorker, ...others].includes(name))).toEqual([])
  })

  it.each([
    ['an ES module with module nodenext', 'module', ['--module', 'nodenext']],
    ['CommonJS with module node16', 'commonjs', ['--module', 'node16']],
  ])('a client in TypeScript compiles and runs a program: %s', async (name, type, args) => {
    const env = await TestEnvironment.start({ tools: [plus] })
    const project = join(folder, name.replaceAll(/\W+/g, '-'))
    await mkdir(project)
    await writeFile(join(project, 'package.json'), JSON.stringify({ type }))
    await writeFile(join(project, 'main.ts'), source)
    const compiler = join(folder, 'node_modules/typescript/bin/tsc')
    const strict = ['--strict', '--skipLibCheck', '--esModuleInterop', '--types', 'node', '--target', 'es2022']
    await run(process.execPath, [compiler, ...strict, ...args, 'main.ts'], { cwd: project })
    const { address, namespace } = sharedServer()
    const environment = {
      ...process.env,
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      TASK_QUEUE: env.taskQueue,
    }
    const { stdout } = await run(process.execPath, ['main.js'], { cwd: project, env: environment })
    expect(stdout).toBe('42 RUN_INPUT_INVALID\n')
  })

  it('the command of an installation for clients names the missing package', async () => {
    await writeFile(join(folder, 'ptc.config.ts'), 'export default { tools: [] }')
    const worker = run(join(folder, 'node_modules/.bin/ptc'), ['worker'], { cwd: folder })
    await expect(worker).rejects.toMatchObject({
      stderr: expect.stringContaining("package '@temporalio/worker' is not installed"),
    })
  })
})
