import type { z } from 'zod'
import type { Budget } from '../common/budget/budget.js'
import type { JsonObject } from '../common/json/json.js'
import type { LanguageChoice } from '../common/run/language-names.js'
import type { EnvironmentOption } from '../common/run/environment.js'
import type { Limits } from '../common/run/limits.js'
import type { ImageChoice, PackageLists } from '../common/run/sandbox-image.js'
import type { NetworkOption } from '../common/run/network.js'
import type { TaskMode } from '../common/agent/task-modes.js'
import type { Effort, ModelSettings, ServerTools, Thinking } from '../common/agent/model-settings.js'

/** The sandbox that executes the code of a sub-agent. */
export type AgentSandbox = 'own' | 'parent'

/** A further sandbox of an agent. What is not said is as for the agent's own sandbox. */
export interface AgentSession {
  /** The language of its code; a list when each cell names its language. */
  readonly language?: LanguageChoice
  /** Its image, in Docker: `minimal`, `data`, `polyglot`, or the name of one. */
  readonly image?: string
  /** Packages that are installed on top of the image. */
  readonly packages?: PackageLists
  /** Hosts that its code may reach, or `false` for none. */
  readonly network?: NetworkOption | false
}

/** Argument of {@link defineAgent}. */
export interface AgentDefinition<Output extends z.ZodType = z.ZodType> {
  /** Name by which runs choose the agent. Letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string
  /** Instructions for the model. They replace `model.instructions` of the configuration. */
  readonly instructions: string
  /** What the agent does and returns, for the model of another agent that has this one as a sub-agent. */
  readonly description?: string
  /** The only tools of the agent, by definition or by name. Default: all tools of the configuration. */
  readonly tools?: readonly (string | { readonly name: string })[]
  /**
   * Names of the skills of the agent; `*` stands for any characters. `[]`: none. Default: all skills of the
   * configuration.
   */
  readonly skills?: readonly string[]
  /**
   * Sub-agents: the agents that this one may start, each as a tool with its name. By definition or by name. Default:
   * none.
   */
  readonly agents?: readonly (string | { readonly name: string })[]
  /**
   * For a sub-agent: `parent` executes its code in the sandbox of the agent that starts it, so that both see the same
   * variables. Then only the model of that agent can call it, and code can't. Default: `own`.
   */
  readonly sandbox?: AgentSandbox
  /**
   * The language of the code of the agent: `python`, `javascript` or `bash`; a list when its model chooses for each cell.
   * Default: as configured; with `sandbox: 'parent'` that of the parent.
   */
  readonly language?: LanguageChoice
  /**
   * True: runs accept uploads in `/tmp/in`, and keep what their code leaves in `/tmp/out`. Default: as configured.
   */
  readonly files?: boolean
  /**
   * Tools by which the model uses the sandbox directly, such as `execute_command` and `read_file`: `true`, a list of
   * their names, or `{ tools, sensitiveFiles }`. Default: as configured. docs/guides/environment.md describes them.
   */
  readonly environment?: EnvironmentOption
  /**
   * The image of the sandbox of the agent, in Docker: `minimal`, `data`, `polyglot`, or the name of one. Not with
   * `sandbox: 'parent'`. Default: as configured; with `packages`, `minimal`.
   */
  readonly image?: string
  /** Packages that are installed on top of the image: `{ pip: ['polars==1.9.0'] }`. Default: none. */
  readonly packages?: PackageLists
  /**
   * Further sandboxes of a run, by name: `['etl', 'web']`, or `{ etl: { image: 'data' }, web: { network: … } }`. Each
   * use of the code tool, and of the environment tools, may name one. Default: none. docs/guides/agents.md.
   */
  readonly sessions?: readonly string[] | Readonly<Record<string, AgentSession>>
  /** `PROVIDER/MODEL`, or a model of Anthropic; a list has fallbacks. Default: as configured. */
  readonly model?: string | readonly string[]
  /** From 0 to 2. Default: as configured. Not together with `thinking`. */
  readonly temperature?: number
  /** `'adaptive'`, `'off'` or `{ budgetTokens: 4096 }`. Default: as configured. */
  readonly thinking?: Thinking
  /** From `'low'` to `'max'`. Default: as configured. */
  readonly effort?: Effort
  /** Tools of the model's server, by provider. Default: as configured; `{}`: none. */
  readonly serverTools?: ServerTools
  /** Schema of the answer. Default: the answer is text. */
  readonly output?: Output
  /**
   * How the agent works on a question: `single-turn`, `answer`, `autonomous` or `plan`; docs/guides/task-modes.md.
   * Default: as configured.
   */
  readonly mode?: TaskMode
  /**
   * Mode `autonomous`: the tool, by definition or by name, that says whether the work is done. The engine calls it when
   * the model submits its answer.
   */
  readonly doneCheck?: string | { readonly name: string }
  /** Limits that differ from those of the configuration. */
  readonly limits?: Partial<Limits>
  /** What a run may use before it pauses or ends. Amounts here replace those of the configuration. */
  readonly budget?: Budget
  /** Hosts that the code of the agent may reach, or `false` for none. Default: as configured. docs/guides/network.md */
  readonly network?: NetworkOption | false
}

/** A checked agent, from {@link defineAgent}. Immutable. */
export interface Agent<Output extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly instructions: string
  readonly description: string | undefined
  /** Undefined: all tools of the configuration. */
  readonly tools: readonly (string | { readonly name: string })[] | undefined
  /** Patterns of names. Undefined: all skills of the configuration. */
  readonly skills: readonly string[] | undefined
  readonly agents: readonly (string | { readonly name: string })[]
  readonly sandbox: AgentSandbox
  /** Name of the language. Undefined: as configured. */
  readonly language: string | undefined
  /** Undefined: as configured. */
  readonly files: boolean | undefined
  /** Undefined: as configured. */
  readonly environment: EnvironmentOption | undefined
  /** Undefined: as configured. */
  readonly image: ImageChoice | undefined
  /** Further sandboxes, in the order of the definition. An undefined member is as for the agent's own sandbox. */
  readonly sessions: readonly {
    readonly name: string
    readonly language: string | undefined
    readonly image: ImageChoice | undefined
    readonly network: NetworkOption | false | undefined
  }[]
  readonly model: string | readonly string[] | undefined
  readonly settings: ModelSettings
  readonly serverTools: ServerTools | undefined
  readonly mode: TaskMode | undefined
  /** Name of the tool that checks whether the work is done. */
  readonly doneCheck: string | undefined
  readonly limits: Partial<Limits>
  readonly budget: Budget
  /** Undefined: as configured. */
  readonly network: NetworkOption | false | undefined
  readonly output: Output | undefined
  /** JSON Schema of the answer that the model submits; undefined without an output schema. */
  readonly outputSchema: JsonObject | undefined
}

const marker: unique symbol = Symbol.for('durable-ptc.agent')

/** Freezes an agent, and marks it so that {@link isAgent} of any copy of this package accepts it. */
export function sealAgent<A extends Agent>(agent: A): A {
  return Object.freeze(Object.defineProperty(agent, marker, { value: true }))
}

export function isAgent(value: unknown): value is Agent {
  return typeof value === 'object' && value !== null && marker in value
}
