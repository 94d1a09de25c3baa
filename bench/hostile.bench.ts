import { defaultLimits } from '../dist/common/run/limits.js'
import type { BackendName } from '../src/common/run/run-config.js'
import type { PtcClient } from '../dist/client/index.js'
import { startServer } from '../dist/serve/index.js'
import { createWasmBackend } from '../dist/sandbox/wasm/index.js'
import type { SessionHost } from '../dist/sandbox/session/session-host.js'
import {
  type HostileFamily,
  hostileFamilies,
  hostilePython,
  largeMessages,
  stringFamilies,
  maxUnitsOf,
} from '../test/support/faults/hostile-frames.js'
import { hostileBodies } from '../test/support/faults/hostile-bodies.js'
import { monitorEventLoopDelay } from '../test/support/faults/event-loop-delay.js'
import { benchmark } from './support/benchmark.js'
import { type ResultRow, summarize } from './support/measure.js'
import { openSession, createDocker, createHost } from './support/sandboxes.js'

/** Maximum milliseconds that a sandbox may block the event loop of its worker. */
const stallMs = 250

/**
 * Maximum CPU time of a worker per CPU time of a sandbox that sends messages: the factors of ADR 0002. A sandbox sends
 * thousands of small messages in one write.
 */
const maxCpuRatio = { large: 100, small: 1_000 } as const

/** Runs only attacks with this text in their name, and leaves out the idle session. */
const nameFilter = process.env['HOSTILE_ONLY'] ?? ''

/** Number of frames of each family. */
const frames = 6

/** Replaces the runner's frames, and prints the CPU time of this cell at the end. */
const attacker = `
import gc, os, time
runner = next(each for each in gc.get_objects() if type(each).__name__ == "Session")
messages = ${JSON.stringify(largeMessages)}
def frame(value, type="suspended"):
    body = messages[type].encode() % (999, value)
    return len(body).to_bytes(4, "big") + body
def flood(data, times):
    for _ in range(times):
        view = memoryview(data)
        while view: view = view[os.write(runner.channel.output_fd, view):]
small = b'{"type":"interrupted"}'
small = len(small).to_bytes(4, "big") + small
`

interface Attack {
  readonly name: string
  readonly source: string
}

/** A snapshot is Base64. Of these families, only escaped letters are valid. */
const stringsOf = (type: keyof typeof largeMessages): readonly HostileFamily[] =>
  stringFamilies.slice(0, type === 'snapshot' ? 1 : 3)

const flood = (family: HostileFamily, type: keyof typeof largeMessages = 'suspended'): string =>
  `flood(frame(${hostilePython(family, maxUnitsOf(family))}, "${type}"), ${frames})`

const all: readonly Attack[] = [
  ...hostileFamilies.map((family) => ({ name: family.name, source: flood(family) })),
  ...(['completed', 'failed', 'output', 'snapshot'] as const).flatMap((type) =>
    stringsOf(type).map((family) => ({ name: `${type}, ${family.name}`, source: flood(family, type) })),
  ),
  { name: 'many: output', source: 'flood(frame(b\'"x"\', "output") * 10_000, 5)' },
  { name: 'many: small frames', source: 'flood(small * 10_000, 20)' },
  {
    name: 'many: single bytes',
    source: 'for byte in frame(b"0") * 50: os.write(runner.channel.output_fd, bytes((byte,)))',
  },
  { name: 'many: single bytes of stderr', source: 'for _ in range(20_000): os.write(2, b"x")' },
]

const attacks = all.filter(({ name }) => name.includes(nameFilter))

/**
 * Runs one attack in its own sandbox. Measures the longest stall, and CPU time of this process per CPU time of the
 * sandbox.
 */
async function measure(host: SessionHost, backend: BackendName, { source }: Attack) {
  const session = await openSession(host, backend)
  try {
    await session.executeStep({ type: 'cell', cell: 1, source: attacker })
    const before = process.cpuUsage()
    const stalls = monitorEventLoopDelay()
    const startedAt = performance.now()
    const result = await session.executeStep({
      type: 'cell',
      cell: 2,
      source: `begun = time.process_time()\n${source}\nprint("", time.process_time() - begun, sep="\\n")`,
    })
    const { maxDelayMs: stall } = stalls.stop()
    const seconds = (performance.now() - startedAt) / 1_000
    const { user, system } = process.cpuUsage(before)
    if (result.type !== 'completed')
      throw new Error(`the attack did not complete: ${JSON.stringify(result).slice(0, 500)}`)
    const worker = (user + system) / 1e6
    return {
      stall,
      worker,
      ratio: worker / Math.max(Number(result.output.trim().split('\n').at(-1)), 0.001),
      share: worker / seconds,
    }
  } finally {
    await session.close()
  }
}

/** A thread of an ended cell sends frames for two seconds while no step runs. */
const idleThread = `
import threading
large = frame(b"[" + b"[]," * 400_000 + b"0]")
threading.Thread(target=flood, args=(large, 10**9), daemon=True).start()
`

async function measureIdle(host: SessionHost): Promise<{ readonly stall: number; readonly share: number }> {
  const session = await openSession(host, 'docker')
  try {
    await session.executeStep({ type: 'cell', cell: 1, source: attacker + idleThread })
    const before = process.cpuUsage()
    const stalls = monitorEventLoopDelay()
    await new Promise((resolve) => setTimeout(resolve, 6_000))
    const { user, system } = process.cpuUsage(before)
    return { stall: stalls.stop().maxDelayMs, share: (user + system) / 6e6 }
  } finally {
    await session.close()
  }
}

// Measures the cost of a hostile program's frames for the worker and its other sessions, and the cost of a hostile
// client for a server.
await benchmark('hostile', async (context) => {
  const { runs, progress } = context
  const hosts = {
    docker: await createHost(await createDocker(context), context),
    wasm: await createHost(createWasmBackend({ warm: 0, limits: defaultLimits }), context),
  }
  const rows: ResultRow[] = []
  for (const backend of ['docker', 'wasm'] as const) {
    for (const attack of attacks) {
      const samples = []
      for (let run = 0; run < runs; run += 1) samples.push(await measure(hosts[backend], backend, attack))
      const what = `${backend}, ${attack.name}`
      progress(
        `${what}: ${samples.map(({ stall, ratio, share }) => `${stall.toFixed(0)} ms, ${ratio.toFixed(1)} x, ${(share * 100).toFixed(0)} %`).join('; ')}`,
      )
      rows.push({
        name: `${what}: worst stall`,
        unit: 'ms',
        samples: samples.map(({ stall }) => stall),
        target: stallMs,
      })
      rows.push({
        name: `${what}: worker CPU per sandbox CPU`,
        unit: 'x',
        samples: samples.map(({ ratio }) => ratio),
        target: maxCpuRatio[attack.name.startsWith('many: ') ? 'small' : 'large'],
      })
    }
  }
  if (nameFilter === '') rows.push(...(await idleRows(hosts.docker, runs)))
  rows.push(...(await httpRows(runs)))
  const missed = rows.filter(isMissed).map(({ name }) => `${name} is over its target`)
  if (missed.length > 0) {
    process.stderr.write(`bench hostile: ${missed.join('; ')}\n`)
    process.exitCode = 1
  }
  return rows
})

/** Only Docker: the embedded sandbox has no threads that outlive a cell. */
async function idleRows(host: SessionHost, runs: number): Promise<ResultRow[]> {
  const idle: Awaited<ReturnType<typeof measureIdle>>[] = []
  for (let run = 0; run < runs; run += 1) idle.push(await measureIdle(host))
  const what = 'docker, from an idle session'
  return [
    { name: `${what}: worst stall`, unit: 'ms', samples: idle.map(({ stall }) => stall), target: stallMs },
    { name: `${what}: worker CPU per second`, unit: 'x', samples: idle.map(({ share }) => share) },
  ]
}

/** Bodies for `ptc serve`, which refuses each. No method of the conversation is called. */
async function httpRows(runs: number): Promise<ResultRow[]> {
  const ptc = { taskQueue: 'hostile', conversation: (name: string) => ({ name }) }
  const server = await startServer({ ptc: ptc as unknown as PtcClient, port: 0 })
  const rows: ResultRow[] = []
  try {
    for (const { name, path, body } of hostileBodies.filter((each) => each.name.includes(nameFilter))) {
      const samples: number[] = []
      for (let run = 0; run < runs; run += 1) {
        const sent = body()
        const stalls = monitorEventLoopDelay()
        const response = await fetch(server.url + path, { method: 'POST', body: sent })
        samples.push(stalls.stop().maxDelayMs)
        await response.text()
        if (response.status !== 400) throw new Error(`${name}: the server answered ${response.status}`)
      }
      rows.push({ name: `HTTP, ${name}: worst stall`, unit: 'ms', samples, target: stallMs })
    }
  } finally {
    await server.close()
  }
  return rows
}

/**
 * The limit of a stall holds for every repetition. CPU time depends on other load, so its limit holds for the median.
 */
function isMissed({ unit, samples, target = Infinity }: ResultRow): boolean {
  const { median, max } = summarize(samples)
  return !((unit === 'ms' ? max : median) <= target)
}
