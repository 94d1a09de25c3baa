import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { metricTable } from '../../../src/common/telemetry/metric-table.js'

const guide = readFileSync(new URL('../../../docs/guides/monitoring.md', import.meta.url), 'utf8')

it('docs/guides/monitoring.md lists the metrics as they are declared', () => {
  const rows = Object.entries(metricTable).map(([name, { kind, labels, help }]) => {
    return `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`
  })
  expect(guide.split('\n').filter((line) => line.startsWith('| `ptc_'))).toEqual(rows)
})
