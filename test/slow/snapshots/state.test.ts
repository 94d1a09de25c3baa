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

  it('has no more bytes than it may', async () => {
    const notebook = await runCells(backend, ['import os\nnoise = os.urandom(200_000)'])
    expect(await snapshotOf(notebook, { bytes: 100_000, seconds: 60 })).toMatchObject({
      reason: expect.stringMatching(/^noise: more bytes/),
    })
    expect(await snapshotOf(notebook)).toMatchObject({ text: expect.stringMatching(/^[\w+/]+=*$/) })
    await notebook.close()
  })

  it('goes on after one that took too long: the program is as it was', async () => {
    const loop = 'import types\nn = types.SimpleNamespace()\ndef loop(_):\n    while True: pass\nn.__reduce_ex__ = loop'
    const notebook = await runCells(backend, [loop])
    expect(await snapshotOf(notebook, { bytes: 1e6, seconds: 1 })).toMatchObject({ reason: 'it takes too long' })
    expect((await notebook.runCell('print(n.__reduce_ex__ is loop)')).output).toBe('True\n')
    await notebook.close()
  })
})

describe('a snapshot of an embedded interpreter', () => {
  const backend = createWasmBackend({ warm: 0 })
  afterAll(() => backend.close())
  // An interpreter takes seconds to begin: those that differ from a container's in how Python makes them.
  const names = /^(dataclasses|enumerations|files|sets)/
  const some = [...supported, ...deterministic].filter(([name]) => names.test(name))
  snapshotTests(backend, some, unsupported.slice(0, 1), unrestorable.slice(0, 1))
})

function snapshotTests(
  backend: SandboxBackend,
  programs: typeof supported,
  others: typeof unsupported,
  changes: typeof unrestorable,
): void {
  it.each(programs)('keeps %s', async (_, cells, check) => {
    const [original, restored] = await runInBoth(backend, cells, check)
    expect(restored).toBe(original)
    expect(original).not.toBe('')
  })

  unsupportedTests(backend, others)

  it.each(changes)('is not used after %s', async (_, cell, reason) => {
    const notebook = await runCells(backend, [cell])
    const { text = '' } = await snapshotOf(notebook)
    await expect(restoredFrom(text, notebook, backend)).rejects.toThrow(reason)
    await notebook.close()
  })

  it('of a sandbox that was made from one is as good', async () => {
    const first = await runCells(backend, ['class A:\n    n = 1\na = [A()]\na.append(a)'])
    const one = await restoredFrom((await snapshotOf(first)).text ?? '', first, backend)
    await one.runCell('A.n += 1')
    const again = await snapshotOf(one)
    await first.close()
    await one.close()
    const two = await restoredFrom(again.text ?? '', one, backend)
    expect((await two.runCell('print(a[0].n, a[1] is a, type(a[0]) is A)')).output).toBe('2 True True\n')
    await two.close()
  })

  it('is not made in the middle of a cell', async () => {
    const notebook = await runCells(backend, [])
    await notebook.startCell('await get(a=1)')
    expect(await snapshotOf(notebook)).toMatchObject({ reason: 'the program is not between two cells' })
    await notebook.close()
  })
}

function unsupportedTests(backend: SandboxBackend, programs: typeof unsupported): void {
  it.each(programs)('is refused for %s, and the program goes on', async (_, cell, reason) => {
    const notebook = await runCells(backend, [cell])
    expect(await snapshotOf(notebook, { bytes: 32 * 1024 * 1024, seconds: 5 })).toMatchObject({
      reason: expect.stringContaining(reason),
    })
    expect((await notebook.runCell('import sys; sys.__stdout__ and 0\nassert 1 + 1 == 2')).finalResult.type).toBe(
      'completed',
    )
    await notebook.close()
  })
}
