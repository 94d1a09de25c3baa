import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type EventDefinition, eventTable } from '../../../src/common/telemetry/event-table.js'

const page = readFileSync(new URL('../../../docs/reference/events.md', import.meta.url), 'utf8')
const verbs =
  'started|completed|failed|progressed|spent|requested|refused|reached|deferred|decided|expired|uploaded|kept'

it('docs/reference/events.md lists the events of the table, and the sinks of each', () => {
  const rows = Object.entries<EventDefinition>(eventTable).map(([name, { stream, audit = '' }]) => {
    // Readers of a stream get a reset when a sandbox was lost.
    const streamed = name === 'step.failed' ? 'reset' : stream ? 'yes' : ''
    return [`\`${name}\``, streamed, audit]
  })
  const listed = page.split('\n').filter((line) => line.startsWith('| `'))
  expect(
    listed.map((line) =>
      line
        .split('|')
        .slice(1, 4)
        .map((cell) => cell.trim()),
    ),
  ).toEqual(rows)
})

it('an event is named by a noun and a past participle, or is a piece of a text', () => {
  for (const name of Object.keys(eventTable)) expect(name).toMatch(new RegExp(`^[a-z]+\\.(${verbs}|delta|preview)$`))
})
