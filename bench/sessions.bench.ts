import { setTimeout as pause } from 'node:timers/promises'
import { createWasmBackend } from '../dist/sandbox/wasm/index.js'
import type { SessionHost } from '../dist/sandbox/session-host.js'
import { benchmark, type BenchContext } from './support/benchmark.js'
import { interleaved, ratios, timed } from './support/measure.js'
import { rawContainer } from './support/raw-container.js'
import { openSession, prepareDocker, runCell, startHost } from './support/sandboxes.js'

// How long a new session takes until its first cell has run, beside a container made by hand; without Temporal around it.
await benchmark('sessions', async (context) => {
  const { runs, tell } = context
  const docker = await prepareDocker(context)
  const host = await startHost(docker, context)
  const pooled = await startHost(await prepareDocker(context, 1), context)
  const work = {
    raw: () => rawContainer(docker.image),
    session: () => untilFirstCell(host, 'docker'),
    open: () => openAlone(host),
    warmOpen: () => untilRefilled(context, () => openAlone(pooled)),
    warmSession: () => untilRefilled(context, () => untilFirstCell(pooled, 'docker')),
  }
  tell(`${runs} repetitions of a raw container, a session, and opening one, cold and from the warm pool`)
  await interleaved(1, work)
  const { raw, session, open, warmOpen, warmSession } = await interleaved(runs, work)
  tell(`${runs} repetitions of an embedded session, cold and warm`)
  const cold = await coldStarts(context)
  const warm = await warmStarts(context, Math.max(...cold))
  return [
    { what: 'raw hardened container, first byte', unit: 'ms', samples: raw },
    { what: 'Docker session, open alone', unit: 'ms', samples: open },
    { what: 'Docker session, first cell done', unit: 'ms', samples: session },
    { what: 'open alone / raw container', unit: 'x', samples: ratios(open, raw), target: 1.15 },
    { what: 'first cell done / raw container', unit: 'x', samples: ratios(session, raw) },
    { what: 'from the warm pool, open alone', unit: 'ms', samples: warmOpen },
    { what: 'from the warm pool, first cell done', unit: 'ms', samples: warmSession },
    { what: 'first cell done, warm / raw container', unit: 'x', samples: ratios(warmSession, raw) },
    { what: 'embedded session cold, first cell done', unit: 'ms', samples: cold },
    { what: 'embedded session warm, first cell done', unit: 'ms', samples: warm },
  ]
})

async function untilFirstCell(host: SessionHost, backend: 'docker' | 'wasm'): Promise<number> {
  const start = performance.now()
  const session = await openSession(host, backend)
  try {
    await runCell(session, 'pass')
    return performance.now() - start
  } finally {
    await session.close()
  }
}

async function openAlone(host: SessionHost): Promise<number> {
  let opened: Awaited<ReturnType<typeof openSession>> | undefined
  const duration = await timed(async () => (opened = await openSession(host, 'docker')))
  await opened?.close()
  return duration
}

/** Leaves the pool time to start the container that was taken from it before. */
async function untilRefilled({ signal }: BenchContext, measure: () => Promise<number>): Promise<number> {
  await pause(1_000, undefined, { signal })
  return measure()
}

/** Nothing is loaded ahead. */
async function coldStarts(context: BenchContext): Promise<number[]> {
  const host = await startHost(createWasmBackend({ warm: 0 }), context)
  const samples: number[] = []
  for (let run = 0; run < context.runs; run += 1) samples.push(await untilFirstCell(host, 'wasm'))
  return samples
}

/** One interpreter is loaded ahead; before each sample there is time enough for that. */
async function warmStarts(context: BenchContext, loadMs: number): Promise<number[]> {
  const host = await startHost(createWasmBackend({ warm: 1 }), context)
  const samples: number[] = []
  for (let run = 0; run < context.runs; run += 1) {
    await pause(loadMs * 1.5, undefined, { signal: context.signal })
    samples.push(await untilFirstCell(host, 'wasm'))
  }
  return samples
}
