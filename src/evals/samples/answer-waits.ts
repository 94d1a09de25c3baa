import type { PtcClient, RunHandle, WaitOfRun } from '../../client/index.js'
import { type ErrorCode, PtcError } from '../../common/errors.js'
import type { HumanAnswer } from '../tasks/task-schema.js'

type Wait = WaitOfRun['wait']

/**
 * Answers the calls of a run that wait for a person, as its task says, until the run ends or the signal is aborted.
 *
 * @returns the first wait that the task does not answer; undefined when the run ended without one
 */
export async function answerWaits(
  client: PtcClient,
  handle: Pick<RunHandle<unknown>, 'waits'>,
  answers: readonly HumanAnswer[],
  signal: AbortSignal,
): Promise<Wait | undefined> {
  const answered = new Set<string>()
  for await (const { waitsFor } of handle.waits({ signal })) {
    for (const wait of waitsFor) {
      if (wait.type === 'budget') return wait
      if (answered.has(wait.token)) continue
      const answer = answers.find((each) => fits(each, wait))
      if (answer === undefined) return wait
      answered.add(wait.token)
      await give(client, wait.token, answer)
    }
  }
  return undefined
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
