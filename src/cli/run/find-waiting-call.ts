import { decodeCompletionToken } from '../../common/calls/completion-token.js'
import { PtcError } from '../../common/errors.js'
import { callActivityId } from '../../common/names.js'
import { pluralize } from '../../common/text/text.js'
import type { PtcClient } from '../../client/index.js'
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
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'fail' }, async ({ ptc }) => {
    const { id, call } = named
    if (id === undefined) await decide(ptc, await findOnlyToken(ptc, wait))
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

/** @throws PtcError CALL_NOT_FOUND, RUN_INPUT_INVALID when several calls wait */
async function findOnlyToken(ptc: PtcClient, wait: Wait): Promise<string> {
  const waits = await ptc.waits()
  const found = waits.flatMap(({ run, wait: each }) =>
    each.type !== 'budget' && (each.type === 'approval') === (wait === 'approval')
      ? [{ id: run.workflowId, token: each.token }]
      : [],
  )
  const [first, second] = found
  if (first && !second) return first.token
  if (!first) throw new PtcError('CALL_NOT_FOUND', `no call of any run waits for ${waitTexts[wait]}`)
  const runs = [...new Set(found.map(({ id }) => id))].join(', ')
  throw new PtcError('RUN_INPUT_INVALID', `${pluralize(found.length, 'call')} wait for ${waitTexts[wait]}`, {
    hint: `Name the run: ${runs}. \`ptc approvals\` shows them.`,
  })
}

/** @throws PtcError CALL_NOT_FOUND, RUN_INPUT_INVALID when several calls match */
async function findToken(ptc: PtcClient, wait: Wait, id: string, call: string | undefined): Promise<string> {
  const { waitingCallsOf } = await import('../../client/calls/waiting-calls.js')
  const waiting = (await waitingCallsOf(ptc, id))
    .filter(({ waitsFor }) => waitsFor === wait)
    .map(({ position, token }) => ({ id: callActivityId(position), token }))
  const found = call === undefined ? waiting : waiting.filter((each) => each.id === call)
  const [first, second] = found
  if (first && !second) return first.token
  const ids = waiting
    .map((each) => each.id)
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
