import { metricMeter } from '@temporalio/workflow'
import { Metrics } from '../../common/telemetry/metrics.js'

/** Metrics of workflow code. Temporal records nothing while a workflow is replayed. */
export const metrics = new Metrics(metricMeter)
