import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../support/folders.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

const run = promisify(execFile)
const checkout = fileURLToPath(new URL('../../../', import.meta.url))

/** The example, with the packages of this checkout, compiled. */
async function buildExample(): Promise<string> {
  const project = await temporaryFolder()
  await cp(join(checkout, 'examples/existing-worker'), project, { recursive: true })
  const packages = join(project, 'node_modules')
  await mkdir(packages)
  for (const name of ['@temporalio', '@types', 'zod', 'undici-types']) {
    await symlink(join(checkout, 'node_modules', name), join(packages, name))
  }
  await symlink(checkout, join(packages, 'durable-ptc'))
  await run(process.execPath, [join(checkout, 'node_modules/typescript/bin/tsc')], { cwd: project })
  return project
}

function startWorker(project: string, environment: NodeJS.ProcessEnv): ChildProcess {
  const worker = spawn(process.execPath, ['dist/worker.js'], { cwd: project, env: environment, stdio: 'inherit' })
  onTestFinished(() => void worker.kill('SIGKILL'))
  return worker
}

test('the example of an existing worker runs its workflow with a program, and ends on SIGTERM', async () => {
  const project = await buildExample()
  const { address, namespace } = sharedServer()
  const environment = { ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }
  const worker = startWorker(project, environment)
  const { stdout } = await run(process.execPath, ['dist/start.js'], { cwd: project, env: environment })
  expect(stdout).toBe('order of 128 x bolt is placed\norder of 111 x washer is placed\n')
  worker.kill('SIGTERM')
  expect(await once(worker, 'exit')).toEqual([0, null])
})
