import { setTimeout as pause } from 'node:timers/promises'
import { createWasmBackend } from '../dist/sandbox/wasm/index.js'
import type { SessionHost } from '../dist/sandbox/session/session-host.js'
import { benchmark, type BenchContext } from './support/benchmark.js'
import { interleaved, ratios, timeMs } from './support/measure.js'
import { timeRawContainer } from './support/raw-container.js'
import { openSession, createDocker, createHost, untilFirstCell } from './support/sandboxes.js'

// Compares the time of a new session until its first cell has run with a raw container. Without Temporal.
await benchmark('sessions', async (context) => {
  const { runs, progress } = context
  const docker = await createDocker(context)
  const host = await createHost(docker, context)
  const pooled = await createHost(await createDocker(context, 1), context)
  const work = {
    raw: () => timeRawContainer(docker.image),
    session: () => untilFirstCell(host, 'docker'),
    open: () => openAlone(host),
    warmOpen: () => untilRefilled(context, () => openAlone(pooled)),
    warmSession: () => untilRefilled(context, () => untilFirstCell(pooled, 'docker')),
  }
  progress(`${runs} repetitions of a raw container, a session, and opening one, cold and from the warm pool`)
  await interleaved(1, work)
  const { raw, session, open, warmOpen, warmSession } = await interleaved(runs, work)
  progress(`${runs} repetitions of an embedded session, cold and warm`)
  const cold = await coldStarts(context)
  const warm = await warmStarts(context, Math.max(...cold))
  return [
    { name: 'raw hardened container, first byte', unit: 'ms', samples: raw },
    { name: 'Docker session, open alone', unit: 'ms', samples: open },
    { name: 'Docker session, first cell done', unit: 'ms', samples: session },
    { name: 'open alone / raw container', unit: 'x', samples: ratios(open, raw), target: 1.15 },
    { name: 'first cell done / raw container', unit: 'x', samples: ratios(session, raw), target: 1.25 },
    { name: 'from the warm pool, open alone', unit: 'ms', samples: warmOpen },
    { name: 'from the warm pool, first cell done', unit: 'ms', samples: warmSession },
    { name: 'first cell done, warm / raw container', unit: 'x', samples: ratios(warmSession, raw) },
    { name: 'embedded session cold, first cell done', unit: 'ms', samples: cold },
    { name: 'embedded session warm, first cell done', unit: 'ms', samples: warm },
  ]
})

async function openAlone(host: SessionHost): Promise<number> {
  let opened: Awaited<ReturnType<typeof openSession>> | undefined
  const duration = await timeMs(async () => (opened = await openSession(host, 'docker')))
  await opened?.close()
  return duration
}

/** Gives the pool time to start a new container before each sample. */
async function untilRefilled({ signal }: BenchContext, measure: () => Promise<number>): Promise<number> {
  await pause(1_000, undefined, { signal })
  return measure()
}

/** Measures sessions without a pool of interpreters. */
async function coldStarts(context: BenchContext): Promise<number[]> {
  const host = await createHost(createWasmBackend({ warm: 0 }), context)
  const samples: number[] = []
  for (let run = 0; run < context.runs; run += 1) samples.push(await untilFirstCell(host, 'wasm'))
  return samples
}

/** Measures sessions with a pool of one interpreter, which has time to load before each sample. */
async function warmStarts(context: BenchContext, loadMs: number): Promise<number[]> {
  const host = await createHost(createWasmBackend({ warm: 1 }), context)
  const samples: number[] = []
  for (let run = 0; run < context.runs; run += 1) {
    await pause(loadMs * 1.5, undefined, { signal: context.signal })
    samples.push(await untilFirstCell(host, 'wasm'))
  }
  return samples
}
