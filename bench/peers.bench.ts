import { benchmark } from './support/benchmark.js'
import { startLlmSandbox } from './support/llm-sandbox.js'
import { interleaved, ratios, timeMs } from './support/measure.js'
import { openSession, createDocker, runCell, createHost, type BenchSession } from './support/sandboxes.js'

interface Durations {
  readonly open: number
  readonly first: number
  readonly second: number
  readonly close: number
}

const phaseNames: Readonly<Record<keyof Durations, string>> = {
  open: 'open a session',
  first: 'first run in it',
  second: 'second run in it',
  close: 'close it',
}

// Compares this package with llm-sandbox on the same daemon: open a session, run a line twice, close it. Both without
// Temporal.
await benchmark('peers', async (context) => {
  const docker = await createDocker(context)
  const host = await createHost(docker, context)
  const peer = await startLlmSandbox(docker.image, context)
  context.progress(`${context.runs} repetitions of ours and llm-sandbox ${peer.version}`)
  const ours = async (): Promise<Durations> => {
    let session: BenchSession | undefined
    const open = await timeMs(async () => (session = await openSession(host, 'docker')))
    if (!session) throw new Error('the session was not opened')
    const opened = session
    const first = await timeMs(() => runCell(opened, 'print(1 + 1)'))
    const second = await timeMs(() => runCell(opened, 'print(1 + 1)'))
    return { open, first, second, close: await timeMs(() => opened.close()) }
  }
  const theirs = async (): Promise<Durations> => ({
    open: await peer.command('open'),
    first: await peer.command('run'),
    second: await peer.command('run'),
    close: await peer.command('close'),
  })
  await interleaved(1, { ours, theirs })
  const samples = await interleaved(context.runs, { ours, theirs })
  return (['open', 'first', 'second', 'close'] as const).flatMap((what) => {
    const [mine, other] = [samples.ours, samples.theirs].map((all) => all.map((timings) => timings[what]))
    if (!mine || !other) throw new Error('nothing was measured')
    return [
      { name: `${phaseNames[what]}, durable-ptc`, unit: 'ms' as const, samples: mine },
      { name: `${phaseNames[what]}, llm-sandbox`, unit: 'ms' as const, samples: other },
      { name: `${phaseNames[what]}, durable-ptc / llm-sandbox`, unit: 'x' as const, samples: ratios(mine, other) },
    ]
  })
})
