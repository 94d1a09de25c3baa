import { defaultLimits, type Limits } from '../../../src/common/run/limits.js'
import type { RunConfig } from '../../../src/common/run/run-config.js'
import type { RunCounts, RunKind } from '../../../src/common/run/runs.js'
import { Run, type RunDataState } from '../../../src/workflows/run/run.js'

interface TestRunOptions extends Partial<Omit<RunDataState, 'config'>> {
  readonly kind?: RunKind
  readonly limits?: Partial<Limits>
  readonly config?: Partial<Record<keyof RunConfig, unknown>>
  readonly counts?: RunCounts
}

/** A run with the parts of a configuration that a test of workflow code needs. */
export function testRun({ kind = 'program', limits, config, ...state }: TestRunOptions = {}): Run {
  const identity = { namespace: 'default', workflowId: 'run', firstExecutionRunId: 'first' }
  const defaults = { tools: [], timeouts: {}, toolSet: {}, limits: { ...defaultLimits, ...limits } }
  return new Run(kind, identity, { ...state, config: { ...defaults, ...config } as unknown as RunConfig })
}
