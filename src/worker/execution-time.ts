import type { CompiledWorkerOptions } from '@temporalio/worker'

/**
 * How long workflow code may run without a pause. None of it loops for ever; but Node aborts the process when it is stopped at its time
 * ("async hook stack has become corrupted"), and a machine that is slow for a moment reaches the SDK's 5 seconds. The SDK takes this
 * without listing it among its options.
 */
export const executionTime: Pick<CompiledWorkerOptions, 'isolateExecutionTimeout'> = { isolateExecutionTimeout: '60s' }
