import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ValueRef } from '../dist/common/values.js'
import { heldElsewhere } from '../dist/common/values.js'
import { LocalStore } from '../dist/values/local-store.js'
import { Values } from '../dist/values/values.js'
import { benchmark } from './support/benchmark.js'
import { interleaved, ratios, type Row } from './support/measure.js'
import { rawPipe } from './support/raw-pipe.js'
import { openSession, prepareDocker, startHost } from './support/sandboxes.js'

const megabytes = [1, 10, 20, 50]

const source = 'documents = await ping(value=1)\nprint(len(documents))'

// A value from the store into a variable of the program (checked, parsed, the next call or end reached), beside as many
// bytes through a pipe of the same daemon that nobody looks at.
await benchmark('values', async (context) => {
  const { runs, tell, atEnd, signal } = context
  const docker = await prepareDocker(context)
  const host = await startHost(docker, context)
  const directory = mkdtempSync(join(tmpdir(), 'ptc-bench-values-'))
  atEnd(() => rmSync(directory, { recursive: true, force: true }))
  const values = new Values({ store: new LocalStore(directory), recentBytes: 0 })
  const readValue = (ref: ValueRef) => values.readText(ref, 'the benchmark', signal)

  const rows: Row[] = []
  for (const size of megabytes) {
    const ref = await values.keep(documents(size * 1e6), signal)
    const work = {
      store: async () => {
        const session = await openSession(host, 'docker', readValue)
        try {
          await session.advance({ type: 'cell', cell: 1, source })
          const results = [{ index: 1, outcome: { status: 'ok', value: heldElsewhere(ref) } }] as const
          const begin = performance.now()
          const answer = await session.advance({ type: 'results', results })
          if (answer.type !== 'completed') throw new Error(`the value did not arrive: ${JSON.stringify(answer)}`)
          return speed(ref.bytes, performance.now() - begin)
        } finally {
          await session.close()
        }
      },
      pipe: async () => speed(ref.bytes, await rawPipe(docker.image, ref.bytes)),
    }
    tell(`${runs} repetitions of ${size} MB`)
    await work.store()
    const { store, pipe } = await interleaved(runs, work)
    rows.push(
      { what: `${size} MB, store to variable`, unit: 'MB/s', samples: store },
      { what: `${size} MB, raw pipe`, unit: 'MB/s', samples: pipe },
      { what: `${size} MB, raw pipe / store to variable`, unit: 'x', samples: ratios(pipe, store) },
    )
  }
  return rows
})

/** Megabytes a second. */
function speed(bytes: number, milliseconds: number): number {
  return bytes / 1e6 / (milliseconds / 1e3)
}

/** Documents as tools return them: short fields, and a text of a thousand characters. */
function documents(bytes: number) {
  const text = 'He said "no", and left.\nThe next line. '.repeat(25)
  const document = (id: number) => ({ id, title: `Document ${id}`, tags: ['a', 'b'], text })
  return Array.from({ length: Math.ceil(bytes / JSON.stringify(document(10_000)).length) }, (_, id) => document(id))
}
