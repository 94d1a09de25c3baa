import { randomUUID } from 'node:crypto'
import type { SandboxBackend } from '../../src/sandbox/backend.js'
import { Notebook } from '../../src/sandbox/conformance/notebook.js'

const patience = () => ({ attempt: 1, signal: AbortSignal.timeout(600_000) })

/** What the state of a notebook after its last cell is, as text; or why there is none. */
export async function snapshotOf(notebook: Notebook, limits = { bytes: 32 * 1024 * 1024, seconds: 60 }) {
  const wanted = { limits: notebook.limits, ...limits }
  const taken = await notebook.host.snapshot(notebook.session, notebook.step, wanted, patience())
  return taken.type === 'snapshot' ? { text: taken.pieces.join('') } : { reason: taken.reason }
}

/** A fresh sandbox, made what the snapshot is of. */
export async function restoredFrom(text: string, notebook: Notebook, backend: SandboxBackend): Promise<Notebook> {
  const fresh = await new Notebook(backend, notebook.limits, { ...notebook.session, epoch: 2 }).open()
  const held = fresh.keep(text)['ptc.value']
  const input = { type: 'restore', snapshot: held } as const
  const options = { ...patience(), onOutput: () => undefined, readValue: fresh.readValue }
  const step = { number: notebook.step, now: notebook.now, input }
  const answer = await fresh.host.advance(fresh.session, step, { limits: fresh.limits }, options)
  if (answer.type !== 'restored' || answer.problem !== null) {
    await fresh.close()
    throw new Error(`not restored: ${JSON.stringify(answer)}`)
  }
  Object.assign(fresh, { step: notebook.step, cell: notebook.cell })
  fresh.pass(notebook.now)
  return fresh
}

/** What code prints in the sandbox that ran the cells, and in one that was made from its snapshot. */
export async function inBoth(
  backend: SandboxBackend,
  cells: readonly string[],
  check: string,
): Promise<[string, string]> {
  const original = await notebookOf(backend, cells)
  try {
    const { text, reason } = await snapshotOf(original)
    if (text === undefined) throw new Error(`no snapshot: ${reason}`)
    const restored = await restoredFrom(text, original, backend)
    try {
      return [await saidIn(original, check), await saidIn(restored, check)]
    } finally {
      await restored.close()
    }
  } finally {
    await original.close()
  }
}

export async function notebookOf(backend: SandboxBackend, cells: readonly string[]): Promise<Notebook> {
  const notebook = await new Notebook(
    backend,
    {},
    { id: `snapshot-${randomUUID()}`, epoch: 1, startedAt: Date.now(), backend: backend.name },
  ).open()
  for (const cell of cells) {
    const { final, output } = await notebook.run(cell)
    if (final.type !== 'completed') {
      await notebook.close()
      throw new Error(`a cell failed: ${JSON.stringify(final)} ${output}`)
    }
  }
  return notebook
}

async function saidIn(notebook: Notebook, source: string): Promise<string> {
  const { final, output } = await notebook.run(source)
  return final.type === 'failed' ? `${output}${final.error}` : output
}
