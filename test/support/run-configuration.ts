import type { Agents } from '../../src/agents/index.js'
import { defaultLimits } from '../../src/common/run/limits.js'
import type { RunDefaults } from '../../src/common/run/run-config.js'
import type { RunConfiguration } from '../../src/config/run/resolve-run.js'
import type { ToolRegistry } from '../../src/tools/registry.js'

const ms = 1_000

/** The defaults of the runs of a test. */
export const runDefaults: RunDefaults = {
  model: { provider: 'anthropic', name: 'large', maxTokens: 100 },
  backend: 'auto',
  limits: defaultLimits,
  timeouts: { heartbeatMs: ms, hostMs: ms, modelMs: ms, parkMs: ms, idleMs: ms },
  sessions: { idleMs: ms },
  approvals: { expiresMs: ms },
}

/** The part of a worker's configuration about runs, without what a test does not name. */
export function runConfiguration(
  registry: ToolRegistry,
  agents: Agents,
  settings: Partial<RunConfiguration> = {},
): RunConfiguration {
  return {
    defaults: runDefaults,
    registry,
    agents,
    providers: ['anthropic'],
    hostingProviders: ['anthropic'],
    models: {},
    dataFlow: undefined,
    instructions: undefined,
    language: 'python',
    environment: undefined,
    skills: [],
    backendsWithoutFiles: [],
    network: undefined,
    backendsWithoutNetwork: ['wasm'],
    ...settings,
  }
}
