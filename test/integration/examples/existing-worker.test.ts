import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { buildExample } from '../../support/build-example.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

const run = promisify(execFile)

function startWorker(project: string, environment: NodeJS.ProcessEnv): ChildProcess {
  const worker = spawn(process.execPath, ['dist/worker.js'], { cwd: project, env: environment, stdio: 'inherit' })
  onTestFinished(() => void worker.kill('SIGKILL'))
  return worker
}

test('the example of an existing worker runs its workflow with a program, and ends on SIGTERM', async () => {
  const project = await buildExample('existing-worker')
  const { address, namespace } = sharedServer()
  const environment = { ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace }
  const worker = startWorker(project, environment)
  const { stdout } = await run(process.execPath, ['dist/start.js'], { cwd: project, env: environment })
  expect(stdout).toBe('order of 128 x bolt is placed\norder of 111 x washer is placed\n')
  worker.kill('SIGTERM')
  expect(await once(worker, 'exit')).toEqual([0, null])
})
