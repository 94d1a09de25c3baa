import { defaultLimits, type Limits } from '../../../src/common/run/limits.js'
import type { SandboxSpec } from '../../../src/sandbox/backend.js'

/** The spec of a sandbox, for tests whose backend has no other sandboxes. */
export function createSpec(session: string, limits: Partial<Limits> = {}): SandboxSpec {
  return {
    namespace: 'test',
    session,
    epoch: 1,
    workflowId: session,
    runId: 'run',
    language: 'python',
    limits: { ...defaultLimits, ...limits },
  }
}
