import type { WorkflowInterceptors } from '@temporalio/workflow'
import { QueryGuard } from './query-guard.js'
import { SignalGuard } from './signal-guard.js'

/** The interceptors that the build puts into every workflow bundle. */
export const interceptors = (): WorkflowInterceptors => ({ internals: [new SignalGuard(), new QueryGuard()] })
