import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DisposableStack } from '../../common/async/disposable-stack.js'
import { PtcError } from '../../common/errors.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import { pluralize } from '../../common/text/text.js'
import { importModule } from '../../config/import-module.js'
import {
  checkModels,
  type EvalArm,
  EvalStore,
  type EvalSummary,
  type EvalTask,
  loadTasks,
  planEval,
  runEval,
  type SampleProgress,
  scriptOf,
  summarizeEval,
} from '../../evals/index.js'
import { makeFolder } from '../../platform/make-folder.js'
import { installRuntime } from '../../worker/index.js'
import { connectEnvironment } from '../environment/environment.js'
import { findStateDirectory } from '../environment/project.js'
import { resolveServer } from '../environment/server.js'
import { fileLog, redactErrors } from '../environment/worker-log.js'
import { exitCodes } from '../process/exit-code.js'
import { listenForInterrupts } from '../process/interrupts.js'
import { print, printStatus, printStyled } from '../process/stdio.js'
import { stdoutLayout } from '../rendering/text/colors.js'
import { oneLine } from '../rendering/text/sanitize.js'
import { startArm } from './arm-worker.js'
import { armConfig, digestOfArm, loadProjectConfig, scriptNameOf } from './eval-config.js'
import { evalVersion } from './eval-version.js'
import { renderEval } from './render-eval.js'
import { resultsPath } from './results-path.js'

export interface EvalCommandOptions {
  readonly shipped?: boolean
  readonly only?: readonly string[]
  readonly model?: readonly string[]
  readonly system?: readonly string[]
  readonly repeat: number
  readonly concurrency: number
  readonly retries: number
  readonly maxCost?: number
  readonly judgeModel?: string
  readonly label?: string
  readonly new?: boolean
  readonly minPassRate: number
  readonly results?: string
  readonly config?: string
  readonly sandbox?: BackendChoice
  readonly json?: boolean
}

/** Folder of the tasks that the package has. */
const shippedFolder = fileURLToPath(new URL('../../../evals', import.meta.url))

const maxArms = 8
const maxSamples = 20_000

/** Runs an eval, or continues the one that was interrupted. Returns the exit code. */
export async function runEvalCommand(paths: readonly string[], options: EvalCommandOptions): Promise<number> {
  const { sandbox, json = false, label = '', repeat: repeats, concurrency, retries, judgeModel, maxCost } = options
  using interrupts = listenForInterrupts()
  const project = await loadProjectConfig(options.config)
  const tasks = await chooseTasks(paths, options)
  const arms = await armsOf(options, project.resolved.runConfig.model).then((all) =>
    all.map((arm) => ({ ...arm, digest: digestOfArm(project, arm, sandbox) })),
  )
  if (tasks.length * arms.length * repeats > maxSamples)
    throw new PtcError('RUN_INPUT_INVALID', `the eval has over ${maxSamples} samples`)
  checkModels(tasks, { judgeModel, isScripted: arms.every(({ model }) => scriptNameOf(model) !== undefined) })
  const planned = planEval({ arms, repeats, label, version: await evalVersion(), maxCostUsd: maxCost }, tasks)
  // Each problem of a configuration is found before a server or a worker starts.
  const configs = arms.map((arm) => {
    const name = scriptNameOf(arm.model)
    if (name !== undefined) scriptOf(tasks, name)
    const config = armConfig({ project, tasks, arm, sandbox })
    if (maxCost !== undefined && name === undefined && !config.hasPrice) {
      throw new PtcError('RUN_INPUT_INVALID', `the price of ${arm.model} is unknown, so its cost can't be bounded`, {
        hint: 'Add the price to `models` of the configuration, or leave out --max-cost.',
      })
    }
    return config
  })
  const stateDirectory = findStateDirectory()
  const results = resultsPath(options.results)
  if (options.results === undefined) await makeFolder(stateDirectory, 0o700)
  using store = await EvalStore.open(results)
  const { id, isResumed } = store.begin(planned, options.new === true)
  printStatus(
    `${isResumed ? 'continuing' : 'eval'} ${id}: ${pluralize(tasks.length, 'task')}, ${arms.map(({ name }) => name).join(' and ')}, ${pluralize(planned.samples.length, 'sample')}`,
  )
  const { config } = configs[0] ?? {}
  if (config === undefined) throw new PtcError('RUN_INPUT_INVALID', 'an eval needs a model')
  const { values, encryption } = config
  const taskQueue = taskQueueOf(id, 0)
  const evalProject = { stateDirectory, config, taskQueue, store: values.store, currentKeyId: encryption?.currentKeyId }
  try {
    const server = await resolveServer(evalProject, { ifNoServer: 'start_with_worker', signal: interrupts.first })
    await using environment = await connectEnvironment({
      project: evalProject,
      server,
      startsWorker: false,
      sandbox,
      interrupts,
    })
    installRuntime('INFO', redactErrors(fileLog(join(stateDirectory, 'worker.log')), config.redact))
    await using stack = new DisposableStack()
    const failed = new AbortController()
    void environment.unexpectedExit.then((error) => failed.abort(error))
    const signal = AbortSignal.any([interrupts.first, failed.signal])
    const runtimes = []
    for (const [index, arm] of arms.entries()) {
      const armOptions = configs[index]
      if (armOptions === undefined) continue
      const queue = taskQueueOf(id, index)
      const own = { ...armOptions, config: { ...armOptions.config, taskQueue: queue } }
      runtimes.push(await startArm({ environment, arm, tasks, config: own, stateDirectory, failed, stack, signal }))
    }
    await runEval({
      store,
      id,
      tasks,
      runtimes,
      judgeModel,
      concurrency,
      retries,
      signal,
      onSample: (progress) => printSample(progress, arms),
    })
  } catch (thrown) {
    store.end(id)
    printStatus(`eval ${id} is not finished: the same command continues it`)
    throw thrown
  }
  const summary = summarizeEval(store.requireEval(id), store.arms(id), store.samples(id))
  if (json) print(JSON.stringify(summary, null, 2))
  else printStyled(renderEval(summary, stdoutLayout()))
  return exitCodeOfEval(summary, options.minPassRate)
}

/** Each arm of each eval has its own: a worker never gets the runs of another configuration. */
function taskQueueOf(id: string, arm: number): string {
  return `ptc-eval-${id}-${arm}`
}

/** 0 only when every sample was scored, and each arm passed often enough. */
function exitCodeOfEval({ counts, arms }: EvalSummary, minPassRate: number): number {
  const isScored = counts.passed + counts.failed === counts.total
  const isGood = arms.every(({ passRate }) => passRate !== null && passRate >= minPassRate)
  return isScored && isGood ? exitCodes.ok : exitCodes.failed
}

async function chooseTasks(
  paths: readonly string[],
  { shipped, only }: EvalCommandOptions,
): Promise<readonly EvalTask[]> {
  const all = [...(shipped === true ? [shippedFolder] : []), ...paths]
  if (all.length === 0) {
    throw new PtcError('RUN_INPUT_INVALID', 'name the files or folders of tasks, or --shipped', {
      hint: '(see `ptc eval --help`)',
    })
  }
  const tasks = await loadTasks({ paths: all, importModule: (path) => importModule(path, path) })
  if (only === undefined) return tasks
  const unknown = only.filter((name) => !tasks.some((task) => task.name === name))
  if (unknown.length === 0) return tasks.filter(({ name }) => only.includes(name))
  const names = tasks.map(({ name }) => name).join(', ')
  throw new PtcError('RUN_INPUT_INVALID', `there is no task ${unknown.join(', ')}`, { hint: `There are: ${names}.` })
}

type UndigestedArm = Omit<EvalArm, 'digest'>

/** An arm for each model and each system prompt. */
async function armsOf(
  { model, system }: EvalCommandOptions,
  configured: { readonly provider: string; readonly name: string },
): Promise<readonly UndigestedArm[]> {
  const models = [...new Set(model ?? [`${configured.provider}/${configured.name}`])]
  const prompts = await Promise.all((system ?? []).map(readSystem))
  const arms = models.flatMap((name): readonly UndigestedArm[] =>
    prompts.length === 0
      ? [{ name, model: name }]
      : prompts.map((prompt) => ({ name: `${name} ${basename(prompt.file)}`, model: name, system: prompt })),
  )
  if (arms.length <= maxArms) return arms
  throw new PtcError('RUN_INPUT_INVALID', `an eval has up to ${maxArms} models and system prompts, not ${arms.length}`)
}

const maxSystemBytes = 200_000

async function readSystem(file: string): Promise<{ readonly file: string; readonly text: string }> {
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new PtcError('RUN_INPUT_INVALID', `the system prompt ${file} can't be read`, { cause })
  })
  if (text.trim() !== '' && Buffer.byteLength(text) <= maxSystemBytes) return { file, text }
  throw new PtcError('RUN_INPUT_INVALID', `the system prompt ${file} is empty, or has over ${maxSystemBytes} bytes`)
}

function printSample({ sample, state, done, total, reason }: SampleProgress, arms: readonly EvalArm[]): void {
  const arm = arms.length > 1 ? ` [${arms[sample.arm]?.name ?? ''}]` : ''
  const repeat = sample.repeat > 1 ? ` #${sample.repeat}` : ''
  const why = reason === undefined ? '' : `: ${oneLine(reason)}`
  printStatus(`${done}/${total} ${state.replaceAll('_', ' ')} ${sample.task}${repeat}${arm}${why}`)
}
