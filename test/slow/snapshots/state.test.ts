import { afterAll, describe, expect, it } from 'vitest'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { createWasmBackend } from '../../../src/sandbox/wasm/index.js'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { supported } from './supported-programs.js'
import { unsupported, unsupportedProcesses, unrestorable } from './unsupported-programs.js'
import { deterministic } from './deterministic-programs.js'
import { runInBoth, runCells, restoredFrom, snapshotOf } from './restored-sandbox.js'

describeDocker('a snapshot of a container', () => {
  const backend = createDockerBackend()
  afterAll(() => backend.close())
  snapshotTests(backend, [...supported, ...deterministic], unsupported, unrestorable)
  unsupportedTests(backend, unsupportedProcesses)

  it('a snapshot of a container does not exceed its size limit', async () => {
    const harness = await runCells(backend, ['import os\nnoise = os.urandom(200_000)'])
    expect(await snapshotOf(harness, { bytes: 100_000, seconds: 60 })).toMatchObject({
      reason: expect.stringMatching(/^noise: more bytes/),
    })
    expect(await snapshotOf(harness)).toMatchObject({ text: expect.stringMatching(/^[\w+/]+=*$/) })
    await harness.close()
  })

  it('a snapshot of a container that takes too long is refused, and the program is unchanged', async () => {
    const loop = 'import types\nn = types.SimpleNamespace()\ndef loop(_):\n    while True: pass\nn.__reduce_ex__ = loop'
    const harness = await runCells(backend, [loop])
    expect(await snapshotOf(harness, { bytes: 1e6, seconds: 1 })).toMatchObject({ reason: 'it takes too long' })
    expect((await harness.runCell('print(n.__reduce_ex__ is loop)')).output).toBe('True\n')
    await harness.close()
  })
})

describe('a snapshot of an embedded interpreter', () => {
  const backend = createWasmBackend({ warm: 0 })
  afterAll(() => backend.close())
  // An interpreter takes seconds to start. These programs depend on how its Python differs from a container's.
  const names = /^(dataclasses|enumerations|files|sets)/
  const some = [...supported, ...deterministic].filter(([name]) => names.test(name))
  snapshotTests(backend, some, unsupported.slice(0, 1), unrestorable.slice(0, 1))

  it('a restored interpreter reports the artifacts that are new, and none a second time', async () => {
    const write = (count: number) =>
      `import os\nos.makedirs("/tmp/out", exist_ok=True)\nfor n in range(${count}): open(f"/tmp/out/{n:03}", "w").close()`
    const original = await runCells(backend, [write(120)])
    const restored = await restoredFrom((await snapshotOf(original)).text ?? '', original, backend)
    await original.close()
    const { finalResult } = await restored.runCell('open("/tmp/out/new", "w").close()')
    const files = finalResult.type === 'completed' ? (finalResult.files ?? []) : []
    // The first cell reported 99 of 120.
    expect(files.map(({ path }) => path)).toEqual([
      ...Array.from({ length: 21 }, (_, index) => `/tmp/out/${String(99 + index).padStart(3, '0')}`),
      '/tmp/out/new',
    ])
    await restored.close()
  })
})

function snapshotTests(
  backend: SandboxBackend,
  programs: typeof supported,
  others: typeof unsupported,
  changes: typeof unrestorable,
): void {
  it.each(programs)('a snapshot of an embedded interpreter restores %s', async (_, cells, check) => {
    const [original, restored] = await runInBoth(backend, cells, check)
    expect(restored).toBe(original)
    expect(original).not.toBe('')
  })

  unsupportedTests(backend, others)

  it.each(changes)('a snapshot of an embedded interpreter is rejected after %s', async (_, cell, reason) => {
    const harness = await runCells(backend, [cell])
    const { text = '' } = await snapshotOf(harness)
    await expect(restoredFrom(text, harness, backend)).rejects.toThrow(reason)
    await harness.close()
  })

  it('a snapshot of a restored sandbox can be restored, too', async () => {
    const first = await runCells(backend, ['class A:\n    n = 1\na = [A()]\na.append(a)'])
    const second = await restoredFrom((await snapshotOf(first)).text ?? '', first, backend)
    await second.runCell('A.n += 1')
    const again = await snapshotOf(second)
    await first.close()
    await second.close()
    const third = await restoredFrom(again.text ?? '', second, backend)
    expect((await third.runCell('print(a[0].n, a[1] is a, type(a[0]) is A)')).output).toBe('2 True True\n')
    await third.close()
  })

  it('a snapshot in the middle of a cell is refused', async () => {
    const harness = await runCells(backend, [])
    await harness.startCell('await get(a=1)')
    expect(await snapshotOf(harness)).toMatchObject({ reason: 'the program is not between two cells' })
    await harness.close()
  })
}

function unsupportedTests(backend: SandboxBackend, programs: typeof unsupported): void {
  it.each(programs)('a snapshot is refused for %s, and the program continues', async (_, cell, reason) => {
    const harness = await runCells(backend, [cell])
    expect(await snapshotOf(harness, { bytes: 32 * 1024 * 1024, seconds: 5 })).toMatchObject({
      reason: expect.stringContaining(reason),
    })
    expect((await harness.runCell('import sys; sys.__stdout__ and 0\nassert 1 + 1 == 2')).finalResult.type).toBe(
      'completed',
    )
    await harness.close()
  })
}
