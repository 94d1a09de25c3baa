import type { PtcClient, RunHandle, WaitOfRun } from '../../client/index.js'
import { type ErrorCode, PtcError } from '../../common/errors.js'
import type { HumanAnswer } from '../tasks/task-schema.js'

type Wait = WaitOfRun['wait']

/** Yields what a run and its sub-agents wait for, again and again until the signal is aborted. */
export type WatchWaits = (workflowId: string, signal: AbortSignal) => AsyncIterable<readonly WaitOfRun[]>

/**
 * Answers the calls of a run and its sub-agents that wait for a person, as its task says, until the run ends or the
 * signal is aborted.
 *
 * @returns the first wait that the task does not answer; undefined when the run ended without one
 */
export async function answerWaits(
  { client, watchWaits }: { readonly client: PtcClient; readonly watchWaits: WatchWaits },
  handle: Pick<RunHandle<unknown>, 'workflowId' | 'waits'>,
  answers: readonly HumanAnswer[],
  signal: AbortSignal,
): Promise<Wait | undefined> {
  const done = new AbortController()
  const both = AbortSignal.any([signal, done.signal])
  const answered = new Set<string>()
  const answerAll = async (waits: readonly Wait[]): Promise<Wait | undefined> => {
    for (const wait of waits) {
      if (wait.type === 'budget') return wait
      if (answered.has(wait.token)) continue
      const answer = answers.find((each) => fits(each, wait))
      if (answer === undefined) return wait
      answered.add(wait.token)
      await give(client, wait.token, answer)
    }
    return undefined
  }
  const ofRun = async (): Promise<Wait | undefined> => {
    for await (const { waitsFor } of handle.waits({ signal: both })) {
      const open = await answerAll(waitsFor)
      if (open !== undefined) return open
    }
    return undefined
  }
  // The history of the run does not change when a sub-agent begins to wait: its workflow is asked.
  const ofHelpers = async (): Promise<Wait | undefined> => {
    for await (const found of watchWaits(handle.workflowId, both)) {
      const open = await answerAll(found.map(({ wait }) => wait).filter((wait) => 'workflowId' in wait))
      if (open !== undefined) return open
    }
    // The run has ended, or the other watcher has the result.
    return new Promise<never>(() => {})
  }
  try {
    return await Promise.race([ofRun(), ofHelpers()])
  } finally {
    done.abort()
  }
}

function fits(
  { tool, contains, approve, deny }: HumanAnswer,
  wait: Extract<Wait, { readonly token: string }>,
): boolean {
  const isDecision = approve !== undefined || deny !== undefined
  if (tool !== wait.tool || isDecision !== (wait.type === 'approval')) return false
  return contains === undefined || `${wait.summary} ${JSON.stringify(wait.arguments)}`.includes(contains)
}

const by = 'ptc eval'

/** The wait of an earlier state of the run has ended: a harness that was killed meanwhile has answered it. */
const endedCodes: readonly ErrorCode[] = ['CALL_NOT_FOUND', 'CALL_COMPLETED', 'CALL_EXPIRED']

async function give(client: PtcClient, token: string, { approve, deny, result, fail }: HumanAnswer): Promise<void> {
  try {
    if (approve === true) await client.approveCall(token, { by })
    else if (deny !== undefined) await client.denyCall(token, deny, { by })
    else if (fail !== undefined) await client.failCall(token, fail, { by })
    else await client.completeCall(token, result ?? null, { by })
  } catch (thrown) {
    if (!PtcError.isInstance(thrown) || !endedCodes.includes(thrown.code)) throw thrown
  }
}
