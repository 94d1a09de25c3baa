import { expect, it, onTestFinished } from 'vitest'
import { metrics } from '../../common/telemetry/metrics.js'
import { usageSampler } from './usage-sampler.js'

it('counts the processor time of a container between two samples once', async () => {
  let total = 0
  const add = (value: number): void => void (total += value)
  const ignored = { set: () => undefined, record: () => undefined }
  metrics.use({
    createCounter: () => ({ add }),
    createGauge: () => ignored,
    createHistogram: () => ignored,
  })
  onTestFinished(() => metrics.use(undefined))
  let cpu: Readonly<Record<string, number>> = {}
  const docker = {
    sampleUsage: async () => ({
      states: new Map(),
      sampled: Object.entries(cpu).map(([containerId, cpuMs]) => ({ containerId, memoryBytes: 0, cpuMs })),
    }),
  }
  const sample = usageSampler({ docker, owner: 'default' })
  const totals: number[] = []
  for (cpu of [
    { old: 5_000 }, // counted before this worker
    { old: 5_100, new: 200 },
    { new: 300 }, // the other container is not in the sample
    { old: 5_150, new: 300 },
    { old: 10 }, // started again
  ]) {
    await sample()
    totals.push(total)
  }
  expect(totals).toEqual([0, 300, 400, 450, 450])
})
