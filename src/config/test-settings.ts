import type { LoweredLimits } from '../common/run/limits.js'
import type { SnapshotConfig, Timeouts } from '../common/run/run-config.js'

/**
 * Other values of constants, in the member `[testSettings]` of a configuration. Only tests set it: they reach a limit or
 * a timeout sooner, or wait longer on a busy machine. It is no option, so no schema and no reference page has it.
 */
export interface TestSettings {
  readonly limits?: LoweredLimits
  readonly timeouts?: Partial<Pick<Timeouts, 'heartbeatMs' | 'hostMs'>>
  readonly snapshots?: SnapshotConfig
  /** Milliseconds for which requests to the value store are retried. */
  readonly retryForMs?: number
}

export const testSettings: unique symbol = Symbol.for('durable-ptc.test-settings')

/** Returns the settings of a configuration; empty without any. */
export function testSettingsOf(config: unknown): TestSettings {
  return (config as { readonly [testSettings]?: TestSettings } | null | undefined)?.[testSettings] ?? {}
}
