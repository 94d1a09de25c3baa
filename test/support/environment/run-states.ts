import { expect, onTestFinished } from 'vitest'
import type { WorkflowHandle, WorkflowOptions } from '@temporalio/client'
import { DockerProxy } from '../docker/docker-proxy.js'
import { execInContainer } from '../docker/exec-in-container.js'
import { pollSignal } from '../poll-options.js'
import { call, code, faulty, text, turn } from '../script.js'
import { TestEnvironment, type TestEnvironmentOptions } from './test-environment.js'
import { waitForAbort } from '../../../src/common/async/abort.js'
import { Deferred, tool } from '../tools.js'
import { waitForActivity } from './waits.js'

/** A run in the state in which the test ends it. */
export interface RunInState {
  readonly env: TestEnvironment
  readonly handle: WorkflowHandle
  /** Settles when the running tool has been cancelled; undefined when no tool runs. */
  readonly toolAborted?: Promise<unknown>
  /** Ends the state; called after the test has requested the end of the run. */
  readonly release?: () => void
}

/** A test environment, and a function that brings a run of it to its state. */
export interface PreparedState {
  readonly env: TestEnvironment
  readonly start: (end?: Partial<WorkflowOptions>) => Promise<RunInState>
}

type Options = Pick<TestEnvironmentOptions, 'onCleanup'>

/** A tool that runs until it is cancelled, and one that returns when the test releases it. */
function blockingTools() {
  const [waitStarted, waitAborted, manualStarted] = [new Deferred(), new Deferred(), new Deferred()]
  const manualResult = new Deferred<string>()
  const wait = tool('wait', async (_input, { signal }) => {
    waitStarted.resolve()
    await waitForAbort(signal)
    waitAborted.resolve()
    throw signal.reason
  })
  const answered = tool('answered', () => {
    manualStarted.resolve()
    return manualResult.promise
  })
  return {
    tools: [wait, answered],
    waitStarted: waitStarted.promise,
    waitAborted: waitAborted.promise,
    manualStarted: manualStarted.promise,
    answer: manualResult,
  }
}

const silentModel = faulty([{ type: 'delay', attempt: 'every', ms: 600_000 }], turn(text('late')))

/** A run whose worker reaches Docker through a proxy that delays this kind of request. */
async function behindDockerProxy(
  blockedRequest: RegExp,
  activity: string,
  source: string,
  options: Options,
): Promise<PreparedState> {
  const proxy = await DockerProxy.start()
  const env = await proxy.withDockerHost(() => TestEnvironment.start({ ...options, backend: 'docker' }))
  const end = options.onCleanup ?? onTestFinished
  end(() => proxy.close())
  return {
    env,
    async start(ending) {
      proxy.block(blockedRequest)
      const handle = await env.startProgram(source, {}, ending)
      await proxy.blocked
      // The delayed request may belong to the reaper, which removes sandboxes of other runs.
      await waitForActivity(handle, activity)
      return { env, handle, release: () => proxy.release() }
    },
  }
}

/** The state in which a run closes its sandbox. It has its result, so that a cancellation comes too late. */
export const closingState = 'while its sandbox is closed'

/** States in which a run can be ended, and how a run reaches them. */
const states: Readonly<Record<string, (options: Options) => Promise<PreparedState>>> = {
  async 'before its configuration is loaded'(options) {
    const env = await TestEnvironment.start(options)
    await env.workers.stop()
    return {
      env,
      async start(end) {
        const handle = await env.startProgram('print(1)', {}, end)
        return { env, handle, release: () => void env.workers.start() }
      },
    }
  },

  'while its sandbox is opened': (options) =>
    behindDockerProxy(/^POST \S*\/containers\/create/, 'session.open', 'print(1)', options),

  async 'during a model turn'(options) {
    const env = await TestEnvironment.start({ ...options, script: [silentModel] })
    return {
      env,
      async start(end) {
        const handle = await env.startAgent({}, end)
        await env.api.waitForRequest(({ attempt }) => attempt === 1, pollSignal())
        const toolAborted = env.api.waitForRequest(({ outcome }) => outcome === 'abandoned', pollSignal())
        return { env, handle, toolAborted }
      },
    }
  },

  async 'while code runs'(options) {
    const env = await TestEnvironment.start(options)
    return {
      env,
      async start(end) {
        const handle = await env.startProgram('while True: pass', {}, end)
        await waitForActivity(handle, 'session.step')
        return { env, handle }
      },
    }
  },

  async 'while code waits for a tool'(options) {
    const { tools, waitStarted, waitAborted } = blockingTools()
    const env = await TestEnvironment.start({ ...options, tools })
    return {
      env,
      async start(end) {
        const handle = await env.startProgram('await wait()', {}, end)
        await waitStarted
        return { env, handle, toolAborted: waitAborted }
      },
    }
  },

  async 'while a direct call runs'(options) {
    const { tools, waitStarted, waitAborted } = blockingTools()
    const env = await TestEnvironment.start({ ...options, tools, script: [turn(call('wait')), turn(text('never'))] })
    return {
      env,
      async start(end) {
        const handle = await env.startAgent({}, end)
        await waitStarted
        return { env, handle, toolAborted: waitAborted }
      },
    }
  },

  async 'while it is parked'(options) {
    const { tools, waitStarted, waitAborted } = blockingTools()
    const env = await TestEnvironment.start({ ...options, tools, timeouts: { park: '1s' } })
    return {
      env,
      async start(end) {
        const handle = await env.startProgram('await wait()', {}, end)
        await waitStarted
        const parked = async () => (await env.activities(handle)).some(({ summary }) => summary === 'park the session')
        await expect.poll(parked).toBe(true)
        await expect.poll(() => env.containers(handle)).toEqual([])
        return { env, handle, toolAborted: waitAborted }
      },
    }
  },

  async 'between two cells'(options) {
    const env = await TestEnvironment.start({ ...options, script: [turn(code('x = 1')), silentModel] })
    return {
      env,
      async start(end) {
        const handle = await env.startAgent({}, end)
        await env.api.waitForRequest(({ assistantMessages }) => assistantMessages === 1, pollSignal())
        expect(await env.containers(handle)).toMatchObject([{ State: 'running' }])
        return { env, handle }
      },
    }
  },

  async 'while its sandbox is rebuilt'(options) {
    const { tools, manualStarted, answer } = blockingTools()
    const env = await TestEnvironment.start({ ...options, tools })
    const source = `
import os
while not os.path.exists('/tmp/go'): pass
await answered()
`
    return {
      env,
      async start(end) {
        const handle = await env.startProgram(source, {}, end)
        const go = async () => {
          const running = (await env.containers(handle)).filter(({ State }) => State === 'running')
          for (const { Id } of running) await execInContainer(Id, ['touch', '/tmp/go']).catch(() => 1)
          return running.length
        }
        await expect.poll(go).toBe(1)
        await manualStarted
        await env.killContainers(handle)
        answer.resolve('now')
        const repeats = async () =>
          (await env.activities(handle)).some(({ summary }) => summary === 'repeat 1 recorded step')
        await expect.poll(repeats).toBe(true)
        await waitForActivity(handle, 'session.step')
        return { env, handle }
      },
    }
  },

  [closingState]: (options) => behindDockerProxy(/^DELETE \S*\/containers\//, 'session.close', 'print(1)', options),
}

export const stateNames = Object.keys(states)

/** @param onCleanup registers the function that ends the environment; default: at the end of the test */
export function prepareState(state: string, onCleanup?: (end: () => Promise<void>) => void): Promise<PreparedState> {
  const make = states[state]
  if (!make) throw new Error(`there is no state ${state}`)
  return make(onCleanup === undefined ? {} : { onCleanup })
}
