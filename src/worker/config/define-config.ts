import type { Limits } from '../../common/limits.js'
import type { BuiltInBackend } from '../../common/plan.js'
import type { BackendDefinition } from '../../sandbox/define-backend.js'
import type { Duration } from '../../tools/duration.js'
import type { Tool } from '../../tools/tool.js'

/** What `ptc.config.ts` exports by default. */
export interface PtcConfig {
  // Any tool, whatever its schemas; defineTool has checked them against each other.
  readonly tools: readonly Pick<Tool, 'name'>[]
  readonly model?: {
    readonly provider?: 'anthropic'
    /** The provider's model id. */
    readonly name?: string
    /** Output tokens one reply may have. Default 8,192. */
    readonly maxTokens?: number
    /** Stands before the engine's own system prompt. */
    readonly instructions?: string
    /** How long the API may be silent before a call is given up. Default 60 seconds. */
    readonly idleTimeout?: Duration
  }
  readonly sandbox?: {
    /** `auto` (default): Docker where a daemon answers, else the embedded one. Or what `defineBackend` made. */
    readonly backend?: BuiltInBackend | 'auto' | BackendDefinition
    readonly docker?: {
      /** Default: built from the runner of this installation. */
      readonly image?: string
      /** An OCI runtime of the daemon, such as `runsc`. */
      readonly runtime?: string
      /** Containers kept started for sessions to come. Default 1; with `ptc worker` 0. */
      readonly warm?: number
    }
    readonly wasm?: {
      /** Interpreters kept ready. Default 1. */
      readonly warm?: number
    }
  }
  readonly limits?: Partial<Limits>
  readonly timings?: {
    /** A worker silent for so long is dead. Default 10 seconds. */
    readonly heartbeat?: Duration
    /** A sandbox host that takes no work for so long is gone. Default 30 seconds. */
    readonly host?: Duration
    /** One model call. Default 10 minutes. */
    readonly model?: Duration
    /** Opening a sandbox. Default 2 minutes. */
    readonly open?: Duration
    /** Code that waits for so long for tools or a timer gives its sandbox back meanwhile. Default 60 seconds. */
    readonly park?: Duration
    /** An agent that runs no code for so long gives its sandbox back meanwhile. Default 270 seconds. */
    readonly idle?: Duration
  }
  readonly sessions?: {
    /** A session (`ptc exec --session`) on which nothing is executed for so long ends. Default 270 seconds. */
    readonly idle?: Duration
    /** Executions one session takes. Default, and most, 1,000. */
    readonly executions?: number
  }
  /**
   * When the state of a session is kept between two cells, so that a rebuild need not begin at its first step; `false`: never. docs/limits.md
   * says what can be kept.
   */
  readonly snapshots?:
    | false
    | {
        /** Steps a rebuild may have to repeat before. Default 50. */
        readonly steps?: number
        /** Or the time these steps took. Default 20 seconds. */
        readonly time?: Duration
        /** A state that is larger is not kept. Default 32 MiB, and at most an eighth of the sandbox's memory. */
        readonly bytes?: number
      }
  /** Where what is too big for a history is kept. */
  readonly values?: {
    /** The biggest JSON, in bytes, that travels in the history itself. Default 4,096. */
    readonly inlineBytes?: number
    /** Default: the folder `.ptc/values` beside this file. */
    readonly store?: StoreOption
    /** How long a store that is full or does not answer is tried again. Default 2 minutes. */
    readonly patience?: Duration
  }
  /** Temporal task queue; default `durable-ptc`. */
  readonly taskQueue?: string
}

export type StoreOption = LocalStoreOption | S3StoreOption

/** Of one machine, or of several that share a disk. */
export interface LocalStoreOption {
  readonly kind: 'local'
  /** Relative to the configuration. Default `.ptc/values`. */
  readonly directory?: string
}

/** Of any number of machines. Credentials are found by the AWS SDK: environment, profile, role. */
export interface S3StoreOption {
  readonly kind: 's3'
  readonly bucket: string
  /** A folder in the bucket. */
  readonly prefix?: string
  /** Default: the AWS SDK's own, such as `AWS_REGION`. */
  readonly region?: string
  /** The address of a server other than Amazon's. */
  readonly endpoint?: string
  /** The bucket as part of the path, not of the host name: most other servers want it. Default false. */
  readonly forcePathStyle?: boolean
}

/** Types a configuration; it is checked when it is loaded. */
export function defineConfig(config: PtcConfig): PtcConfig {
  return config
}
