import { PtcError } from '../../common/errors.js'
import { pluralize } from '../../common/text/text.js'
import type { EvalTask } from './load-tasks.js'

/** The agent that answers a task in an eval: a definition that the configuration of the eval has. */
export interface TaskAgent {
  readonly name: string
  readonly instructions: string
  readonly tools: readonly string[]
  /** Schema of the answer, from the module of the task. Undefined: the answer is text. */
  readonly output: unknown
}

const defaultInstructions = 'Answer the question of the user. Use the tools, and compute with code.'

export interface TaskAgentOptions {
  /** Instructions that replace those of tasks without an agent of their own. */
  readonly system: string | undefined
  /** Names of the tools of tasks that name none. The tools of other tasks are never among them. */
  readonly defaultTools: readonly string[]
}

/** Tools, agents and schemas that the modules of tasks export, and the agents that tasks need. */
export interface TaskDefinitions {
  readonly tools: readonly unknown[]
  readonly agents: readonly unknown[]
  readonly taskAgents: ReadonlyMap<string, TaskAgent>
  readonly toolsOf: (task: EvalTask) => readonly string[]
}

/**
 * Collects what the modules of tasks define. Two tasks may share a definition, and not a name for two definitions.
 *
 * @throws PtcError EVAL_TASK_INVALID
 */
export function taskAgents(tasks: readonly EvalTask[], { system, defaultTools }: TaskAgentOptions): TaskDefinitions {
  const problems: string[] = []
  const collect = (kind: 'tools' | 'agents'): readonly unknown[] => {
    const byName = new Map<string, { readonly value: unknown; readonly task: string }>()
    for (const task of tasks) {
      for (const value of exportsOf(task)[kind] ?? []) {
        const name = nameOf(value)
        if (name === undefined) problems.push(`task ${task.name}: ${kind} of its module has an entry without a name`)
        else if ((byName.get(name)?.value ?? value) !== value)
          problems.push(`tasks ${byName.get(name)?.task} and ${task.name} both define ${name}`)
        else byName.set(name, { value, task: task.name })
      }
    }
    return [...byName.values()].map(({ value }) => value)
  }
  const tools = collect('tools')
  const agents = collect('agents')
  const toolsOf = (task: EvalTask): readonly string[] => {
    const own = exportsOf(task).tools?.flatMap((tool) => nameOf(tool) ?? [])
    return task.setup.tools ?? own ?? defaultTools
  }
  const taskAgentEntries = tasks.flatMap((task) => {
    const { setup, name } = task
    const { output } = exportsOf(task)
    if (setup.agent !== undefined) {
      if (output !== undefined || setup.instructions !== undefined || setup.tools !== undefined)
        problems.push(`task ${name}: an agent has its own output, instructions and tools`)
      return []
    }
    const instructions = system ?? setup.instructions
    if (output === undefined && instructions === undefined) return []
    const agent: TaskAgent = {
      name: `eval_${name.replaceAll('-', '_')}`,
      instructions: instructions ?? defaultInstructions,
      tools: toolsOf(task),
      output,
    }
    return [[name, agent] as const]
  })
  if (problems.length > 0) {
    throw new PtcError(
      'EVAL_TASK_INVALID',
      `the tasks have ${pluralize(problems.length, 'problem')}:\n${problems.join('\n')}`,
    )
  }
  return { tools, agents, taskAgents: new Map(taskAgentEntries), toolsOf }
}

interface ModuleExports {
  readonly tools?: readonly unknown[]
  readonly agents?: readonly unknown[]
  readonly output?: unknown
}

function exportsOf({ setup, modules }: EvalTask): ModuleExports {
  const { tools, agents, output } = (setup.module === undefined ? undefined : modules.get(setup.module)) ?? {}
  return {
    ...(Array.isArray(tools) && { tools: tools as readonly unknown[] }),
    ...(Array.isArray(agents) && { agents: agents as readonly unknown[] }),
    ...(output !== undefined && { output }),
  }
}

function nameOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || !('name' in value)) return undefined
  return typeof value.name === 'string' ? value.name : undefined
}

/**
 * Refuses models that an eval can't run, before it starts anything.
 *
 * @throws PtcError EVAL_TASK_INVALID, RUN_INPUT_INVALID
 */
export function checkModels(
  tasks: readonly EvalTask[],
  options: { readonly judgeModel: string | undefined; readonly isScripted: boolean },
): void {
  if (options.isScripted || options.judgeModel !== undefined) return
  const unjudged = tasks.filter(({ check }) =>
    check.some(({ judge }) => judge !== undefined && judge.model === undefined),
  )
  if (unjudged.length === 0) return
  throw new PtcError(
    'RUN_INPUT_INVALID',
    `no model judges the answers of ${unjudged.map(({ name }) => name).join(', ')}`,
    {
      hint: 'Name one: --judge-model PROVIDER/MODEL.',
    },
  )
}
