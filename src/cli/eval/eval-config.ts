import { dirname } from 'node:path'
import type { z } from 'zod'
import { defineAgent } from '../../agents/index.js'
import { digestJson } from '../../common/calls/call-identity.js'
import { messageOf, PtcError } from '../../common/errors.js'
import type { JsonValue } from '../../common/json/json.js'
import { scriptedModelName } from '../../common/names.js'
import type { BackendChoice } from '../../common/run/run-config.js'
import { zeroUsage } from '../../common/run/runs.js'
import { importConfig } from '../../config/load-config.js'
import { parseConfig } from '../../config/parse-config.js'
import {
  type EvalArm,
  type EvalTask,
  judgeAgentName,
  judgeInstructions,
  judgeOutput,
  taskAgents,
} from '../../evals/index.js'
import { configuredCost } from '../../models/facts/model-facts.js'
import { costOf } from '../../models/facts/prices.js'
import { overrideBackend } from '../environment/cli-worker.js'
import type { LoadedConfig } from '../environment/project.js'

/** The configuration of the project, before the tools of tasks are added to it. */
export interface ProjectConfig {
  /** `{ tools: [] }` when the project has none. */
  readonly value: Readonly<Record<string, unknown>>
  readonly path: string
  readonly resolved: LoadedConfig
}

/**
 * Loads the configuration of the project, if it has one.
 *
 * @throws PtcError CONFIG_INVALID …; CONFIG_NOT_FOUND only when `file` names it
 */
export async function loadProjectConfig(file: string | undefined): Promise<ProjectConfig> {
  const loaded = await importConfig(file).catch((thrown: unknown) => {
    const isMissing = file === undefined && PtcError.isInstance(thrown) && thrown.code === 'CONFIG_NOT_FOUND'
    if (!isMissing) throw thrown
    return { value: { tools: [] }, path: `${process.cwd()}/ptc.config.ts`, displayPath: 'the configuration' }
  })
  const { path, displayPath } = loaded
  const resolved = { ...parseConfig(loaded.value, displayPath, dirname(path)), path }
  // The schema of the configuration has accepted the value.
  return { value: loaded.value as Readonly<Record<string, unknown>>, path, resolved }
}

const scriptedPattern = /^scripted(?::([a-z][a-z0-9-]*))?$/

/** The name of the script of an arm. Undefined: a real model answers. */
export function scriptNameOf(model: string): string | undefined {
  const match = scriptedPattern.exec(model)
  return match === null ? undefined : (match[1] ?? 'solution')
}

/** The configuration of the workers of an arm: that of the project, with the tools and agents of the tasks. */
export interface ArmConfig {
  readonly config: LoadedConfig
  readonly agentOf: (task: EvalTask) => string | undefined
  readonly toolsOf: (task: EvalTask) => readonly string[]
  readonly hasPrice: boolean
}

export interface ArmConfigOptions {
  readonly project: ProjectConfig
  readonly tasks: readonly EvalTask[]
  readonly arm: EvalArm
  readonly sandbox: BackendChoice | undefined
}

/** @throws PtcError EVAL_TASK_INVALID, CONFIG_INVALID, TOOL_DUPLICATE and others of a configuration */
export function armConfig({ project, tasks, arm, sandbox }: ArmConfigOptions): ArmConfig {
  const { value, path, resolved } = project
  const definitions = taskAgents(tasks, { system: arm.system?.text, defaultTools: resolved.tools.known.names })
  const judge = defineAgent({ name: judgeAgentName, instructions: judgeInstructions, tools: [], output: judgeOutput })
  const agents = [...definitions.taskAgents].map(([task, { name, instructions, tools, output }]) => {
    try {
      // A module exports any value: defineAgent checks it.
      return defineAgent({ name, instructions, tools, ...(output !== undefined && { output: output as z.ZodType }) })
    } catch (cause) {
      throw new PtcError('EVAL_TASK_INVALID', `task ${task}: ${messageOf(cause)}`, { cause })
    }
  })
  const listOf = (key: string): readonly unknown[] => {
    const list = value[key]
    return Array.isArray(list) ? (list as readonly unknown[]) : []
  }
  const model = typeof value['model'] === 'object' && value['model'] !== null ? value['model'] : {}
  const name = scriptNameOf(arm.model) === undefined ? { name: arm.model } : {}
  const parsed = parseConfig(
    {
      ...value,
      tools: [...listOf('tools'), ...definitions.tools],
      agents: [...listOf('agents'), ...definitions.agents, ...agents, judge],
      model: { ...model, ...name },
    },
    'the configuration of the eval',
    dirname(path),
  )
  const config = overrideBackend({ ...parsed, path }, sandbox)
  const { fallbacks: _, ...configuredModel } = config.runConfig.model
  const scripted = scriptNameOf(arm.model) !== undefined
  const answering = scripted ? { ...configuredModel, name: scriptedModelName } : configuredModel
  return {
    config: { ...config, runConfig: { ...config.runConfig, model: answering } },
    agentOf: (task) => task.setup.agent ?? definitions.taskAgents.get(task.name)?.name,
    toolsOf: definitions.toolsOf,
    hasPrice:
      !scripted && (configuredCost(config.models, answering, zeroUsage) ?? costOf(answering.name, zeroUsage)) !== null,
  }
}

/** The digest of everything but tasks that decides on the answers of an arm. */
export function digestOfArm(
  { resolved }: ProjectConfig,
  arm: Pick<EvalArm, 'model' | 'system'>,
  sandbox: BackendChoice | undefined,
): string {
  const { runConfig, tools, instructions } = resolved
  const settings = JSON.parse(JSON.stringify({ runConfig, instructions })) as JsonValue
  return digestJson([arm.model, arm.system?.text ?? null, settings, tools.known.digest, sandbox ?? null])
}
