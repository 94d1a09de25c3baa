import { randomUUID } from 'node:crypto'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { SessionHarness } from '../../../src/sandbox/conformance/session-harness.js'

const stepOptions = () => ({ attempt: 1, signal: AbortSignal.timeout(600_000) })

/** What the state of a notebook after its last cell is, as text; or why there is none. */
export async function snapshotOf(notebook: SessionHarness, limits = { bytes: 32 * 1024 * 1024, seconds: 60 }) {
  const wanted = { limits: notebook.limits, ...limits }
  const taken = await notebook.host.snapshot(notebook.session, notebook.step, wanted, stepOptions())
  return taken.type === 'snapshot' ? { text: taken.pieces.join('') } : { reason: taken.reason }
}

/** A fresh sandbox, made what the snapshot is of. */
export async function restoredFrom(
  text: string,
  notebook: SessionHarness,
  backend: SandboxBackend,
): Promise<SessionHarness> {
  const fresh = await new SessionHarness(backend, notebook.limits, { ...notebook.session, epoch: 2 }).open()
  const held = fresh.storeValue(text)['ptc.value']
  const input = { type: 'restore', snapshot: held } as const
  const options = { ...stepOptions(), onOutput: () => undefined, readValue: fresh.readValue }
  const step = { number: notebook.step, now: notebook.now, input }
  const answer = await fresh.host.executeStep(fresh.session, step, { limits: fresh.limits }, options)
  if (answer.type !== 'restored' || answer.problem !== null) {
    await fresh.close()
    throw new Error(`not restored: ${JSON.stringify(answer)}`)
  }
  Object.assign(fresh, { step: notebook.step, cell: notebook.cell })
  fresh.addComputeTime(notebook.now)
  return fresh
}

/** What code prints in the sandbox that ran the cells, and in one that was made from its snapshot. */
export async function runInBoth(
  backend: SandboxBackend,
  cells: readonly string[],
  check: string,
): Promise<[string, string]> {
  const original = await runCells(backend, cells)
  try {
    const { text, reason } = await snapshotOf(original)
    if (text === undefined) throw new Error(`no snapshot: ${reason}`)
    const restored = await restoredFrom(text, original, backend)
    try {
      return [await outputIn(original, check), await outputIn(restored, check)]
    } finally {
      await restored.close()
    }
  } finally {
    await original.close()
  }
}

export async function runCells(backend: SandboxBackend, cells: readonly string[]): Promise<SessionHarness> {
  const notebook = await new SessionHarness(
    backend,
    {},
    { id: `snapshot-${randomUUID()}`, epoch: 1, startedAt: Date.now(), backend: backend.name },
  ).open()
  for (const cell of cells) {
    const { finalResult, output } = await notebook.runCell(cell)
    if (finalResult.type !== 'completed') {
      await notebook.close()
      throw new Error(`a cell failed: ${JSON.stringify(finalResult)} ${output}`)
    }
  }
  return notebook
}

async function outputIn(notebook: SessionHarness, source: string): Promise<string> {
  const { finalResult, output } = await notebook.runCell(source)
  return finalResult.type === 'failed' ? `${output}${finalResult.error}` : output
}
