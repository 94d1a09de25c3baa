import { expect, test } from 'vitest'
import { labelKeys } from './container/sandbox-identity.js'
import type { DockerEngine } from './engine/docker-engine.js'
import { listSandboxes, removeExpiredSandboxes } from './expired-containers.js'

/** A daemon with three stopped sandboxes and one that runs; records its requests. */
function daemonWith(isExperimental: boolean) {
  const requests: string[] = []
  const containers = ['exited', 'exited', 'exited', 'running'].map((State, index) => ({
    Id: `id-${index}`,
    Names: [`/sandbox-${index}`],
    Labels: {
      [labelKeys.namespace]: 'test',
      [labelKeys.workflow]: 'run',
      [labelKeys.session]: `session-${index}`,
      [labelKeys.epoch]: '1',
      [labelKeys.expires]: '100',
    },
    State,
  }))
  const docker = {
    listContainers: () => {
      requests.push('list')
      return Promise.resolve(containers)
    },
  }
  const engine = {
    call: (_options: object, request: (client: typeof docker, signal: AbortSignal) => unknown) =>
      request(docker, new AbortController().signal),
    dial: ({ path }: { readonly path: string }) => {
      requests.push(path)
      return Promise.resolve(path === '/info' ? { ExperimentalBuild: isExperimental } : [{ Name: 'parked' }])
    },
    remove: (id: string) => {
      requests.push(`remove ${id}`)
      return Promise.resolve()
    },
  } as unknown as DockerEngine
  return { engine, requests }
}

const states = async (engine: DockerEngine) => (await listSandboxes(engine)).map(({ state }) => state)

test('a daemon without checkpoints is not asked for the checkpoints of each container', async () => {
  const { engine, requests } = daemonWith(false)
  expect(await states(engine)).toEqual(['exited', 'exited', 'exited', 'running'])
  expect(requests).toEqual(['list', '/info'])
})

test('a stopped container with a checkpoint is parked', async () => {
  const { engine, requests } = daemonWith(true)
  expect(await states(engine)).toEqual(['parked', 'parked', 'parked', 'running'])
  expect(requests).toHaveLength(5)
})

test('expired containers are removed without reading their checkpoints', async () => {
  const { engine, requests } = daemonWith(true)
  const removed = await removeExpiredSandboxes(engine, { now: new Date(200_000) })
  expect(removed).toHaveLength(4)
  expect(requests).toEqual(['list', 'remove id-0', 'remove id-1', 'remove id-2', 'remove id-3'])
})
