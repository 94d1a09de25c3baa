import { metricTable } from './metric-table.js'

/*
 * Metrics: the table of all metrics of the engine, and their recording.
 *
 * Owns: names, units, help texts and labels (metric-table.ts). Boundary: a meter (Temporal's `MetricMeter`) records and
 * exports them. All workers of a process use the meter of Temporal's runtime, which exists once per process; workflow
 * code uses its own.
 *
 * Invariants: 1. Every metric is in the table, and its name has the prefix `ptc_` and its unit. 2. A label has at most
 * {@link maxLabelValues} values in a process; later ones count as `other`. No label has an id of a run, or a tenant.
 * 3. Recording never throws: a run must not fail because of a metric.
 */

type MetricTable = typeof metricTable

export type MetricName = keyof MetricTable

type NamesOf<Kind> = { [Name in MetricName]: MetricTable[Name]['kind'] extends Kind ? Name : never }[MetricName]

type PlainGauge = {
  [Name in NamesOf<'gauge'>]: MetricTable[Name]['labels'] extends readonly [] ? Name : never
}[NamesOf<'gauge'>]

type Labels<Name extends MetricName> = Readonly<Record<MetricTable[Name]['labels'][number], string>>

/** The part of Temporal's `MetricMeter` that is used here. */
export interface Meter {
  createCounter(name: string, unit?: string, description?: string): Instrument<'add'>
  createHistogram(name: string, valueType?: 'int', unit?: string, description?: string): Instrument<'record'>
  createGauge(name: string, valueType?: 'int', unit?: string, description?: string): Instrument<'set'>
}

type Instrument<Method extends string> = {
  readonly [Name in Method]: (value: number, labels?: Record<string, string>) => void
}

type RecordValue = (value: number, labels: Record<string, string>) => void

/** Maximum number of values of one label in one process. */
export const maxLabelValues = 200

/** Records the metrics of the table. Without a meter, nothing is recorded. */
export class Metrics {
  #meter: Meter | undefined
  readonly #instruments = new Map<MetricName, RecordValue>()
  readonly #labelValues = new Map<string, Set<string>>()
  /** The parts of gauges that are not 0, by their owners. */
  readonly #parts = new Map<MetricName, Map<object, number>>()

  constructor(meter?: Meter) {
    this.#meter = meter
  }

  use(meter: Meter | undefined): void {
    this.#meter = meter
    this.#instruments.clear()
  }

  add<Name extends NamesOf<'counter'>>(name: Name, value: number, labels: Labels<Name>): void {
    if (value > 0) this.#record(name, value, labels)
  }

  observe<Name extends NamesOf<'histogram'>>(name: Name, value: number, labels: Labels<Name>): void {
    this.#record(name, value, labels)
  }

  set<Name extends NamesOf<'gauge'>>(name: Name, value: number, labels: Labels<Name>): void {
    this.#record(name, value, labels)
  }

  /** Sets the part of one owner in a gauge without labels. The workers of a process share the gauge, and add up. */
  setPart(name: PlainGauge, owner: object, value: number): void {
    const parts = this.#parts.get(name) ?? new Map<object, number>()
    this.#parts.set(name, parts)
    if (value === 0) parts.delete(owner)
    else parts.set(owner, value)
    this.#record(
      name,
      [...parts.values()].reduce((sum, part) => sum + part, 0),
      {},
    )
  }

  #record(name: MetricName, value: number, labels: Readonly<Record<string, string>>): void {
    const meter = this.#meter
    if (meter === undefined || !Number.isFinite(value)) return
    try {
      let record = this.#instruments.get(name)
      if (record === undefined) this.#instruments.set(name, (record = createInstrument(meter, name)))
      record(Math.max(Math.round(value), 0), this.#boundLabels(name, labels))
    } catch {
      // Invariant 3: the meter of a runtime that was shut down throws.
    }
  }

  #boundLabels(name: MetricName, labels: Readonly<Record<string, string>>): Record<string, string> {
    const bound: Record<string, string> = {}
    for (const [label, value] of Object.entries(labels)) bound[label] = this.#boundValue(`${name}/${label}`, value)
    return bound
  }

  #boundValue(key: string, value: string): string {
    let known = this.#labelValues.get(key)
    if (known === undefined) this.#labelValues.set(key, (known = new Set()))
    if (!known.has(value) && known.size >= maxLabelValues) return 'other'
    known.add(value)
    return value
  }
}

function createInstrument(meter: Meter, name: MetricName): RecordValue {
  const { kind, unit, help } = metricTable[name]
  switch (kind) {
    case 'counter': {
      const counter = meter.createCounter(name, unit, help)
      return (value, labels) => counter.add(value, labels)
    }
    case 'histogram': {
      const histogram = meter.createHistogram(name, 'int', unit, help)
      return (value, labels) => histogram.record(value, labels)
    }
    case 'gauge': {
      const gauge = meter.createGauge(name, 'int', unit, help)
      return (value, labels) => gauge.set(value, labels)
    }
  }
}

/** The metrics of this process. Workflow code uses `workflows/temporal/metrics.ts`. */
export const metrics = new Metrics()
