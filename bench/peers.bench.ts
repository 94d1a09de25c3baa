import { benchmark } from './support/benchmark.js'
import { startLlmSandbox } from './support/llm-sandbox.js'
import { interleaved, ratios, timed } from './support/measure.js'
import { openSession, prepareDocker, runCell, startHost, type BenchSession } from './support/sandboxes.js'

interface Timings {
  readonly open: number
  readonly first: number
  readonly second: number
  readonly close: number
}

const names: Readonly<Record<keyof Timings, string>> = {
  open: 'open a session',
  first: 'first run in it',
  second: 'second run in it',
  close: 'close it',
}

// The same work with llm-sandbox, on the same daemon, in the same run: open a session, run a line in it twice, close it.
// Both without Temporal around them.
await benchmark('peers', async (context) => {
  const docker = await prepareDocker(context)
  const host = await startHost(docker, context)
  const peer = await startLlmSandbox(docker.image, context)
  context.tell(`${context.runs} repetitions of ours and llm-sandbox ${peer.version}`)
  const ours = async (): Promise<Timings> => {
    let session: BenchSession | undefined
    const open = await timed(async () => (session = await openSession(host, 'docker')))
    if (!session) throw new Error('the session was not opened')
    const opened = session
    const first = await timed(() => runCell(opened, 'print(1 + 1)'))
    const second = await timed(() => runCell(opened, 'print(1 + 1)'))
    return { open, first, second, close: await timed(() => opened.close()) }
  }
  const theirs = async (): Promise<Timings> => ({
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
      { what: `${names[what]}, durable-ptc`, unit: 'ms' as const, samples: mine },
      { what: `${names[what]}, llm-sandbox`, unit: 'ms' as const, samples: other },
      { what: `${names[what]}, durable-ptc / llm-sandbox`, unit: 'x' as const, samples: ratios(mine, other) },
    ]
  })
})
