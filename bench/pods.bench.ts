import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { externalValue } from '../dist/common/json/external-value.js'
import { defaultLimits } from '../dist/common/run/limits.js'
import { createKubernetesBackend } from '../dist/sandbox/kubernetes/backend.js'
import { podName } from '../dist/sandbox/kubernetes/pod/pod-identity.js'
import type { SessionHost } from '../dist/sandbox/session/session-host.js'
import { OneNodeCluster, sandboxNamespace } from '../test/support/kubernetes/one-node-cluster.js'
import { benchmark, type BenchContext } from './support/benchmark.js'
import { interleaved, ratios, timeMs } from './support/measure.js'
import {
  type BenchSession,
  createDocker,
  createHost,
  namespace,
  openSession,
  untilFirstCell,
} from './support/sandboxes.js'

const valueBytes = 20e6

/** Steps of a session that is lost. */
const lostSteps = 10

let cells = 0

const valueJson = Buffer.from(JSON.stringify('x'.repeat(valueBytes)))
const value = externalValue({
  sha256: createHash('sha256').update(valueJson).digest('hex'),
  bytes: valueJson.length,
  preview: '',
})

// Compares sessions in pods of a cluster of one node with sessions in containers of the Docker daemon of the same
// machine: both have runc. Without Temporal.
await benchmark('pods', async (context) => {
  const { runs, calls, progress, defer } = context
  const docker = await createDocker(context)
  progress('a cluster starts')
  const cluster = await OneNodeCluster.start()
  defer(() => cluster.stop())
  process.env['KUBECONFIG'] = cluster.workerKubeconfig
  const podHost = async (warm = 0): Promise<SessionHost> => {
    const options = { namespace: sandboxNamespace, image: cluster.image }
    const backend = createKubernetesBackend({ options, owner: namespace, limits: defaultLimits, warm })
    const { usable, problems } = await backend.check()
    if (!usable) throw new Error(JSON.stringify(problems))
    return createHost(backend, context)
  }
  const hosts = {
    docker: await createHost(docker, context),
    dockerWarm: await createHost(await createDocker(context, 1), context),
    pod: await podHost(),
    podWarm: await podHost(1),
    podOther: await podHost(),
  }

  progress(`${runs} repetitions of a session, cold and from the pool, in Docker and in a pod`)
  const starts = {
    docker: () => untilFirstCell(hosts.docker, 'docker'),
    pod: () => untilFirstCell(hosts.pod, 'kubernetes'),
    dockerWarm: () => untilRefilled(context, () => untilFirstCell(hosts.dockerWarm, 'docker')),
    podWarm: () => untilRefilled(context, () => untilFirstCell(hosts.podWarm, 'kubernetes')),
  }
  await interleaved(1, starts)
  const started = await interleaved(runs, starts)

  progress(`${runs} repetitions of ${calls} calls and of a value of ${valueBytes / 1e6} MB`)
  const open = (host: SessionHost, backend: 'docker' | 'kubernetes') => openSession(host, backend, { readValue })
  const sessions = { docker: await open(hosts.docker, 'docker'), pod: await open(hosts.pod, 'kubernetes') }
  const transfers = {
    docker: async () => (await timeMs(() => makeCalls(sessions.docker, calls))) / calls,
    pod: async () => (await timeMs(() => makeCalls(sessions.pod, calls))) / calls,
    dockerValue: () => timeValue(sessions.docker),
    podValue: () => timeValue(sessions.pod),
  }
  await interleaved(1, transfers)
  const transferred = await interleaved(runs, transfers)

  progress(`${runs} repetitions of a lost worker and a lost pod`)
  const recoveries = await interleaved(runs, {
    worker: () => timeTakeover(hosts.pod, hosts.podOther),
    pod: () => timeRebuild(hosts.pod, cluster),
  })
  return [
    { name: 'Docker session cold, first cell done', unit: 'ms', samples: started.docker },
    { name: 'pod session cold, first cell done', unit: 'ms', samples: started.pod },
    { name: 'Docker session from the pool, first cell done', unit: 'ms', samples: started.dockerWarm },
    { name: 'pod session from the pool, first cell done', unit: 'ms', samples: started.podWarm },
    { name: 'pod cold / Docker cold', unit: 'x', samples: ratios(started.pod, started.docker) },
    { name: 'pod from the pool / Docker cold', unit: 'x', samples: ratios(started.podWarm, started.docker) },
    { name: 'Docker, one step', unit: 'ms', samples: transferred.docker },
    { name: 'pod, one step', unit: 'ms', samples: transferred.pod },
    { name: 'one step, pod / Docker', unit: 'x', samples: ratios(transferred.pod, transferred.docker) },
    { name: 'Docker, value of 20 MB', unit: 'ms', samples: transferred.dockerValue },
    { name: 'pod, value of 20 MB', unit: 'ms', samples: transferred.podValue },
    { name: 'value of 20 MB, pod / Docker', unit: 'x', samples: ratios(transferred.podValue, transferred.dockerValue) },
    { name: 'next step on another worker', unit: 'ms', samples: recoveries.worker },
    { name: `next step after a lost pod, ${lostSteps} repeated`, unit: 'ms', samples: recoveries.pod },
  ]
})

/** Gives a pool time to start a new sandbox before each sample. */
async function untilRefilled({ signal }: BenchContext, measure: () => Promise<number>): Promise<number> {
  await pause(3_000, undefined, { signal })
  return measure()
}

/** Makes calls one after the other: each is a step. */
async function makeCalls(session: BenchSession, count: number): Promise<void> {
  cells += 1
  const source = `for value in range(${count}): await ping(value=value)`
  let result = await session.executeStep({ type: 'cell', cell: cells, source })
  while (result.type === 'suspended') {
    const results = result.calls.map(({ index }) => ({ index, outcome: { status: 'ok', value: 1 } }) as const)
    result = await session.executeStep({ type: 'results', results })
  }
  if (result.type !== 'completed') throw new Error(`the calls did not complete: ${JSON.stringify(result)}`)
}

/** The chunks of a stored value. */
// oxlint-disable-next-line require-await
async function* readValue(): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < valueJson.length; at += 65_536) yield valueJson.subarray(at, at + 65_536)
}

async function timeValue(session: BenchSession): Promise<number> {
  cells += 1
  const cell = await session.executeStep({ type: 'cell', cell: cells, source: 'text = await ping(value=1)' })
  if (cell.type !== 'suspended') throw new Error(`the cell did not call: ${JSON.stringify(cell)}`)
  const results = cell.calls.map(({ index }) => ({ index, outcome: { status: 'ok', value } }) as const)
  return timeMs(async () => {
    const result = await session.executeStep({ type: 'results', results })
    if (result.type !== 'completed') throw new Error(`the value did not arrive: ${JSON.stringify(result)}`)
  })
}

/** The time of the first step by another worker, which attaches to the pod. */
async function timeTakeover(first: SessionHost, other: SessionHost): Promise<number> {
  const session = await openSession(first, 'kubernetes')
  try {
    await makeCalls(session, lostSteps)
    cells += 1
    return await timeMs(() => session.executeStep({ type: 'cell', cell: cells, source: 'pass' }, other))
  } finally {
    await other.close(session.ref)
    await session.close()
  }
}

/** The time from the deletion of a pod until another one has repeated the steps. */
async function timeRebuild(host: SessionHost, cluster: OneNodeCluster): Promise<number> {
  const lost = await openSession(host, 'kubernetes')
  await makeCalls(lost, lostSteps)
  const { id: session, epoch } = lost.ref
  const deleting = cluster.deletePod(podName({ namespace, session, epoch }))
  const time = await timeMs(async () => {
    let result = await lost.executeStep({ type: 'cell', cell: ++cells, source: 'pass' })
    while (result.type !== 'lost') result = await lost.executeStep({ type: 'cell', cell: ++cells, source: 'pass' })
    const rebuilt = await openSession(host, 'kubernetes')
    await makeCalls(rebuilt, lostSteps)
    await rebuilt.close()
  })
  await deleting
  await lost.close()
  return time
}
