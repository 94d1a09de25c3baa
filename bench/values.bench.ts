import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ValueRef } from '../dist/common/json/external-value.js'
import { externalValue } from '../dist/common/json/external-value.js'
import { LocalStore } from '../dist/values/local/local-store.js'
import { Values } from '../dist/values/values.js'
import { benchmark } from './support/benchmark.js'
import { interleaved, ratios, type ResultRow } from './support/measure.js'
import { timeRawPipe } from './support/raw-pipe.js'
import { openSession, createDocker, createHost } from './support/sandboxes.js'

const megabytes = [1, 10, 20, 50]

const source = 'documents = await ping(value=1)\nprint(len(documents))'

// Compares the time of a value from the store into a variable of the program (checked, parsed, until the next call or
// end) with the same number of raw bytes through a pipe of the same daemon.
await benchmark('values', async (context) => {
  const { runs, progress, defer, signal } = context
  const docker = await createDocker(context)
  const host = await createHost(docker, context)
  const directory = mkdtempSync(join(tmpdir(), 'ptc-bench-values-'))
  defer(() => rmSync(directory, { recursive: true, force: true }))
  const values = new Values({ store: new LocalStore(directory), cacheBytes: 0 })
  const readValue = (ref: ValueRef) => values.readUtf8(ref, 'the benchmark', signal)

  const rows: ResultRow[] = []
  for (const size of megabytes) {
    const ref = await values.store(documents(size * 1e6), signal)
    const work = {
      store: async () => {
        const session = await openSession(host, 'docker', { readValue })
        try {
          await session.executeStep({ type: 'cell', cell: 1, source })
          const results = [{ index: 1, outcome: { status: 'ok', value: externalValue(ref) } }] as const
          const begin = performance.now()
          const result = await session.executeStep({ type: 'results', results })
          if (result.type !== 'completed') throw new Error(`the value did not arrive: ${JSON.stringify(result)}`)
          return speed(ref.bytes, performance.now() - begin)
        } finally {
          await session.close()
        }
      },
      pipe: async () => speed(ref.bytes, await timeRawPipe(docker.image, ref.bytes)),
    }
    progress(`${runs} repetitions of ${size} MB`)
    await work.store()
    const { store, pipe } = await interleaved(runs, work)
    rows.push(
      { name: `${size} MB, store to variable`, unit: 'MB/s', samples: store },
      { name: `${size} MB, raw pipe`, unit: 'MB/s', samples: pipe },
      { name: `${size} MB, raw pipe / store to variable`, unit: 'x', samples: ratios(pipe, store), target: 5 },
    )
  }
  return rows
})

/** Speed in megabytes per second. */
function speed(bytes: number, milliseconds: number): number {
  return bytes / 1e6 / (milliseconds / 1e3)
}

/** Documents similar to those of tools: short fields and a text of a thousand characters. */
function documents(bytes: number) {
  const text = 'He said "no", and left.\nThe next line. '.repeat(25)
  const document = (id: number) => ({ id, title: `Document ${id}`, tags: ['a', 'b'], text })
  return Array.from({ length: Math.ceil(bytes / JSON.stringify(document(10_000)).length) }, (_, id) => document(id))
}
