import type { ClientPlugin } from '@temporalio/client'
import type { BundlerPlugin, WorkerPlugin } from '@temporalio/worker'
import type { Agent } from '../agents/agent.js'
import type { Budget } from '../common/budget/budget.js'
import type { Limits } from '../common/run/limits.js'
import type { Effort, ServerTools, Thinking } from '../common/agent/model-settings.js'
import type { TaskMode } from '../common/agent/task-modes.js'
import type { Redact } from '../common/text/redact.js'
import type { BuiltInBackend } from '../common/run/run-config.js'
import type { ModelFacts } from '../models/facts/model-facts.js'
import type { BackendDefinition } from '../sandbox/define-backend.js'
import type { Duration } from '../common/text/duration.js'
import type { CredentialSource } from '../tools/credentials/credential-source.js'
import type { StreamSink } from '../stream/index.js'
import type { ToolSource } from '../tools/sources/tool-source.js'
import type { Tool } from '../tools/tool.js'
import type { StoreOption } from '../values/option.js'
import type { ApprovalsOption } from './options/approvals.js'
import type { AuditOption } from '../audit/option.js'
import type { EncryptionOption } from '../values/encryption/option.js'
import type { ProviderOption } from '../models/options/providers.js'

/** The default export of `ptc.config.ts`. */
export interface PtcConfig {
  /** What `defineTool` made, and sources that list such tools. docs/guides/tools.md */
  readonly tools: readonly (Pick<Tool, 'name'> | ToolSource)[]
  /** What `defineAgent` made; runs choose an agent by its name. Default: none. docs/guides/agents.md */
  readonly agents?: readonly Pick<Agent, 'name'>[]
  /**
   * Sources of the credentials of tools, by the name that tools declare: an environment variable, a file, a command, or
   * a function of the call. docs/guides/tools.md describes them. Default: none.
   */
  readonly credentials?: Readonly<Record<string, CredentialSource>>
  readonly model?: {
    /**
     * `PROVIDER/MODEL`, such as `openai/gpt-5.6`, or a model of Anthropic. A list: when the first one fails, the next
     * one answers. Default `claude-sonnet-5-5`. docs/guides/models.md#fallbacks
     */
    readonly name?: string | readonly string[]
    /** Maximum output tokens of one reply. Default 8,192. */
    readonly maxTokens?: number
    /**
     * Tokens of the context window, for all models of the configuration and its runs. Default: the window of a known
     * model of Anthropic; the window of other models is unknown. docs/guides/context.md describes it.
     */
    readonly contextWindow?: number
    /**
     * With more tools than this, each request has one line of each tool that code can call, and the model searches
     * their documentation. Default 40. docs/guides/context.md describes it.
     */
    readonly documentedTools?: number
    /**
     * From 0 to 2, or to 1 for models of Anthropic; some models accept none. Not together with `thinking`. Default: the
     * API's.
     */
    readonly temperature?: number
    /**
     * How much the model thinks before it replies: `'adaptive'` (as it decides), `'off'`, or `{ budgetTokens: 4096 }`,
     * at least 1,024 and less than `maxTokens`. Default: the API's.
     */
    readonly thinking?: Thinking
    /** How much work the model puts into a reply: `'low'` to `'max'`. Default: the API's. */
    readonly effort?: Effort
    /**
     * Tools that the model's server executes itself, in the form of its API, by provider: `{ anthropic: [{ type:
     * 'web_search_20260318', name: 'web_search' }] }`. Default: none.
     */
    readonly serverTools?: ServerTools
    /** Instructions for the model of runs without an agent, before the engine's own system prompt. Default: none. */
    readonly instructions?: string
    /** A model call fails when the API sends nothing for this long. Default 60 seconds. */
    readonly idleTimeout?: Duration
  }
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
  readonly sandbox?: {
    /**
     * `docker`, `wasm` (the embedded sandbox), or `auto`: Docker where a daemon answers, else the embedded sandbox.
     * `anthropic`: Anthropic executes the code of agents. Or the result of `defineBackend`. Default `auto`.
     * docs/guides/sandboxes.md describes them.
     */
    readonly backend?: BuiltInBackend | 'auto' | BackendDefinition
    readonly docker?: {
      /** Image of the sandbox. Default: built from the runner of this installation. */
      readonly image?: string
      /** OCI runtime of the daemon, such as `runsc`. Default: the daemon's. */
      readonly runtime?: string
      /** Size of the pool of idle containers. Default 1; with `ptc worker` 0. */
      readonly warm?: number
    }
    readonly wasm?: {
      /** Size of the pool of idle interpreters. Default 1. */
      readonly warm?: number
    }
  }
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
  readonly timeouts?: {
    /** Heartbeat timeout of activities. Default 10 seconds. */
    readonly heartbeat?: Duration
    /** Schedule-to-start timeout of a sandbox host's activities; then the session is rebuilt. Default 30 seconds. */
    readonly host?: Duration
    /** Timeout of one model call. Default 10 minutes. */
    readonly model?: Duration
    /** Timeout of opening a sandbox. Default 2 minutes. */
    readonly open?: Duration
    /** Code that waits this long for tools or a timer is parked: its sandbox is released. Default 60 seconds. */
    readonly park?: Duration
    /** An agent that runs no code for this long releases its sandbox. Default 270 seconds. */
    readonly idle?: Duration
    /**
     * Time that running tools and model calls get when a worker is stopped; then they are cancelled. Default 10
     * seconds.
     */
    readonly shutdown?: Duration
  }
  readonly sessions?: {
    /** A named session (`ptc exec --session`) ends after this long without an execution. Default 270 seconds. */
    readonly idle?: Duration
    /** Maximum number of executions of one named session, at most 1,000. Default 1,000. */
    readonly executions?: number
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
   * When a snapshot of a session's state is taken between two cells, so that a rebuild starts there and not at the
   * first step; `false`: never. docs/guides/long-runs.md lists the state that can be saved.
   */
  readonly snapshots?:
    | false
    | {
        /** Steps after which a snapshot is due. Default 50. */
        readonly steps?: number
        /** Time of steps after which a snapshot is due. Default 20 seconds. */
        readonly time?: Duration
        /** Maximum size of a snapshot. Default 32 MiB, and at most an eighth of the sandbox's memory. */
        readonly bytes?: number
      }
  /** Storage for values that are too large for a workflow history. */
  readonly values?: {
    /**
     * Where the values are: `{ kind: 'local', directory }`, or a bucket, `{ kind: 's3', bucket }`. Default: the folder
     * `.ptc/values` next to the configuration.
     */
    readonly store?: StoreOption
    /** How long requests to a full or unavailable store are retried. Default 2 minutes. */
    readonly retryFor?: Duration
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
