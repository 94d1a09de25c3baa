import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import Dockerode from 'dockerode'
import { expect, it, onTestFinished } from 'vitest'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { SessionHost } from '../../../src/sandbox/session/session-host.js'
import { reap } from '../../../src/worker/resources/reaper.js'
import { describeDocker } from '../../support/docker/describe-docker.js'

const poolProcess = fileURLToPath(new URL('pool-process.ts', import.meta.url))

/** Long enough for a slow machine to create two containers, and short enough to wait for. */
const maxIdleSeconds = 20

/** Processes with warm pools of one owner, and the reaper of a new worker of that owner. */
class Pools {
  readonly owner = `pools-${randomUUID()}`
  readonly #docker = new Dockerode()

  constructor() {
    onTestFinished(async () => {
      for (const { Id } of await this.containers()) await this.#docker.getContainer(Id).remove({ force: true })
    })
  }

  /** Starts a process and waits until its pool is full; also returns the name of the pool. */
  async startPoolProcess(): Promise<{ readonly process: ChildProcess; readonly pool: string }> {
    const before = new Set((await this.containers()).map(poolOf))
    const child = fork(poolProcess, [this.owner, String(maxIdleSeconds)], { execArgv: ['--import', 'jiti/register'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const mine = async (): Promise<readonly string[]> => {
      const running = (await this.containers()).filter(({ State }) => State === 'running')
      return running.map(poolOf).filter((pool) => !before.has(pool))
    }
    await expect.poll(mine).toHaveLength(2)
    const [pool = ''] = await mine()
    return { process: child, pool }
  }

  /** Leaves the full pool of a killed process behind; returns its name. */
  async leaveOrphanedPool(): Promise<string> {
    for (;;) {
      const { process, pool } = await this.startPoolProcess()
      process.kill('SIGKILL')
      await once(process, 'exit')
      // The process may have been replacing a container, and a reaper of a test with a later clock may remove some.
      if ((await this.containers(pool)).length === 2) return pool
    }
  }

  containers(pool?: string): Promise<Dockerode.ContainerInfo[]> {
    const label = [`ptc.namespace=${this.owner}`, ...(pool === undefined ? [] : [`ptc.pool=${pool}`])]
    return this.#docker.listContainers({ all: true, filters: { label } })
  }

  /** One round of a worker's reaper. */
  async reap(): Promise<void> {
    const docker = createDockerBackend()
    const host = new SessionHost({ namespace: this.owner, backends: [docker], tools: [] })
    const lines: string[] = []
    const isRunning = (): Promise<boolean> => Promise.resolve(true)
    await reap({ docker, host, owner: this.owner, isRunning, onProgress: (line) => lines.push(line) })
    await host.shutdown()
    await docker.close()
    expect(lines).toEqual([])
  }
}

function poolOf({ Labels }: Dockerode.ContainerInfo): string {
  return Labels['ptc.pool'] ?? ''
}

describeDocker('kill -9', () => {
  it('after kill -9 of a process with a warm pool, only its expired idle containers are removed', async () => {
    const pools = new Pools()
    const alive = await pools.startPoolProcess()
    const dead = await pools.leaveOrphanedPool()

    const left = async (): Promise<number> => {
      await pools.reap()
      return (await pools.containers(dead)).length
    }
    await expect.poll(left, { interval: 500 }).toBe(0)
    // The running process has replaced its own containers by now, or is replacing them.
    await expect
      .poll(async () => (await pools.containers(alive.pool)).map(({ State }) => State))
      .toEqual(['running', 'running'])
    expect(alive.process.exitCode).toBeNull()
  })
})
