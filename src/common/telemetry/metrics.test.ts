import { describe, expect, it } from 'vitest'
import { metricTable } from './metric-table.js'
import { maxLabelValues, type Meter, Metrics } from './metrics.js'

function createMeter() {
  const recorded: { name: string; value: number; labels: Record<string, string> }[] = []
  const record =
    (name: string) =>
    (value: number, labels: Record<string, string> = {}) => {
      recorded.push({ name, value, labels })
    }
  const meter: Meter = {
    createCounter: (name) => ({ add: record(name) }),
    createGauge: (name) => ({ set: record(name) }),
    createHistogram: (name) => ({ record: record(name) }),
  }
  return { meter, recorded }
}

describe('metrics', () => {
  it('names of metrics have a prefix and their unit', () => {
    for (const [name, { kind, unit }] of Object.entries(metricTable)) {
      expect(name).toMatch(/^ptc_[a-z_]+$/)
      if (kind === 'counter') expect(name).toMatch(/_total$/)
      if (unit === 'ms') expect(name).toMatch(/_milliseconds(_total)?$/)
      if (unit === 'By') expect(name).toMatch(/_bytes(_total)?$/)
    }
  })

  it('metrics are whole numbers, and nothing is recorded without a meter', () => {
    const { meter, recorded } = createMeter()
    const metrics = new Metrics()
    metrics.add('ptc_cells_total', 1, { status: 'ok' })
    metrics.use(meter)
    metrics.observe('ptc_cell_latency_milliseconds', 1.6, {})
    expect(recorded).toEqual([{ name: 'ptc_cell_latency_milliseconds', value: 2, labels: {} }])
  })

  it('metrics have a limited number of values of a label', () => {
    const { meter, recorded } = createMeter()
    const metrics = new Metrics(meter)
    for (let model = 0; model <= maxLabelValues; model += 1)
      metrics.add('ptc_model_cost_microdollars_total', 1, { model: `model-${model}` })
    metrics.add('ptc_model_cost_microdollars_total', 1, { model: 'model-0' })
    expect(recorded.slice(-2).map(({ labels }) => labels['model'])).toEqual(['other', 'model-0'])
    expect(new Set(recorded.map(({ labels }) => labels['model'])).size).toBe(maxLabelValues + 1)
  })

  it('a gauge is the sum of the parts of its owners', () => {
    const { meter, recorded } = createMeter()
    const metrics = new Metrics(meter)
    const [first, second] = [{}, {}]
    metrics.setPart('ptc_sessions_open', first, 2)
    metrics.setPart('ptc_sessions_open', second, 3)
    metrics.setPart('ptc_sessions_open', first, 1)
    metrics.setPart('ptc_sessions_open', second, 0)
    expect(recorded.map(({ value }) => value)).toEqual([2, 5, 4, 1])
  })

  it('recording a metric never throws, because a run must not fail because of it', () => {
    const fail = () => {
      throw new Error('the runtime was shut down')
    }
    const metrics = new Metrics({ createCounter: fail, createGauge: fail, createHistogram: fail })
    expect(() => metrics.set('ptc_sessions_open', 1, {})).not.toThrow()
  })
})
