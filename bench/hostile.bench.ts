import { defaultLimits } from '../dist/common/limits.js'
import type { BackendName } from '../dist/common/plan.js'
import { createWasmBackend } from '../dist/sandbox/wasm/index.js'
import type { SessionHost } from '../dist/sandbox/session-host.js'
import {
  type HostileFamily,
  hostileFamilies,
  hostilePython,
  largeMessages,
  stringFamilies,
  unitsThatFit,
} from '../test/support/hostile-frames.js'
import { watchStalls } from '../test/support/stalls.js'
import { benchmark } from './support/benchmark.js'
import { type Row, summarise } from './support/measure.js'
import { openSession, prepareDocker, startHost } from './support/sandboxes.js'

/** Milliseconds that no sandbox may keep the event loop of its worker from other runs. */
const stallMs = 250

/**
 * CPU that a worker may spend for the CPU that a sandbox spends on saying something: the fixed factors of ADR 0002.
 * A sandbox says thousands of small messages in one write.
 */
const mostRatio = { large: 100, small: 1_000 } as const

/** Only attacks that have this in their name; then the idle session is left out. */
const only = process.env['HOSTILE_ONLY'] ?? ''

/** Frames of each family. */
const frames = 6

/** Takes the runner's place, and says at the end how much CPU this cell has taken. */
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
        while view: view = view[os.write(runner.channel.sink, view):]
small = b'{"type":"interrupted"}'
small = len(small).to_bytes(4, "big") + small
`

interface Attack {
  readonly name: string
  readonly source: string
}

/** A snapshot is Base64: of these families only escaped letters are that. */
const stringsOf = (type: keyof typeof largeMessages): readonly HostileFamily[] =>
  stringFamilies.slice(0, type === 'snapshot' ? 1 : 3)

const flood = (family: HostileFamily, type: keyof typeof largeMessages = 'suspended'): string =>
  `flood(frame(${hostilePython(family, unitsThatFit(family))}, "${type}"), ${frames})`

const all: readonly Attack[] = [
  ...hostileFamilies.map((family) => ({ name: family.name, source: flood(family) })),
  ...(['completed', 'failed', 'output', 'snapshot'] as const).flatMap((type) =>
    stringsOf(type).map((family) => ({ name: `${type}, ${family.name}`, source: flood(family, type) })),
  ),
  { name: 'many: output', source: 'flood(frame(b\'"x"\', "output") * 10_000, 5)' },
  { name: 'many: small frames', source: 'flood(small * 10_000, 20)' },
  { name: 'many: single bytes', source: 'for byte in frame(b"0") * 50: os.write(runner.channel.sink, bytes((byte,)))' },
  { name: 'many: single bytes of stderr', source: 'for _ in range(20_000): os.write(2, b"x")' },
]

const attacks = all.filter(({ name }) => name.includes(only))

/** One attack in a sandbox of its own: the worst stall, and CPU of this process for each second of CPU of the sandbox. */
async function measure(host: SessionHost, backend: BackendName, { source }: Attack) {
  const session = await openSession(host, backend)
  try {
    await session.advance({ type: 'cell', cell: 1, source: attacker })
    const before = process.cpuUsage()
    const stalls = watchStalls()
    const begun = performance.now()
    const answer = await session.advance({
      type: 'cell',
      cell: 2,
      source: `begun = time.process_time()\n${source}\nprint("", time.process_time() - begun, sep="\\n")`,
    })
    const { stallMs: stall } = stalls.stop()
    const seconds = (performance.now() - begun) / 1_000
    const { user, system } = process.cpuUsage(before)
    if (answer.type !== 'completed')
      throw new Error(`the attack did not complete: ${JSON.stringify(answer).slice(0, 500)}`)
    const worker = (user + system) / 1e6
    return {
      stall,
      worker,
      ratio: worker / Math.max(Number(answer.output.trim().split('\n').at(-1)), 0.001),
      share: worker / seconds,
    }
  } finally {
    await session.close()
  }
}

/** A thread that an ended cell has left behind floods frames at nobody, for two seconds. */
const idleThread = `
import threading
large = frame(b"[" + b"[]," * 400_000 + b"0]")
threading.Thread(target=flood, args=(large, 10**9), daemon=True).start()
`

async function measureIdle(host: SessionHost): Promise<{ readonly stall: number; readonly share: number }> {
  const session = await openSession(host, 'docker')
  try {
    await session.advance({ type: 'cell', cell: 1, source: attacker + idleThread })
    const before = process.cpuUsage()
    const stalls = watchStalls()
    await new Promise((resolve) => setTimeout(resolve, 6_000))
    const { user, system } = process.cpuUsage(before)
    return { stall: stalls.stop().stallMs, share: (user + system) / 6e6 }
  } finally {
    await session.close()
  }
}

// Frames that a hostile program sends in its runner's name: what they cost the worker, and everybody else on it.
await benchmark('hostile', async (context) => {
  const { runs, tell } = context
  const hosts = {
    docker: await startHost(await prepareDocker(context), context),
    wasm: await startHost(createWasmBackend({ warm: 0, limits: defaultLimits }), context),
  }
  const rows: Row[] = []
  for (const backend of ['docker', 'wasm'] as const) {
    for (const attack of attacks) {
      const samples = []
      for (let run = 0; run < runs; run += 1) samples.push(await measure(hosts[backend], backend, attack))
      const what = `${backend}, ${attack.name}`
      tell(
        `${what}: ${samples.map(({ stall, ratio, share }) => `${stall.toFixed(0)} ms, ${ratio.toFixed(1)} x, ${(share * 100).toFixed(0)} %`).join('; ')}`,
      )
      rows.push({
        what: `${what}: worst stall`,
        unit: 'ms',
        samples: samples.map(({ stall }) => stall),
        target: stallMs,
      })
      rows.push({
        what: `${what}: worker CPU per sandbox CPU`,
        unit: 'x',
        samples: samples.map(({ ratio }) => ratio),
        target: mostRatio[attack.name.startsWith('many: ') ? 'small' : 'large'],
      })
    }
  }
  if (only === '') rows.push(...(await idleRows(hosts.docker, runs)))
  const missed = rows.filter(isMissed).map(({ what }) => `${what} is over its target`)
  if (missed.length > 0) {
    process.stderr.write(`bench hostile: ${missed.join('; ')}\n`)
    process.exitCode = 1
  }
  return rows
})

/** Of Docker only: the embedded sandbox has no thread that could go on when its cell has ended. */
async function idleRows(host: SessionHost, runs: number): Promise<Row[]> {
  const idle: Awaited<ReturnType<typeof measureIdle>>[] = []
  for (let run = 0; run < runs; run += 1) idle.push(await measureIdle(host))
  const what = 'docker, from an idle session'
  return [
    { what: `${what}: worst stall`, unit: 'ms', samples: idle.map(({ stall }) => stall), target: stallMs },
    { what: `${what}: worker CPU per second`, unit: 'x', samples: idle.map(({ share }) => share) },
  ]
}

/** A stall may be too long in no repetition; of the CPU, which other work of the machine changes, the median counts. */
function isMissed({ unit, samples, target = Infinity }: Row): boolean {
  const { median, max } = summarise(samples)
  return !((unit === 'ms' ? max : median) <= target)
}
