import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { defaultLimits } from '../../../../src/common/run/limits.js'
import { metrics } from '../../../../src/common/telemetry/metrics.js'
import type { SandboxBackend } from '../../../../src/sandbox/backend.js'
import { SessionHarness } from '../../../../src/sandbox/conformance/session-harness.js'
import { podName } from '../../../../src/sandbox/kubernetes/pod/pod-identity.js'
import { neverAborted, useFakeCluster } from '../../../support/kubernetes/use-fake-cluster.js'

const { cluster, newBackend, newSpec } = useFakeCluster()

/** The metric `ptc_warm_pool_idle`. */
let poolSize: number | undefined
const ignored = { add: () => undefined, record: () => undefined }
beforeAll(() =>
  metrics.use({
    createCounter: () => ignored,
    createHistogram: () => ignored,
    createGauge: (name) => ({
      set(value) {
        if (name === 'ptc_warm_pool_idle') poolSize = value
      },
    }),
  }),
)
beforeEach(() => {
  poolSize = undefined
})
afterAll(() => metrics.use(undefined))

describe('a warm pool', () => {
  const idleNames = () => [...cluster().pods.keys()].filter((name) => name.startsWith('ptc-idle-'))

  async function filledBackend(): Promise<SandboxBackend> {
    const backend = newBackend({}, {}, 1)
    expect((await backend.check()).usable).toBe(true)
    await expect.poll(() => poolSize).toBe(1)
    return backend
  }

  test('gives its pod to a session, and starts the next one', async () => {
    const backend = await filledBackend()
    const [idle = ''] = idleNames()
    const harness = await new SessionHarness(backend).open()
    await expect(harness.runCell('print((await get(1))["a"])')).resolves.toMatchObject({ output: '1\n' })
    expect(cluster().pods.get(podName(harness.sandboxSpec))?.pod).toMatchObject({
      metadata: { annotations: { 'ptc.pod': idle }, ownerReferences: [{ kind: 'Pod', name: idle }] },
      spec: { schedulingGates: [{ name: 'durable-ptc/claim' }] },
    })
    await expect.poll(() => idleNames().filter((name) => name !== idle)).toHaveLength(1)
    await harness.close()
    await expect.poll(() => cluster().pods.has(idle) || cluster().pods.has(podName(harness.sandboxSpec))).toBe(false)
    await backend.close()
    await expect.poll(() => cluster().pods.size).toBe(0)
  })

  test('a claimed pod is taken over by another worker, and is gone when it was deleted', async () => {
    const first = await new SessionHarness(await filledBackend()).open()
    await first.runCell('x = 41')
    const other = new SessionHarness(newBackend(), {}, first.session)
    Object.assign(other, { step: first.step, cell: first.cell })
    await expect(other.runCell('print(x + 1)')).resolves.toMatchObject({ output: '42\n' })
    const idle = cluster().pods.get(podName(first.sandboxSpec))?.pod.metadata?.annotations?.['ptc.pod'] ?? ''
    await fetch(`${cluster().url}/api/v1/namespaces/sandboxes/pods/${idle}`, { method: 'DELETE' })
    await expect.poll(() => cluster().pods.has(idle)).toBe(false)
    await expect(newBackend().attach(first.sandboxSpec, neverAborted)).resolves.toBeUndefined()
    // The session gets another one, although the claim is still there.
    const next = await newBackend().open(first.sandboxSpec, neverAborted)
    await next.kill()
  })

  test('a session that has a pod gets no other one from the pool', async () => {
    const spec = newSpec()
    const connection = await newBackend().open(spec, neverAborted)
    const backend = await filledBackend()
    const other = await backend.open(spec, neverAborted)
    await expect(connection.ended).resolves.toMatchObject({ reason: 'replaced' })
    expect(cluster().pods.get(podName(spec))?.pod.metadata?.annotations).not.toHaveProperty(['ptc.pod'])
    expect(idleNames()).toHaveLength(1)
    await other.kill()
  })

  test('an idle pod that ends is replaced', async () => {
    await filledBackend()
    const [idle = ''] = idleNames()
    cluster().kill(idle)
    await expect.poll(() => idleNames().filter((name) => name !== idle)).toHaveLength(1)
  })

  test('a session with other limits gets a pod of its own', async () => {
    const backend = await filledBackend()
    const spec = { ...newSpec(), limits: { ...defaultLimits, processes: 7 } }
    const connection = await backend.open(spec, neverAborted)
    expect(cluster().pods.get(podName(spec))?.pod.metadata?.labels?.['ptc.kind']).toBe('session')
    await connection.kill()
  })
})
