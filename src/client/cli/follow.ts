import { PtcError } from '../../common/errors.js'
import type { CellNode, RunTree } from '../history/index.js'
import { ProgressWriter, wantsColor } from '../render/index.js'
import type { RunHandle } from '../run-handle.js'
import { aborted, Interrupted, type Interrupts } from './interrupts.js'
import type { Place } from './place.js'
import { say } from './terminal.js'

export interface FollowOptions {
  readonly place: Place
  readonly interrupts: Interrupts
  /** What the first Ctrl-C does to the run. */
  readonly onInterrupt: 'cancel' | 'leave'
}

export interface Followed<Result> {
  readonly tree: RunTree
  readonly result: Result | undefined
  /** Why there is no result. */
  readonly error: PtcError | undefined
}

/**
 * Follows a run to its end.
 *
 * @throws Interrupted when the user does not want to wait for it; PtcError when server or worker are lost
 */
export async function follow<Result>(handle: RunHandle<Result>, options: FollowOptions): Promise<Followed<Result>> {
  const { place, interrupts, onInterrupt } = options
  const { workflowId } = handle
  const stop = new AbortController()
  const progress = new ProgressWriter({ stream: process.stderr, color: wantsColor(process.stderr, process.env) })
  const watching = handle.watch({ onChange: (tree) => progress.update(shownOf(tree)), signal: stop.signal })
  try {
    const early = Promise.race([lost(place, workflowId), leave(onInterrupt, options, workflowId)])
    if (onInterrupt === 'cancel') cancelOnInterrupt(handle, interrupts, progress)
    const tree = await Promise.race([watching, early])
    progress.update(shownOf(tree))
    return { tree, ...(await settle(handle)) }
  } finally {
    stop.abort()
    progress.close()
    await watching.catch(() => undefined)
  }
}

/** A program's text and output are its user's own: the one is known, the other goes to stdout. */
function shownOf(tree: RunTree): RunTree {
  return tree.type === 'program' ? withoutTexts(tree) : tree
}

/** The run without the code of its cells and what they printed. */
export function withoutTexts(tree: RunTree): RunTree {
  const quiet = (cell: CellNode): CellNode => ({ ...cell, code: '', output: '', error: undefined })
  return { ...tree, turns: tree.turns.map((turn) => ({ ...turn, cells: turn.cells.map(quiet) })) }
}

async function settle<Result>(handle: RunHandle<Result>): Promise<Omit<Followed<Result>, 'tree'>> {
  try {
    return { result: await handle.result(), error: undefined }
  } catch (thrown) {
    if (PtcError.isInstance(thrown)) return { result: undefined, error: thrown }
    throw thrown
  }
}

function cancelOnInterrupt(handle: RunHandle<unknown>, { first }: Interrupts, progress: ProgressWriter): void {
  const cancel = (): void => {
    progress.print('cancelling the run; once more to leave without waiting for its end')
    // Already over: then its end is what we wait for anyway.
    handle.cancel().catch(() => undefined)
  }
  if (first.aborted) cancel()
  else first.addEventListener('abort', cancel, { once: true })
}

async function lost({ lost: gone }: Place, workflowId: string): Promise<never> {
  const { code, message, hint } = await gone
  throw new PtcError(code, message, {
    hint: `${hint ?? ''}\nNothing is lost: \`ptc watch ${workflowId}\` goes on.`.trim(),
  })
}

async function leave(
  onInterrupt: FollowOptions['onInterrupt'],
  { interrupts, place }: FollowOptions,
  workflowId: string,
): Promise<never> {
  if (onInterrupt === 'cancel') {
    await aborted(interrupts.second)
    throw new Interrupted(`run ${workflowId} is being cancelled; \`ptc watch ${workflowId}\` shows how it ends`)
  }
  await aborted(interrupts.first)
  const goesOn = place.isOurs ? 'goes on when a worker runs again' : 'goes on'
  throw new Interrupted(`run ${workflowId} ${goesOn}; \`ptc watch ${workflowId}\` follows it`)
}

/** Says which run it is, and where to look at it. */
export function announce({ workflowId, runId }: RunHandle<unknown>, { server }: Place): void {
  const { uiUrl, namespace } = server
  say(`run ${workflowId}`)
  if (uiUrl !== undefined) say(runUrl(uiUrl, namespace, workflowId, runId))
}

export function runUrl(uiUrl: string, namespace: string, workflowId: string, runId: string | undefined): string {
  const path = ['namespaces', namespace, 'workflows', workflowId, ...(runId === undefined ? [] : [runId])]
  return `${uiUrl}/${path.map(encodeURIComponent).join('/')}`
}
