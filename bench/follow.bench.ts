import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { benchmark } from './support/benchmark.js'
import { processCpuMs } from './support/cpu.js'
import { interleaved, timeMs } from './support/measure.js'
import { outputOf, startProgram } from './support/programs.js'
import { type Stack, startServer } from './support/stack.js'
import { processConfig, processEnvironment, ptc, startPtcWorker } from './support/worker-process.js'

/** Calls of the followed program and of the shown one, per `--calls`. */
const factors = { followed: 30, shown: 100 } as const

/** A followed program takes a minute or more. */
const maxFollowed = 3

const sampleEveryMs = 50

/** Maximum bytes of the output of `ptc show`. */
const maxOutput = 100e6

const source = (calls: number): string => `for value in range(${calls}):\n    await ping(value=value)`

interface Followed {
  /** CPU time from the start of the run to the end of the command, in percent of that time. */
  readonly percent: number
  readonly seconds: number
  /** CPU time of the command before the run. */
  readonly startMs: number
}

// Measures the cost of watching a run: the CPU time of `ptc exec`, which follows a program at a terminal, and the time
// of `ptc show`. `--calls 100` makes programs of 3,000 and 10,000 sequential calls. The worker has its own process.
await benchmark('follow', async (context) => {
  const { progress, defer } = context
  const [followed, shown] = [context.calls * factors.followed, context.calls * factors.shown]
  const stack = await startServer(context)
  const worker = startPtcWorker(stack)
  defer(() => worker.kill('SIGTERM'))
  await worker.waitUntilReady()

  const follows: Followed[] = []
  for (let run = 0; run < Math.min(context.runs, maxFollowed); run += 1) {
    progress(`\`ptc exec\` of ${followed} calls`)
    follows.push(await follow(stack, followed))
  }
  progress(`a program of ${shown} calls for \`ptc show\``)
  const [short, long] = [await programOf(stack, 10), await programOf(stack, shown)]
  const work = { short: () => show(stack, short), long: () => show(stack, long) }
  await interleaved(1, work)
  const shows = await interleaved(context.runs, work)
  return [
    {
      name: `\`ptc exec\` that follows ${followed} calls, of one core`,
      unit: '%',
      samples: follows.map(({ percent }) => percent),
      target: 5,
    },
    { name: 'the followed run', unit: 's', samples: follows.map(({ seconds }) => seconds) },
    { name: 'CPU of `ptc exec` before the run', unit: 'ms', samples: follows.map(({ startMs }) => startMs) },
    { name: '`ptc show` of 10 calls', unit: 's', samples: shows.short },
    { name: `\`ptc show\` of ${shown} calls`, unit: 's', samples: shows.long, target: 2 },
  ]
})

/** Executes a program with `ptc exec` in a pseudo terminal of `script` (util-linux). */
async function follow(stack: Stack, calls: number): Promise<Followed> {
  const [file, id] = [join(stack.directory, 'program.py'), randomUUID()]
  await writeFile(file, source(calls))
  const command = [process.execPath, ptc, 'exec', file, '--config', processConfig, '--id', id]
  const words = command.map((word) => `'${word}'`).join(' ')
  const inTerminal = ['-qefc', `stty cols 120 rows 40 && exec ${words}`, '/dev/null']
  const child = spawn('script', inTerminal, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...processEnvironment(stack), TERM: 'xterm' },
  })
  const exit = once(child, 'exit')
  let output = ''
  child.stdout.on('data', (text) => (output += String(text)))
  let begun: { readonly at: number; readonly cpuMs: number } | undefined
  let last = { at: performance.now(), cpuMs: 0 }
  for (; child.exitCode === null && child.signalCode === null; await pause(sampleEveryMs)) {
    const cpuMs = cpuOfOnlyChild(child.pid)
    if (cpuMs === undefined) continue
    last = { at: performance.now(), cpuMs }
    if (output.includes(`run ${id}`)) begun ??= last
  }
  const [code] = await exit
  if (code !== 0 || begun === undefined) throw new Error(`\`ptc exec\` failed (${code}):\n${output}`)
  const milliseconds = last.at - begun.at
  const percent = (100 * (last.cpuMs - begun.cpuMs)) / milliseconds
  return { percent, seconds: milliseconds / 1_000, startMs: begun.cpuMs }
}

/** @returns undefined when the process has no child, or has ended */
function cpuOfOnlyChild(pid: number | undefined): number | undefined {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
    return processCpuMs(Number(children))
  } catch {
    return undefined
  }
}

/** @returns the id of an ended program */
async function programOf(stack: Stack, calls: number): Promise<string> {
  const handle = await startProgram(stack, source(calls))
  await outputOf(handle)
  return handle.workflowId
}

/** @returns the seconds of `ptc show` */
async function show(stack: Stack, workflowId: string): Promise<number> {
  const command = [ptc, 'show', workflowId, '--config', processConfig]
  const options = { env: processEnvironment(stack), maxBuffer: maxOutput }
  return (await timeMs(() => promisify(execFile)(process.execPath, command, options))) / 1_000
}
