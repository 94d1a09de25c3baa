import { decodeCompletionToken } from '../../common/calls/completion-token.js'
import { PtcError } from '../../common/errors.js'
import { callActivityId } from '../../common/names.js'
import { pluralize } from '../../common/text/text.js'
import type { PtcClient } from '../../client/index.js'
import type { FoundWaits } from '../../client/calls/open-waits.js'
import type { Environment } from '../environment/environment.js'
import { withEnvironment } from '../environment/with-environment.js'

interface NamedCall {
  /** The id of the run, or the token of the call. Undefined: the only waiting call of all runs. */
  readonly id: string | undefined
  /** Undefined: the only waiting call. */
  readonly call: string | undefined
}

type Wait = 'approval' | 'result'

/** A worker of the run records the decision. This function starts none: it would resume all open runs. */
export async function withWaitingCall(
  config: string | undefined,
  wait: Wait,
  named: NamedCall,
  decide: (ptc: PtcClient, token: string) => Promise<void>,
): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'fail' }, async (environment) => {
    const { ptc } = environment
    const { id, call } = named
    if (id === undefined) await decide(ptc, onlyToken(await readOpenWaits(environment), wait))
    else await decide(ptc, isToken(id) ? id : await findToken(ptc, wait, id, call))
  })
}

function isToken(text: string): boolean {
  try {
    decodeCompletionToken(text)
    return true
  } catch {
    return false
  }
}

/** @throws PtcError CALL_NOT_FOUND, RUN_INPUT_INVALID when several calls wait, or may wait */
export function onlyToken({ waits, limit }: FoundWaits, wait: Wait): string {
  const found = waits.flatMap(({ run, wait: each }) =>
    each.type !== 'budget' && (each.type === 'approval') === (wait === 'approval')
      ? [{ id: run.workflowId, token: each.token }]
      : [],
  )
  const [first, second] = found
  const runs = [...new Set(found.map(({ id }) => id))].join(', ')
  if (limit !== undefined && !second) {
    const known = first ? `Of these, run ${runs} waits` : 'None of these waits'
    throw new PtcError('RUN_INPUT_INVALID', describeLimit(limit), { hint: `Name the run. ${known}.` })
  }
  if (first && !second) return first.token
  if (!first) throw new PtcError('CALL_NOT_FOUND', `no call of any run waits for ${waitTexts[wait]}`)
  throw new PtcError('RUN_INPUT_INVALID', `${pluralize(found.length, 'call')} wait for ${waitTexts[wait]}`, {
    hint: `Name the run: ${runs}. \`ptc approvals\` shows them.`,
  })
}

/** @throws PtcError CALL_NOT_FOUND, RUN_INPUT_INVALID when the call is not clear */
export async function findToken(
  ptc: Pick<PtcClient, 'waits'>,
  wait: Wait,
  id: string,
  call: string | undefined,
): Promise<string> {
  const { waitingCalls } = await import('../../client/calls/open-waits.js')
  const waiting = waitingCalls(await ptc.waits({ run: id }))
    .filter(({ waitsFor }) => waitsFor === wait)
    .map(({ position, token, workflowId }) => ({ id: callActivityId(position), token, workflowId }))
  const matching = call === undefined ? waiting : waiting.filter((each) => each.id === call)
  const own = matching.filter(({ workflowId }) => workflowId === undefined)
  // What `ptc approvals` shows for the run itself is valid whatever its sub-agents wait for.
  const found = own.length > 0 ? own : matching
  const [first, second] = found
  if (first && !second) return first.token
  const ids = waiting
    .map((each) => (each.workflowId === undefined ? each.id : `${each.id} of ${each.workflowId}`))
    .toSorted()
    .join(', ')
  if (first) {
    const message = `${pluralize(found.length, 'call')} of run ${id} wait for ${waitTexts[wait]}`
    throw new PtcError('RUN_INPUT_INVALID', message, { hint: `Name one of them: ${ids}.` })
  }
  const what = call === undefined ? 'no call' : `no call ${call}`
  throw new PtcError('CALL_NOT_FOUND', `${what} of run ${id} waits for ${waitTexts[wait]}`, {
    hint: ids === '' ? `\`ptc show ${id}\` shows the run.` : `These wait: ${ids}.`,
  })
}

const waitTexts = { approval: 'approval', result: 'a result' } as const satisfies Record<Wait, string>

/** What the runs of the task queue wait for, as `ptc.waits()` has it, and whether runs were left out. */
export async function readOpenWaits({ client, ptc }: Environment): Promise<FoundWaits> {
  const { waitsOfRuns } = await import('../../client/calls/open-waits.js')
  return waitsOfRuns(client, ptc.taskQueue, {})
}

/** For people: not all runs were looked at. */
export function describeLimit(limit: number): string {
  return `only ${limit} of the open runs were looked at: others may wait, too`
}
