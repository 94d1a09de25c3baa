import { PtcError } from '../../common/errors.js'
import { hasHelpers, watchWaitsOfRun, withWaits } from '../../client/calls/waits-of-run.js'
import type { WaitOfRun } from '../../client/index.js'
import type { CellNode, RunTree } from '../../client/run-tree/index.js'
import { ProgressWriter } from '../rendering/progress/progress-writer.js'
import { supportsColor } from '../rendering/text/colors.js'
import type { RunHandle } from '../../client/run/run-handle.js'
import { raceWithExit, type RaceWithExitOptions } from '../environment/race-with-exit.js'
import type { Interrupts } from '../process/interrupts.js'
import type { Environment } from '../environment/environment.js'
import { printStatus } from '../process/stdio.js'
import type { StreamEvent } from '../../stream/index.js'
import { liveTexts } from './live-texts.js'
import { WaitPrompt } from './wait-prompt.js'

interface FollowOptions {
  readonly environment: Environment
  readonly interrupts: Interrupts
  /** What the first Ctrl-C does to the run. */
  readonly onInterrupt: 'cancel' | 'detach'
}

export interface RunEnding<Result> {
  readonly tree: RunTree
  readonly result: Result | undefined
  /** Why there is no result; undefined when there is one. */
  readonly error: PtcError | undefined
}

/**
 * Follows a run until it ends, with progress on stderr.
 *
 * @throws Interrupted when the user leaves; PtcError when the server or the worker exits
 */
export async function followRun<Result>(handle: RunHandle<Result>, options: FollowOptions): Promise<RunEnding<Result>> {
  const { environment, interrupts, onInterrupt } = options
  const { workflowId } = handle
  const finished = new AbortController()
  const progress = new ProgressWriter({ stream: process.stderr, color: supportsColor(process.stderr) })
  const prompt = new WaitPrompt(environment.ptc, progress)
  let waits: readonly WaitOfRun[] = []
  let latest: RunTree | undefined
  const onChange = (tree: RunTree): void => {
    latest = tree
    if (!hasHelpers(tree)) waits = []
    const shown = withWaits(tree, waits)
    progress.update(toDisplayedTree(shown), liveOutput(tree))
    prompt.update(shown)
  }
  const watchHelpers = async (): Promise<void> => {
    const isNeeded = () => latest !== undefined && hasHelpers(latest)
    for await (const found of watchWaitsOfRun(environment.ptc, workflowId, finished.signal, isNeeded)) {
      waits = found
      if (latest) onChange(latest)
    }
  }
  const polling = watchHelpers()
  const watching = handle.watch({ onChange, signal: finished.signal })
  const showingText =
    environment.stream && process.stderr.isTTY ? showLiveTextOfRun(handle, progress, finished.signal) : undefined
  try {
    if (onInterrupt === 'cancel') cancelOnInterrupt(handle, interrupts, progress)
    const tree = await raceWithExit(watching, environment, {
      ...leaveOptions(options, workflowId),
      exitHint: `Nothing is lost: \`ptc watch ${workflowId}\` continues.`,
    })
    prompt.close()
    progress.update(toDisplayedTree(tree))
    return { tree, ...(await waitForResult(handle)) }
  } finally {
    finished.abort()
    prompt.close()
    progress.close()
    await watching.catch(() => undefined)
    await Promise.all([showingText, polling])
  }
}

/** The output of the running code so far. */
export function liveOutput({ turns }: RunTree): string {
  return turns.at(-1)?.cells.findLast(({ status }) => status === 'running')?.output ?? ''
}

/** Shows live what the model writes and what tools report. Never rejects: the history has everything that counts. */
async function showLiveTextOfRun(
  handle: RunHandle<unknown>,
  progress: ProgressWriter,
  signal: AbortSignal,
): Promise<void> {
  try {
    const events = showMilestones(handle.stream({ signal }), progress)
    for await (const liveText of liveTexts(events)) progress.setLiveText(liveText)
  } catch {
    progress.setLiveText(undefined)
  }
}

async function* showMilestones(
  events: AsyncIterable<StreamEvent>,
  progress: ProgressWriter,
): AsyncGenerator<StreamEvent, void, undefined> {
  for await (const event of events) {
    if (event.type === 'milestone.reached') progress.setMilestone(event.call, event.text)
    yield event
  }
}

/** The tree without a program's code, which the user knows, and without its output, which goes to stdout. */
function toDisplayedTree(tree: RunTree): RunTree {
  return tree.type === 'program' ? withoutCodeAndOutput(tree) : tree
}

export function withoutCodeAndOutput(tree: RunTree): RunTree {
  const withoutText = (cell: CellNode): CellNode => ({ ...cell, code: '', output: '', error: undefined })
  return { ...tree, turns: tree.turns.map((turn) => ({ ...turn, cells: turn.cells.map(withoutText) })) }
}

async function waitForResult<Result>(handle: RunHandle<Result>): Promise<Omit<RunEnding<Result>, 'tree'>> {
  try {
    return { result: await handle.result(), error: undefined }
  } catch (thrown) {
    if (PtcError.isInstance(thrown)) return { result: undefined, error: thrown }
    throw thrown
  }
}

function cancelOnInterrupt(handle: RunHandle<unknown>, { first }: Interrupts, progress: ProgressWriter): void {
  const cancel = (): void => {
    progress.print('cancelling the run; press Ctrl-C again to stop waiting')
    // A cancellation fails when the run has already ended; followRun waits for that end.
    handle.cancel().catch(() => undefined)
  }
  if (first.aborted) cancel()
  else first.addEventListener('abort', cancel, { once: true })
}

function leaveOptions(
  { interrupts, environment, onInterrupt }: FollowOptions,
  workflowId: string,
): Pick<RaceWithExitOptions, 'leaveSignal' | 'leaveMessage'> {
  if (onInterrupt === 'cancel') {
    const leaveMessage = `run ${workflowId} is being cancelled; \`ptc watch ${workflowId}\` shows how it ends`
    return { leaveSignal: interrupts.second, leaveMessage }
  }
  const leaveMessage = `run ${workflowId} ${environment.howWorkContinues}; \`ptc watch ${workflowId}\` follows it`
  return { leaveSignal: interrupts.first, leaveMessage }
}

/** Prints the id of the run and its page in the UI. */
export function printRunLink({ workflowId, runId }: RunHandle<unknown>, { server }: Environment): void {
  const { uiUrl, namespace } = server
  printStatus(`run ${workflowId}`)
  if (uiUrl !== undefined) printStatus(runUrl(uiUrl, namespace, workflowId, runId))
}

function runUrl(uiUrl: string, namespace: string, workflowId: string, runId: string | undefined): string {
  const path = ['namespaces', namespace, 'workflows', workflowId, ...(runId === undefined ? [] : [runId])]
  return `${uiUrl}/${path.map(encodeURIComponent).join('/')}`
}
