import { z } from 'zod'
import { limitsSchema } from '../../activities/limits-schema.js'
import { PtcError } from '../../common/errors.js'
import { defaultTaskQueue } from '../../common/names.js'
import type { BackendChoice, BuiltInBackend, RunPlan } from '../../common/plan.js'
import { defaultModel } from '../../models/prices.js'
import { type BackendDefinition, isBackendDefinition } from '../../sandbox/define-backend.js'
import { createRegistry, type ToolRegistry } from '../../tools/registry.js'
import type { Tool } from '../../tools/tool.js'
import type { ValuesSettings } from '../../values/settings.js'
import { durationOption } from './duration-option.js'
import { snapshotPlan, snapshotsOption } from './snapshots-option.js'
import { valuesOption, valuesSettings } from './values-option.js'

const whole = z.int().min(1)

const backendNames: readonly unknown[] = ['auto', 'docker', 'wasm'] satisfies readonly (BuiltInBackend | 'auto')[]
const isBackend = (value: unknown): boolean => backendNames.includes(value) || isBackendDefinition(value)

const schema = z.strictObject({
  tools: z.array(z.unknown()),
  model: z
    .strictObject({
      provider: z.literal('anthropic').default('anthropic'),
      name: z.string().min(1).default(defaultModel),
      maxTokens: whole.default(8_192),
      instructions: z.string().optional(),
      idleTimeout: durationOption('60s'),
    })
    .prefault({}),
  sandbox: z
    .strictObject({
      backend: z
        .custom<BuiltInBackend | 'auto' | BackendDefinition>(
          isBackend,
          'must be "auto", "docker", "wasm" or what defineBackend made',
        )
        .default('auto'),
      docker: z
        .strictObject({
          image: z.string().min(1).optional(),
          runtime: z.string().min(1).optional(),
          warm: z.int().min(0).optional(),
        })
        .prefault({}),
      wasm: z.strictObject({ warm: z.int().min(0).default(1) }).prefault({}),
    })
    .prefault({}),
  limits: limitsSchema.prefault({}),
  timings: z
    .strictObject({
      heartbeat: durationOption('10s'),
      host: durationOption('30s'),
      model: durationOption('10m'),
      open: durationOption('2m'),
      park: durationOption('60s'),
      idle: durationOption('270s'),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      idle: durationOption('270s'),
      executions: whole.max(1_000, 'a Temporal workflow takes 2,000 updates; at most 1,000').default(1_000),
    })
    .prefault({}),
  snapshots: snapshotsOption,
  values: valuesOption.prefault({}),
  taskQueue: z.string().min(1).max(200).default(defaultTaskQueue),
})

type Parsed = z.output<typeof schema>

/** A checked configuration with every default filled in. */
export interface ResolvedConfig {
  readonly plan: RunPlan
  readonly registry: ToolRegistry
  readonly instructions: string | undefined
  readonly idleTimeoutMs: number
  readonly sandbox: Omit<Parsed['sandbox'], 'backend'> & {
    readonly backend: BackendChoice
    /** The backend that the configuration brings; in use when `backend` is its name. */
    readonly own: BackendDefinition | undefined
  }
  readonly values: ValuesSettings
  readonly taskQueue: string
}

/**
 * @param source for messages: the file's name
 * @param folder where it is: relative folders begin there
 * @throws PtcError CONFIG_INVALID, TOOL_DUPLICATE
 */
export function parseConfig(config: unknown, source: string, folder = process.cwd()): ResolvedConfig {
  const parsed = schema.safeParse(config)
  if (!parsed.success) {
    throw new PtcError('CONFIG_INVALID', `${source} is not a valid configuration:\n${z.prettifyError(parsed.error)}`, {
      hint: 'See "Configuration" in the README.',
    })
  }
  const {
    model,
    sandbox,
    limits: configuredLimits,
    timings,
    sessions,
    snapshots,
    taskQueue,
    tools,
    values,
  } = parsed.data
  const own = typeof sandbox.backend === 'string' ? undefined : sandbox.backend
  const backend = typeof sandbox.backend === 'string' ? sandbox.backend : sandbox.backend.name
  // createRegistry checks that each is a tool.
  const registry = createRegistry(tools as readonly Tool[])
  return {
    plan: {
      tools: registry.plans(),
      sessions: { idleMs: sessions.idle, executions: sessions.executions },
      ...(snapshots === false ? {} : { snapshots: snapshotPlan(snapshots) }),
      model: { provider: model.provider, name: model.name, maxTokens: model.maxTokens },
      backend,
      limits: configuredLimits,
      timings: {
        heartbeatMs: timings.heartbeat,
        hostMs: timings.host,
        modelMs: timings.model,
        openMs: timings.open,
        parkMs: timings.park,
        idleMs: timings.idle,
      },
    },
    registry,
    instructions: model.instructions,
    idleTimeoutMs: model.idleTimeout,
    sandbox: { ...sandbox, backend, own },
    values: valuesSettings(values, folder),
    taskQueue,
  }
}
