import type { ClientPlugin } from '@temporalio/client'
import type { BundlerPlugin, WorkerPlugin } from '@temporalio/worker'
import type { Agent } from '../agents/agent.js'
import type { Budget } from '../common/budget/budget.js'
import type { EnvironmentOption } from '../common/run/environment.js'
import type { LanguageChoice } from '../common/run/language-names.js'
import type { Limits } from '../common/run/limits.js'
import type { NetworkOption } from '../common/run/network.js'
import type { TaskMode } from '../common/agent/task-modes.js'
import type { Redact } from '../common/text/redact.js'
import type { ModelFacts } from '../models/facts/model-facts.js'
import type { SandboxOption } from '../sandbox/option.js'
import type { Duration } from '../common/text/duration.js'
import type { CredentialSource } from '../tools/credentials/credential-source.js'
import type { StreamSink } from '../stream/index.js'
import type { McpServer } from '../tools/sources/mcp/server-options.js'
import type { OpenApiSource } from '../tools/sources/openapi/options.js'
import type { ToolSource } from '../tools/sources/tool-source.js'
import type { Tool } from '../tools/tool.js'
import type { StoreOption } from '../values/option.js'
import type { ApprovalsOption } from './options/approvals.js'
import type { DataFlowOption } from './options/data-flow.js'
import type { AuditOption } from '../audit/option.js'
import type { EncryptionOption } from '../values/encryption/option.js'
import type { ModelOption } from '../models/options/model.js'
import type { ProviderOption } from '../models/options/providers.js'
import type { TimeoutsOption } from './options/timeouts.js'

/** The default export of `ptc.config.ts`. */
export interface PtcConfig {
  /** What `defineTool` made, and sources that list such tools. docs/guides/tools.md */
  readonly tools: readonly (Pick<Tool, 'name'> | ToolSource)[]
  /**
   * MCP servers, by the first part of the names of their tools: `{ files: { command: 'npx', args: [...] } }` or
   * `{ github: { url } }`. docs/guides/mcp.md describes them. Default: none.
   */
  readonly mcp?: Readonly<Record<string, McpServer>>
  /**
   * APIs with an OpenAPI document, by the first part of the names of their tools: `{ github: { document:
   * './openapi.yaml' } }`. docs/guides/openapi.md describes them. Default: none.
   */
  readonly openapi?: Readonly<Record<string, OpenApiSource>>
  /**
   * A folder of skills, or several, relative to the configuration: each skill is a folder with a `SKILL.md`. Default:
   * none. docs/guides/skills.md describes them.
   */
  readonly skills?: string | readonly string[]
  /** What `defineAgent` made; runs choose an agent by its name. Default: none. docs/guides/agents.md */
  readonly agents?: readonly Pick<Agent, 'name'>[]
  /**
   * Sources of the credentials of tools, by the name that tools declare: an environment variable, a file, a command, or
   * a function of the call. docs/guides/tools.md describes them. Default: none.
   */
  readonly credentials?: Readonly<Record<string, CredentialSource>>
  readonly model?: ModelOption
  /**
   * Connections to models, by the first part of `model.name`. docs/guides/models.md describes them. `anthropic`, `openai`,
   * `bedrock`, `google` and other vendors need no entry: they find their keys in the environment.
   */
  readonly providers?: Readonly<Record<string, ProviderOption>>
  /**
   * Facts about models that are not known, by the name in `model.name`, such as `openai/gpt-5.6`: the `contextWindow`
   * in tokens, and the `price` in US dollars per million tokens. Default: none. docs/guides/models.md#prices-and-context-windows
   */
  readonly models?: ModelFacts
  readonly sandbox?: SandboxOption
  /**
   * The language of the code of runs, unless their agent or the run names one: `python`, `javascript` or `bash`; a list
   * for runs whose model chooses for each cell. Default `python`. docs/guides/languages.md describes them.
   */
  readonly language?: LanguageChoice
  /**
   * `true`: runs accept uploads in `/tmp/in`, and keep what their code leaves in `/tmp/out`, unless their agent says
   * otherwise. Default: only runs that ask for it. docs/guides/files.md describes them.
   */
  readonly files?: boolean
  /**
   * Tools by which models use the sandbox directly, such as `execute_command` and `read_file`, unless their agent says
   * otherwise: `true`, a list of their names, or `{ tools, sensitiveFiles }`. Default: none. docs/guides/environment.md
   * describes them.
   */
  readonly environment?: EnvironmentOption
  /**
   * `false`: code runs without a check for mistakes. Default: each cell is checked before it runs, and does not run when
   * the check finds a mistake. docs/reference/python.md describes it.
   */
  readonly checkCode?: false
  /**
   * Hosts that code may reach, unless its agent says otherwise: `{ allow: ['api.example.com', '*.pypi.org'] }`. Default:
   * code reaches no network. docs/guides/network.md describes it.
   */
  readonly network?: NetworkOption
  /** Limits of a run, of its cells and of its sandbox. docs/reference/limits.md lists them. */
  readonly limits?: Partial<Limits>
  /**
   * How agent runs work on their question, unless their agent or the run sets a mode: `single-turn`, `answer`,
   * `autonomous` or `plan`. Default `answer`. docs/guides/task-modes.md describes them.
   */
  readonly mode?: TaskMode
  /**
   * What an agent or a conversation may use (`costUsd`, `tokens`, `turns`, `toolCalls`, `seconds`) before it pauses, or
   * ends (`whenSpent: 'end'`). Default: no bound. docs/guides/budgets.md describes it.
   */
  readonly budget?: Budget
  /**
   * Rules on the tools, and the answer, that may receive data with a label. Default: data may go anywhere.
   * docs/guides/data-flow.md describes it.
   */
  readonly dataFlow?: DataFlowOption
  readonly timeouts?: TimeoutsOption
  readonly sessions?: {
    /** A named session (`ptc exec --session`) ends after this long without an execution. Default 270 seconds. */
    readonly idle?: Duration
  }
  /**
   * When the messages of a run are compacted, because the context window of the model gets full; `false`: never.
   * docs/guides/context.md describes it.
   */
  readonly compaction?:
    | false
    | {
        /** Share of the window in use, from 0.2 to 0.95. Default 0.8. */
        readonly threshold?: number
        /**
         * The API clears old results by itself before that, if it can (Anthropic). Then the messages that the model
         * read are not in the history. Default false.
         */
        readonly provider?: boolean
      }
  /**
   * `false`: no snapshots of a session's state are taken, from which a rebuild starts in place of the first step.
   * Default: snapshots are taken. docs/guides/long-runs.md lists the state that can be saved.
   */
  readonly snapshots?: false
  /** Storage for values that are too large for a workflow history. */
  readonly values?: {
    /**
     * Where the values are: `{ kind: 'local', directory }`, or a bucket, `{ kind: 's3', bucket }`. Default: the folder
     * `.ptc/values` next to the configuration.
     */
    readonly store?: StoreOption
  }
  /**
   * Encrypts all payloads in Temporal, and all values in the store. Default: nothing is encrypted. docs/guides/privacy.md describes
   * it.
   */
  readonly encryption?: EncryptionOption
  /**
   * Redacts texts that durable-ptc writes for people to read: summaries and details in the Temporal UI, the code in the
   * audit log, errors in the log of `ptc worker`. Default: texts stay unchanged.
   */
  readonly redact?: Redact
  /** Approval of calls by people. docs/guides/approvals.md describes it. */
  readonly approvals?: ApprovalsOption
  /**
   * Which code runs executed, which calls they made, and how they ended: a file (`{ file: 'audit.jsonl' }`) or a sink.
   * `includesCode`: includes the code itself. Default: no log. docs/guides/monitoring.md describes it.
   */
  readonly audit?: AuditOption
  /**
   * Store of the live stream of runs: `fileStream({ folder: '.ptc/stream' })` for one machine, `redisStream({ url })`
   * for a fleet. Default: `.ptc/stream` with the server of `ptc dev`, else none. docs/guides/streaming.md describes it.
   */
  readonly stream?: StreamSink
  /**
   * Traces: `new OpenTelemetryPlugin({ resource, spanProcessor })` of `@temporalio/interceptors-opentelemetry`.
   * Default: none. docs/guides/monitoring.md has an example.
   */
  readonly tracing?: TracingPlugin
  /** Addresses that `ptc worker` serves by HTTP. Its options and environment variables override them. */
  readonly endpoints?: {
    /** Metrics for Prometheus, such as `127.0.0.1:9464`, or `:9464` for every interface. Default: none. */
    readonly metrics?: string
    /** Health and readiness for probes. Default: none. */
    readonly health?: string
  }
  /** Temporal task queue. Default `durable-ptc`. */
  readonly taskQueue?: string
}

/** The plugin of `@temporalio/interceptors-opentelemetry`, or one like it. */
export type TracingPlugin = WorkerPlugin & ClientPlugin & BundlerPlugin

/** Gives a configuration its type. It is checked when it is loaded. */
export function defineConfig(config: PtcConfig): PtcConfig {
  return config
}
