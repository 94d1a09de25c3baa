import type { CompiledWorkerOptions } from '@temporalio/worker'

/**
 * Maximum time for which workflow code runs without a pause. The SDK's 5 seconds are too short on a machine that is
 * slow for a moment, and Node aborts the process when the timeout fires ("async hook stack has become corrupted"). The
 * SDK accepts this option but does not document it.
 */
export const isolateTimeout: Pick<CompiledWorkerOptions, 'isolateExecutionTimeout'> = { isolateExecutionTimeout: '60s' }
