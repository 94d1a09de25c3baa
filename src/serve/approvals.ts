import { z } from 'zod'
import { waitingCalls, waitingCallsOf } from '../client/calls/waiting-calls.js'
import { callActivityId } from '../common/names.js'
import { PtcError } from '../common/errors.js'
import { conversationNameOf, jsonObject } from './conversations.js'
import { type Exchange, readJson, type Reply, type Route } from './router.js'

/** Of the runs that have not ended, the newest are looked at. */
const maxRuns = 100
/** Runs whose histories are read at once. */
const concurrency = 5

/**
 * `GET /approvals`: the calls that wait for an approval or an answer; with `?conversation=NAME` or `?run=ID`, of one
 * run.
 */
async function listApprovals({ ptc, query, signal }: Exchange): Promise<Reply> {
  const name = query.get('conversation')
  const run = name === null ? query.get('run') : ptc.conversation(name).workflowId
  const runs =
    run === null ? (await ptc.list({ status: 'running', limit: maxRuns })).map((each) => each.workflowId) : [run]
  const calls: unknown[] = []
  for (let from = 0; from < runs.length; from += concurrency) {
    signal.throwIfAborted()
    const found = runs.slice(from, from + concurrency).map((each) => callsOf(ptc, each, run === null))
    calls.push(...(await Promise.all(found)).flat())
  }
  return { body: calls }
}

/** @param mayBeGone the run was found in a list, and may have been removed since */
async function callsOf(ptc: Exchange['ptc'], run: string, mayBeGone: boolean): Promise<readonly unknown[]> {
  const conversation = conversationNameOf(ptc, run)
  try {
    // A list of all runs has the sessions that runs share, too.
    const calls = mayBeGone ? waitingCalls(await ptc.handle(run).tree()) : await waitingCallsOf(ptc, run)
    return calls.map(({ position, ...call }) => ({
      run,
      ...(conversation !== undefined && { conversation }),
      call: callActivityId(position),
      ...call,
    }))
  } catch (thrown) {
    if (mayBeGone && PtcError.isInstance(thrown) && thrown.code === 'TEMPORAL_NOT_FOUND') return []
    throw thrown
  }
}

const by = z.string().exactOptional()

const decision = z.discriminatedUnion('decision', [
  z.strictObject({
    decision: z.literal('approve'),
    arguments: jsonObject.exactOptional(),
    remember: z.boolean().exactOptional(),
    by,
  }),
  z.strictObject({
    decision: z.literal('deny'),
    reason: z.string().min(1),
    compensate: z.boolean().exactOptional(),
    by,
  }),
  z.strictObject({ decision: z.literal('answer'), value: z.json(), by }),
])

/** `POST /approvals/:token`: decides on a call, or answers its question. */
async function decide(exchange: Exchange): Promise<Reply> {
  const { ptc, params } = exchange
  const { token = '' } = params
  const body = await readJson(exchange, decision)
  const decider = body.by === undefined ? {} : { by: body.by }
  switch (body.decision) {
    case 'approve': {
      const { decision: _, ...options } = body
      await ptc.approveCall(token, options)
      break
    }
    case 'deny': {
      const { decision: _, reason, ...options } = body
      await ptc.denyCall(token, reason, options)
      break
    }
    case 'answer':
      await ptc.completeCall(token, body.value, decider)
  }
  return {}
}

export const approvalRoutes: readonly Route[] = [
  { method: 'GET', path: '/approvals', handler: listApprovals },
  { method: 'POST', path: '/approvals/:token', handler: decide },
]
