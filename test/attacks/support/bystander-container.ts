import Dockerode from 'dockerode'
import { expect } from 'vitest'
import { defaultLimits } from '../../../src/common/run/limits.js'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { containerCreateOptions } from '../../../src/sandbox/docker/container/container-create-options.js'
import type { TestEnvironment } from '../../support/environment/test-environment.js'
import { Deferred, tool } from '../../support/tools.js'
import { processesOf, userOf } from './host-processes.js'

/** Runs bystander programs, each during an attack. */
export class BystanderContainer {
  readonly users: number[] = []
  #started = new Deferred()
  #release = new Deferred<null>()
  /** The tool for which their programs wait. The test environment must have it. */
  readonly wait = tool('wait', () => {
    this.#started.resolve()
    return this.#release.promise
  })

  /** Runs `work` while a bystander program waits for its tool; returns the outcome of that program. */
  async runDuring(
    env: TestEnvironment,
    work: (container: Dockerode.ContainerInspectInfo) => Promise<void>,
  ): Promise<ProgramResult> {
    this.#started = new Deferred()
    this.#release = new Deferred<null>()
    const source = 'import os\nopen("/tmp/mine", "w").write("mine")\nawait wait()\nprint(open("/tmp/mine").read())'
    const bystander = await env.startProgram(source)
    await this.#started.promise
    const [info] = await env.containers(bystander)
    const container = await new Dockerode().getContainer(info?.Id ?? '').inspect()
    this.users.push(userOf(container))
    await work(container)
    this.#release.resolve(null)
    const result = (await bystander.result()) as ProgramResult
    await env.expectCleanEnd(bystander)
    return result
  }

  /** Whether all their processes have ended on this machine. */
  haveExited(): boolean {
    return this.users.flatMap(processesOf).length === 0
  }
}

/** Expects that a live container has the settings of container-body.ts, field by field. */
export function expectContainerSettings(live: Dockerode.ContainerInspectInfo, runtime?: string): void {
  const { HostConfig: host, Config: config } = live
  const expected = containerCreateOptions({
    image: live.Image,
    userId: userOf(live),
    labels: config.Labels,
    language: 'python',
    limits: defaultLimits,
    seccomp: host.SecurityOpt.find((each: string) => each.startsWith('seccomp='))?.slice(8) ?? '',
    runtime,
  })
  for (const [field, value] of Object.entries(expected.HostConfig)) {
    const found = (host as Record<string, unknown>)[field]
    // The daemon reports null for some empty lists, and adds a count.
    if (Array.isArray(value) && value.length === 0) expect(found ?? [], field).toEqual([])
    else expect(found, field).toEqual(field === 'RestartPolicy' ? { Name: 'no', MaximumRetryCount: 0 } : value)
  }
}
