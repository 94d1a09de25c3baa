import { expect, onTestFinished } from 'vitest'
import type { WorkflowHandle, WorkflowOptions } from '@temporalio/client'
import { DockerGate } from './docker-gate.js'
import { exitCodeIn } from './exit-code-in.js'
import { patient, patientSignal } from './patient.js'
import { call, code, faulty, text, turn } from './script.js'
import { Stack, type StackOptions } from './stack.js'
import { aborted, Happening, tool } from './tools.js'

/** A run that has been brought to where it is to be ended. */
export interface Reached {
  readonly stack: Stack
  readonly handle: WorkflowHandle
  /** Settles when the tool under way has been told to stop; undefined when none is. */
  readonly told?: Promise<unknown>
  /** The state is kept up till then; called once the run is to end. */
  readonly letGo?: () => void
}

/** A stack that is there, and the way of a run of it to its state. */
export interface Place {
  readonly stack: Stack
  readonly start: (end?: Partial<WorkflowOptions>) => Promise<Reached>
}

type Options = Pick<StackOptions, 'onEnd'>

/** A tool that runs until it is told to stop, and one that the test answers. */
function world() {
  const [asked, told, askedAgain] = [new Happening<null>(), new Happening<null>(), new Happening<null>()]
  const answer = new Happening<string>()
  const wait = tool('wait', async (_input, { signal }) => {
    asked.happen(null)
    await aborted(signal)
    told.happen(null)
    throw signal.reason
  })
  const answered = tool('answered', () => {
    askedAgain.happen(null)
    return answer.happened
  })
  return {
    tools: [wait, answered],
    asked: asked.happened,
    told: told.happened,
    askedAgain: askedAgain.happened,
    answer,
  }
}

const silent = faulty([{ type: 'delay', attempt: 'every', ms: 600_000 }], turn(text('late')))

/** A run whose worker reaches Docker through a gate that holds this kind of request. */
async function gated(kind: RegExp, activity: string, source: string, options: Options): Promise<Place> {
  const gate = await DockerGate.open()
  const stack = await gate.lead(() => Stack.start({ ...options, backend: 'docker' }))
  const end = options.onEnd ?? onTestFinished
  end(() => gate.close())
  return {
    stack,
    async start(ending) {
      gate.hold(kind)
      const handle = await stack.startProgram(source, {}, ending)
      await gate.hit
      // The request that waits may be the reaper's, who sweeps up after others.
      await stack.activityRuns(handle, activity)
      return { stack, handle, letGo: () => gate.release() }
    },
  }
}

/** Where a run can be when it is ended, and how it gets there. */
const states: Readonly<Record<string, (options: Options) => Promise<Place>>> = {
  async 'before it has a plan'(options) {
    const stack = await Stack.start(options)
    await stack.stopWorker()
    return {
      stack,
      async start(end) {
        const handle = await stack.startProgram('print(1)', {}, end)
        return { stack, handle, letGo: () => void stack.startWorker() }
      },
    }
  },

  'while its sandbox is opened': (options) =>
    gated(/^POST \S*\/containers\/create/, 'session.open', 'print(1)', options),

  async 'while the model answers'(options) {
    const stack = await Stack.start({ ...options, script: [silent] })
    return {
      stack,
      async start(end) {
        const handle = await stack.startAgent({}, end)
        await stack.api.waitForRequest(({ attempt }) => attempt === 1, patientSignal())
        const told = stack.api.waitForRequest(({ outcome }) => outcome === 'abandoned', patientSignal())
        return { stack, handle, told }
      },
    }
  },

  async 'while its code runs'(options) {
    const stack = await Stack.start(options)
    return {
      stack,
      async start(end) {
        const handle = await stack.startProgram('while True: pass', {}, end)
        await stack.activityRuns(handle, 'session.advance')
        return { stack, handle }
      },
    }
  },

  async 'while its code waits for a tool'(options) {
    const { tools, asked, told } = world()
    const stack = await Stack.start({ ...options, tools })
    return {
      stack,
      async start(end) {
        const handle = await stack.startProgram('await wait()', {}, end)
        await asked
        return { stack, handle, told }
      },
    }
  },

  async 'while a direct call runs'(options) {
    const { tools, asked, told } = world()
    const stack = await Stack.start({ ...options, tools, script: [turn(call('wait')), turn(text('never'))] })
    return {
      stack,
      async start(end) {
        const handle = await stack.startAgent({}, end)
        await asked
        return { stack, handle, told }
      },
    }
  },

  async 'while it is parked'(options) {
    const { tools, asked, told } = world()
    const stack = await Stack.start({ ...options, tools, timings: { park: '1s' } })
    return {
      stack,
      async start(end) {
        const handle = await stack.startProgram('await wait()', {}, end)
        await asked
        const parked = async () =>
          (await stack.activities(handle)).some(({ summary }) => summary === 'park the session')
        await expect.poll(parked, patient).toBe(true)
        await expect.poll(() => stack.containers(handle), patient).toEqual([])
        return { stack, handle, told }
      },
    }
  },

  async 'between two cells'(options) {
    const stack = await Stack.start({ ...options, script: [turn(code('x = 1')), silent] })
    return {
      stack,
      async start(end) {
        const handle = await stack.startAgent({}, end)
        await stack.api.waitForRequest(({ assistantMessages }) => assistantMessages === 1, patientSignal())
        expect(await stack.containers(handle)).toMatchObject([{ State: 'running' }])
        return { stack, handle }
      },
    }
  },

  async 'while its sandbox is rebuilt'(options) {
    const { tools, askedAgain, answer } = world()
    const stack = await Stack.start({ ...options, tools })
    const source = `
import os
while not os.path.exists('/tmp/go'): pass
await answered()
`
    return {
      stack,
      async start(end) {
        const handle = await stack.startProgram(source, {}, end)
        const go = async () => {
          const running = (await stack.containers(handle)).filter(({ State }) => State === 'running')
          for (const { Id } of running) await exitCodeIn(Id, ['touch', '/tmp/go']).catch(() => 1)
          return running.length
        }
        await expect.poll(go, patient).toBe(1)
        await askedAgain
        await stack.killContainer(handle)
        answer.happen('now')
        const repeats = async () =>
          (await stack.activities(handle)).some(({ summary }) => summary === 'repeat 1 recorded step')
        await expect.poll(repeats, patient).toBe(true)
        await stack.activityRuns(handle, 'session.advance')
        return { stack, handle }
      },
    }
  },

  'while its sandbox is closed': (options) => gated(/^DELETE \S*\/containers\//, 'session.close', 'print(1)', options),
}

export const stateNames = Object.keys(states)

/** @param onEnd takes what ends the place; default: it ends with the test */
export function placeOf(state: string, onEnd?: (end: () => Promise<void>) => void): Promise<Place> {
  const make = states[state]
  if (!make) throw new Error(`there is no state ${state}`)
  return make(onEnd === undefined ? {} : { onEnd })
}
