import { containerName } from '../dist/sandbox/docker/container/sandbox-identity.js'
import type { SessionHost } from '../dist/sandbox/session/session-host.js'
import { benchmark } from './support/benchmark.js'
import { containerMemory } from './support/container-memory.js'
import { interleaved, ratios, type ResultRow, timeMs } from './support/measure.js'
import { type RawEcho, startRawEcho } from './support/raw-echo.js'
import { type BenchSession, createDocker, createHost, namespace, openSession } from './support/sandboxes.js'

interface MeasuredLanguage {
  readonly title: string
  readonly emptyCell: string
  /** Makes calls one after the other. */
  readonly calls: (count: number) => string
  /** Sends back each line that it reads, with nothing but the interpreter. */
  readonly echo: readonly string[]
}

const languages: Readonly<Record<'python' | 'javascript' | 'bash', MeasuredLanguage>> = {
  python: {
    title: 'Python',
    emptyCell: 'pass',
    calls: (count) => `for value in range(${count}):\n    await ping(value=value)`,
    echo: [
      '/usr/bin/python3',
      '-S',
      '-c',
      'import sys\nprint("ready", flush=True)\nfor line in sys.stdin: print(line, end="", flush=True)',
    ],
  },
  javascript: {
    title: 'JavaScript',
    emptyCell: ';',
    calls: (count) => `for (let value = 0; value < ${count}; value++) await ping({ value })`,
    echo: [
      '/usr/bin/node',
      '-e',
      'const { readSync, writeSync } = require("node:fs"); const buffer = Buffer.alloc(65536); console.log("ready"); for (let n; (n = readSync(0, buffer, 0, 65536, null)) > 0;) writeSync(1, buffer, 0, n)',
    ],
  },
  bash: {
    title: 'Bash',
    emptyCell: ':',
    calls: (count) => `for ((value = 0; value < ${count}; value++)); do tool ping value=$value; done >/dev/null`,
    echo: ['/bin/bash', '-c', 'echo ready; while read -r line; do echo "$line"; done'],
  },
}

type Name = keyof typeof languages
const names = Object.keys(languages) as Name[]

// Compares the cells and the calls of each language with an echo in its own interpreter, and the memory of an idle
// session with that of the echo. Without Temporal.
await benchmark('languages', async (context) => {
  const { runs, calls, progress, defer } = context
  const docker = await createDocker(context)
  const host = await createHost(docker, context)
  const sessions = {} as Record<Name, BenchSession>
  const echoes = {} as Record<Name, RawEcho>
  for (const name of names) {
    const session = await openSession(host, 'docker', { language: name })
    sessions[name] = session
    defer(() => session.close())
    const echo = await startRawEcho(docker.image, languages[name].echo)
    echoes[name] = echo
    defer(() => echo.remove())
  }
  const work = {
    ...forEach('echo', (name) => echoes[name].timeLines(calls)),
    ...forEach('cell', (name) => timeMs(() => runCell(sessions[name], languages[name].emptyCell))),
    ...forEach('call', async (name) => {
      return (await timeMs(() => runCell(sessions[name], languages[name].calls(calls)))) / calls
    }),
    ...forEach('open', (name) => untilFirstCell(host, name)),
  }
  progress(`${runs} repetitions of an echo, a cell, ${calls} calls and a new session, in ${names.join(' and ')}`)
  await interleaved(2, work)
  const samples = await interleaved(runs, work)
  const of = (what: What, name: Name) => samples[`${what} ${name}`]
  const memory = {} as Record<Name, readonly [echo: number, session: number]>
  for (const name of names) {
    const { ref, workflowId } = sessions[name]
    const container = containerName({ namespace, session: ref.id, epoch: ref.epoch, workflowId })
    const [echo, session] = [await containerMemory([echoes[name].name]), await containerMemory([container])]
    memory[name] = [echo / 2 ** 20, session / 2 ** 20]
  }
  const rows = names.flatMap((name): ResultRow[] => {
    const { title } = languages[name]
    const [echoMemory, sessionMemory] = memory[name]
    return [
      { name: `${title}: a line through its plain interpreter and back`, unit: 'ms', samples: of('echo', name) },
      { name: `${title}: an empty cell`, unit: 'ms', samples: of('cell', name) },
      { name: `${title}: a call`, unit: 'ms', samples: of('call', name) },
      { name: `${title}: call / line`, unit: 'x', samples: ratios(of('call', name), of('echo', name)) },
      { name: `${title}: a new session, first cell done`, unit: 'ms', samples: of('open', name) },
      { name: `${title}: memory of a container with the plain interpreter`, unit: 'MiB', samples: [echoMemory] },
      { name: `${title}: memory of an idle session`, unit: 'MiB', samples: [sessionMemory] },
    ]
  })
  const perPython = (name: Name, what: What, target?: number): ResultRow => ({
    name: `${what}: ${languages[name].title} / Python`,
    unit: 'x',
    samples: ratios(of(what, name), of(what, 'python')),
    ...(target === undefined ? {} : { target }),
  })
  const others = names.filter((name) => name !== 'python')
  const compared = others.flatMap((name) => [
    perPython(name, 'cell'),
    perPython(name, 'call', 1.15),
    perPython(name, 'open'),
  ])
  return [...rows, ...compared]
})

type What = 'echo' | 'cell' | 'call' | 'open'

function forEach<W extends What>(what: W, measure: (name: Name) => Promise<number>) {
  return Object.fromEntries(names.map((name) => [`${what} ${name}`, () => measure(name)])) as Record<
    `${W} ${Name}`,
    () => Promise<number>
  >
}

async function untilFirstCell(host: SessionHost, name: Name): Promise<number> {
  let session: BenchSession | undefined
  const duration = await timeMs(async () => {
    session = await openSession(host, 'docker', { language: name })
    await runCell(session, languages[name].emptyCell)
  })
  await session?.close()
  return duration
}

/** Runs a cell to its end, and returns for each call its argument. */
async function runCell(session: BenchSession, source: string): Promise<void> {
  let result = await session.executeStep({ type: 'cell', cell: 1, source })
  while (result.type === 'suspended') {
    const results = result.calls.map(({ index }) => ({ index, outcome: { status: 'ok' as const, value: 1 } }))
    result = await session.executeStep({ type: 'results', results })
  }
  if (result.type !== 'completed') throw new Error(`the measured cell did not complete: ${JSON.stringify(result)}`)
}
