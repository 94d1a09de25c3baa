import type { LoweredLimits, Limits } from '../../../src/common/run/limits.js'
import { defined } from '../../../src/common/defined.js'
import { type Duration, parseDuration } from '../../../src/common/text/duration.js'
import type { PtcConfig } from '../../../src/config/define-config.js'
import { testSettings, type TestSettings } from '../../../src/config/test-settings.js'

/** Options of a configuration with other values for constants, which a test reaches sooner or must not reach. */
export interface TestOptions {
  readonly limits?: (Partial<Limits> & LoweredLimits) | undefined
  readonly timeouts?: (NonNullable<PtcConfig['timeouts']> & FixedTimeouts) | undefined
  readonly snapshots?: false | { readonly steps?: number; readonly time?: Duration } | undefined
  readonly retryForMs?: number | undefined
}

interface FixedTimeouts {
  readonly heartbeat?: Duration
  readonly host?: Duration
}

/** Returns the members of a configuration for these options. */
export function testConfig(
  options: TestOptions,
): Pick<PtcConfig, 'limits' | 'timeouts' | 'snapshots'> & { readonly [testSettings]: TestSettings } {
  const { snapshots, retryForMs } = options
  const { historyEvents, wakesPerCell, deferredCalls, compensations, sessionExecutions, ...limits } =
    options.limits ?? {}
  const { heartbeat, host, ...timeouts } = options.timeouts ?? {}
  const lowered = defined({ historyEvents, wakesPerCell, deferredCalls, compensations, sessionExecutions })
  const settings: TestSettings = {
    ...(Object.keys(lowered).length > 0 && { limits: lowered }),
    timeouts: defined({ heartbeatMs: msOf(heartbeat), hostMs: msOf(host) }),
    ...(snapshots && { snapshots: defined({ everySteps: snapshots.steps, everyMs: msOf(snapshots.time) }) }),
    ...defined({ retryForMs }),
  }
  return { limits, timeouts, ...(snapshots === false && { snapshots }), [testSettings]: settings }
}

function msOf(duration: Duration | undefined): number | undefined {
  return duration === undefined ? undefined : parseDuration(duration)
}
