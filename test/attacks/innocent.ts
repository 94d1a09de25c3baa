import Dockerode from 'dockerode'
import { expect } from 'vitest'
import { defaultLimits } from '../../src/common/limits.js'
import type { ProgramResult } from '../../src/common/runs.js'
import { containerBody } from '../../src/sandbox/docker/container-body.js'
import type { Stack } from '../support/stack.js'
import { Happening, tool } from '../support/tools.js'
import { processesOf, userOf } from './host-processes.js'

/** Programs that do nothing wrong, and what is done beside them. */
export class Innocent {
  readonly users: number[] = []
  #called = new Happening()
  #free = new Happening<null>()
  /** What their program waits for: to be given to the stack. */
  readonly wait = tool('wait', () => {
    this.#called.happen()
    return this.#free.happened
  })

  /** Runs what is to be done while an innocent program waits for its tool; gives how that one ended. */
  async beside(
    stack: Stack,
    work: (container: Dockerode.ContainerInspectInfo) => Promise<void>,
  ): Promise<ProgramResult> {
    this.#called = new Happening()
    this.#free = new Happening<null>()
    const source = 'import os\nopen("/tmp/mine", "w").write("mine")\nawait wait()\nprint(open("/tmp/mine").read())'
    const innocent = await stack.startProgram(source)
    await this.#called.happened
    const [info] = await stack.containers(innocent)
    const container = await new Dockerode().getContainer(info?.Id ?? '').inspect()
    this.users.push(userOf(container))
    await work(container)
    this.#free.happen(null)
    const result = (await innocent.result()) as ProgramResult
    await stack.leftClean(innocent)
    return result
  }

  /** Of none of them a process is left on this machine. */
  areGone(): boolean {
    return this.users.flatMap(processesOf).length === 0
  }
}

/** A live container is what container-body.ts says, field by field. */
export function expectAsInTable(live: Dockerode.ContainerInspectInfo, runtime?: string): void {
  const { HostConfig: host, Config: config } = live
  const wanted = containerBody({
    image: live.Image,
    userId: userOf(live),
    labels: config.Labels,
    limits: defaultLimits,
    seccomp: host.SecurityOpt.find((each: string) => each.startsWith('seccomp='))?.slice(8) ?? '',
    runtime,
  })
  for (const [field, value] of Object.entries(wanted.HostConfig)) {
    const found = (host as Record<string, unknown>)[field]
    // The daemon says null for some empty lists, and adds a count of its own.
    if (Array.isArray(value) && value.length === 0) expect(found ?? [], field).toEqual([])
    else expect(found, field).toEqual(field === 'RestartPolicy' ? { Name: 'no', MaximumRetryCount: 0 } : value)
  }
}
