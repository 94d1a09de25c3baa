import { join } from 'node:path'
import { z } from 'zod'
import { type Script, type ScriptedMessagesApi, startScriptedMessagesApi } from '../../../src/testing/index.js'
import { type EnvironmentVariables, type ProcessResult, type PtcProcess, TestProject } from '../cli/ptc.js'
import { sharedServer } from '../temporal/shared-server.js'

const counts = z.object({
  total: z.number(),
  passed: z.number(),
  failed: z.number(),
  errors: z.number(),
  judgeFailed: z.number(),
  notRun: z.number(),
  unfinished: z.number(),
})

const sample = z.object({
  task: z.string(),
  state: z.string(),
  kind: z.string().nullable(),
  reason: z.string().nullable(),
  attempt: z.number(),
  repeat: z.number(),
  workflow_id: z.string().nullable(),
  cost_usd: z.number().nullable(),
  spent_usd: z.number(),
  input_tokens: z.number().nullable(),
  milliseconds: z.number().nullable(),
  interrupted: z.number(),
})

/** The parts of `ptc eval show --json` that tests read. */
const shown = z.object({
  id: z.string(),
  finishedAt: z.string().nullable(),
  counts,
  arms: z.array(
    z.object({ passRate: z.number().nullable(), spentUsd: z.number(), failures: z.record(z.string(), z.number()) }),
  ),
  samples: z.array(sample),
})

/** The model of the evals of tests: one with a known price. */
export const evalModel = 'claude-sonnet-4-6'

/** A project with tasks, and a model that this process scripts and counts. */
export class EvalProject implements AsyncDisposable {
  readonly api: ScriptedMessagesApi
  readonly project: TestProject

  private constructor(api: ScriptedMessagesApi, project: TestProject) {
    this.api = api
    this.project = project
  }

  /** @param variables further environment variables of `ptc` */
  static async create(
    files: Readonly<Record<string, string>>,
    script: Script,
    variables: EnvironmentVariables = {},
  ): Promise<EvalProject> {
    const api = await startScriptedMessagesApi({ script })
    const { address, namespace } = sharedServer()
    const environment = {
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
      ANTHROPIC_BASE_URL: api.url,
      ANTHROPIC_API_KEY: 'test',
      ...variables,
    }
    const config = "export default { tools: [], sandbox: { backend: 'wasm' } }"
    return new EvalProject(api, await TestProject.create({ 'ptc.config.ts': config, ...files }, environment))
  }

  get results(): string {
    return join(this.project.folder, '.ptc/evals.db')
  }

  start(...evalArguments: readonly string[]): PtcProcess {
    return this.project.start('eval', '--model', evalModel, ...evalArguments)
  }

  run(...evalArguments: readonly string[]): Promise<ProcessResult> {
    return this.start(...evalArguments).input('').result
  }

  /** @param environment replaces variables of this process */
  runWith(environment: EnvironmentVariables, ...evalArguments: readonly string[]): Promise<ProcessResult> {
    return this.project.startWith(environment, 'eval', '--model', evalModel, ...evalArguments).input('').result
  }

  /** The latest eval. */
  async latest() {
    const { stdout } = await this.project.run('eval', 'list', '--json')
    const [{ id }] = z
      .tuple([z.object({ id: z.string() })])
      .rest(z.unknown())
      .parse(JSON.parse(stdout))
    return this.show(id)
  }

  async show(id: string) {
    const { stdout } = await this.project.run('eval', 'show', id, '--json')
    return shown.parse(JSON.parse(stdout))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.project[Symbol.asyncDispose]()
    await this.api.close()
  }
}

/** A task file. */
export function task(prompt: string, rest = 'check: [{ contains: 42 }]'): string {
  return `prompt: ${JSON.stringify(prompt)}\n${rest}\n`
}
