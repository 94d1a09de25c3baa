import { join } from 'node:path'
import { watchWaitsOfRun } from '../../client/calls/waits-of-run.js'
import { createPtcClient } from '../../client/index.js'
import { raceWithSignal } from '../../common/async/abort.js'
import type { DisposableStack } from '../../common/async/disposable-stack.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { type ArmRuntime, type EvalArm, type EvalTask, scriptOf } from '../../evals/index.js'
import type { Script } from '../../testing/scripted-messages-api/script/script.js'
import { startWorker } from '../../worker/index.js'
import type { Environment } from '../environment/environment.js'
import { printStep } from '../process/stdio.js'
import { type ArmConfig, scriptNameOf } from './eval-config.js'

export interface ArmWorkerOptions {
  readonly environment: Environment
  readonly arm: EvalArm
  readonly tasks: readonly EvalTask[]
  readonly config: ArmConfig
  readonly stateDirectory: string
  /** Aborted with the failure of a worker that ended by itself. */
  readonly failed: AbortController
  /** The worker ends with it. */
  readonly stack: DisposableStack
  readonly signal: AbortSignal
}

/** Starts the worker of an arm in this process, with a scripted model if the arm has one. */
export async function startArm(options: ArmWorkerOptions): Promise<ArmRuntime> {
  const { environment, arm, tasks, config: armConfig, stateDirectory, stack, signal } = options
  const { config, agentOf, toolsOf, hasPrice } = armConfig
  const scriptName = scriptNameOf(arm.model)
  const scriptedModel = scriptName === undefined ? {} : await startScript(tasks, scriptName, stack)
  const worker = await raceWithSignal(
    signal,
    startWorker({
      config,
      server: environment.server,
      stallLog: join(stateDirectory, 'worker.log'),
      onProgress: printStep,
      ...scriptedModel,
    }),
  )
  let isClosing = false
  stack.defer(() => {
    isClosing = true
    return worker.shutdown()
  })
  const fail = (reason: string): void => {
    if (!isClosing) options.failed.abort(new PtcError('INTERNAL', `the worker of ${arm.name} ended: ${reason}`))
  }
  worker.ended.then(
    () => fail('by itself'),
    (thrown: unknown) => fail(messageOf(thrown)),
  )
  const client = createPtcClient({
    client: environment.client,
    taskQueue: config.taskQueue,
    values: environment.values,
    redact: config.redact,
  })
  const watchWaits: ArmRuntime['watchWaits'] = (workflowId, waiting) => watchWaitsOfRun(client, workflowId, waiting)
  return { client, watchWaits, agentOf, toolsOf, hasPrice, isFree: scriptName !== undefined }
}

async function startScript(
  tasks: readonly EvalTask[],
  name: string,
  stack: DisposableStack,
): Promise<{ readonly scriptedModelUrl: string }> {
  const { startScriptedMessagesApi } = await import('../../testing/scripted-messages-api/server.js')
  // The server checks the shape of the script.
  const api = await startScriptedMessagesApi({ script: scriptOf(tasks, name) as unknown as Script })
  stack.defer(() => api.close())
  return { scriptedModelUrl: api.url }
}
