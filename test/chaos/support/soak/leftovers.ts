import { createClient } from '@redis/client'
import { vi } from 'vitest'
import { gcRoots } from '../../../../src/client/temporal/gc-roots.js'
import { collectGarbage } from '../../../../src/values/garbage/collect-garbage.js'
import { LocalStore } from '../../../../src/values/local/local-store.js'
import { pollOptions } from '../../../support/poll-options.js'
import { corruptValues, remainingFiles, remainingProcesses } from '../oracle.js'
import { type Fleet, workersOf } from './fleet.js'

/** What a fleet has left behind when every run has ended. */
export interface Leftovers {
  /** Containers that the first round of the reaper had to remove. They are no leak. */
  readonly reapedContainers: number
  /** Values of attempts that died before they were recorded; `ptc values gc` removes them. They are no leak. */
  readonly unrecordedValues: number
  readonly values: number
  readonly streams: number
  /** What must not be left. */
  readonly leaks: readonly string[]
}

/**
 * Ends the workers of a fleet, and looks for what is left: processes, files, containers that a reaper does not remove,
 * open workflows, values that no history refers to and that the garbage collection does not remove, values that are
 * missing or changed, and streams that do not expire.
 *
 * @param deaths number of workers that were killed
 */
export async function findLeftovers(fleet: Fleet, deaths: number): Promise<Leftovers> {
  const exits = await Promise.all(workersOf(fleet).map((worker) => worker.shutdown()))
  const containers = (await listContainers(fleet)).length
  const notRemoved = await reapContainers(fleet)
  const open = await openWorkflows(fleet)
  const values = await collectValues(fleet)
  const streams = await listStreams(fleet)
  return {
    reapedContainers: containers - notRemoved.length,
    unrecordedValues: values.removed,
    values: values.kept,
    streams: streams.length,
    leaks: [
      ...exits.filter((exit) => exit !== 0).map((exit) => `a worker ended with ${exit}`),
      ...remainingProcesses(fleet.env.taskQueue),
      ...remainingFiles(fleet.temporary),
      ...notRemoved,
      ...open,
      ...values.problems,
      ...corruptValues(fleet.store, deaths),
      ...streams.filter(({ ttl }) => ttl < 0).map(({ key }) => `stream ${key} does not expire`),
    ],
  }
}

async function listContainers({ hosts }: Fleet): Promise<readonly string[]> {
  const all = await Promise.all(
    hosts.map(async ({ id, machine }) =>
      (await machine.daemon.containers()).map(({ Names, State }) => `container ${Names[0]} (${State}) of ${id}`),
    ),
  )
  return all.flat()
}

/** A new worker on each host looks for containers of ended runs at once. Returns those that it leaves. */
async function reapContainers(fleet: Fleet): Promise<readonly string[]> {
  await Promise.all(fleet.hosts.map(({ worker }) => worker.startProcess()))
  await vi
    .waitUntil(async () => (await listContainers(fleet)).length === 0, { ...pollOptions, timeout: 30_000 })
    .catch(() => undefined)
  await Promise.all(fleet.hosts.map(({ worker }) => worker.shutdown()))
  return listContainers(fleet)
}

async function openWorkflows({ env: { client } }: Fleet): Promise<readonly string[]> {
  const list = async (): Promise<readonly string[]> => {
    const open: string[] = []
    const running = client.workflow.list({ query: 'ExecutionStatus = "Running"' })
    for await (const { workflowId, type } of running) open.push(`workflow ${workflowId} (${type}) is open`)
    return open
  }
  // The server lists the end of a workflow a moment later.
  await vi
    .waitUntil(async () => (await list()).length === 0, { ...pollOptions, timeout: 30_000 })
    .catch(() => undefined)
  return list()
}

interface CollectedValues {
  readonly removed: number
  readonly kept: number
  readonly problems: readonly string[]
}

async function collectValues({ env: { client }, store: directory }: Fleet): Promise<CollectedValues> {
  const store = new LocalStore(directory)
  const { signal } = new AbortController()
  const collect = () =>
    collectGarbage({ store, roots: () => gcRoots(client, signal), unusedSince: Date.now(), dryRun: false, signal })
  const first = await collect()
  const second = await collect()
  return {
    removed: first.removed.count,
    kept: second.values.count,
    problems: [
      ...(second.unreadable > 0 ? [`${second.unreadable} values that histories refer to can't be read`] : []),
      ...(second.removed.count > 0 ? [`${second.removed.count} values without a reference were left`] : []),
    ],
  }
}

interface StoredStream {
  readonly key: string
  /** Milliseconds; negative: the key does not expire. */
  readonly ttl: number
}

async function listStreams({ redis }: Fleet): Promise<readonly StoredStream[]> {
  const client = createClient({ url: redis.url })
  await client.connect()
  try {
    const keys = await client.keys('*')
    return await Promise.all(keys.map(async (key) => ({ key, ttl: await client.pTTL(key) })))
  } finally {
    client.destroy()
  }
}
