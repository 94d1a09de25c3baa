import { setTimeout as pause } from 'node:timers/promises'
import { createWasmBackend } from '../dist/sandbox/wasm/index.js'
import type { SessionHost } from '../dist/sandbox/session/session-host.js'
import { benchmark, type BenchContext } from './support/benchmark.js'
import { interleaved, ratios, timeMs } from './support/measure.js'
import { type BenchSession, createHost, openSession, runCell } from './support/sandboxes.js'

/** An empty cell, and one with sequential calls, in each language of the embedded sandbox. */
const languages = {
  python: { empty: 'pass', calls: (count: number) => `for i in range(${count}): await ping(value=i)` },
  javascript: { empty: '0', calls: (count: number) => `for (let i = 0; i < ${count}; i++) await ping({ value: i })` },
}
type LanguageName = keyof typeof languages

// Compares the languages of the embedded sandbox: a new session, and a call and its result. Without Temporal.
await benchmark('embedded', async (context) => {
  const { runs, calls, progress } = context
  const hosts = {
    python: await createHost(createWasmBackend({ warm: 1, language: 'python' }), context),
    javascript: await createHost(createWasmBackend({ warm: 1, language: 'javascript' }), context),
  }
  const cold = await createHost(createWasmBackend({ warm: 0 }), context)
  progress(`${runs} repetitions of a session in each language, and of ${calls} calls`)
  const work = {
    coldPython: () => untilFirstCell(cold, 'python'),
    coldJavascript: () => untilFirstCell(cold, 'javascript'),
    warmPython: () => warm(context, hosts.python, 'python'),
    warmJavascript: () => warm(context, hosts.javascript, 'javascript'),
    callPython: () => callTime(hosts.python, 'python', calls),
    callJavascript: () => callTime(hosts.javascript, 'javascript', calls),
  }
  await interleaved(1, work)
  const samples = await interleaved(runs, work)
  return [
    { name: 'QuickJS session cold, first cell done', unit: 'ms', samples: samples.coldJavascript },
    { name: 'QuickJS session warm, first cell done', unit: 'ms', samples: samples.warmJavascript, target: 15 },
    { name: 'Pyodide session cold, first cell done', unit: 'ms', samples: samples.coldPython },
    { name: 'Pyodide session warm, first cell done', unit: 'ms', samples: samples.warmPython },
    { name: 'QuickJS, a call and its result', unit: 'ms', samples: samples.callJavascript },
    { name: 'Pyodide, a call and its result', unit: 'ms', samples: samples.callPython },
    {
      name: 'call, QuickJS / Pyodide',
      unit: 'x',
      samples: ratios(samples.callJavascript, samples.callPython),
      target: 1.15,
    },
  ]
})

/** Gives the pool time to load an interpreter before the sample. */
async function warm({ signal }: BenchContext, host: SessionHost, language: LanguageName): Promise<number> {
  await pause(3_000, undefined, { signal })
  return untilFirstCell(host, language)
}

async function untilFirstCell(host: SessionHost, language: LanguageName): Promise<number> {
  const start = performance.now()
  const session = await openSession(host, 'wasm', { language })
  try {
    await runCell(session, languages[language].empty)
    return performance.now() - start
  } finally {
    await session.close()
  }
}

/** Milliseconds of a call: the step from its result to the next call. */
async function callTime(host: SessionHost, language: LanguageName, calls: number): Promise<number> {
  const session = await openSession(host, 'wasm', { language })
  try {
    await runCell(session, languages[language].empty)
    return (await timeMs(() => makeCalls(session, languages[language].calls(calls)))) / calls
  } finally {
    await session.close()
  }
}

async function makeCalls(session: BenchSession, source: string): Promise<void> {
  let result = await session.executeStep({ type: 'cell', cell: 2, source })
  while (result.type === 'suspended') {
    const results = result.calls.map(({ index }) => ({ index, outcome: { status: 'ok' as const, value: 1 } }))
    result = await session.executeStep({ type: 'results', results })
  }
  if (result.type !== 'completed') throw new Error(`the measured cell did not complete: ${JSON.stringify(result)}`)
}
