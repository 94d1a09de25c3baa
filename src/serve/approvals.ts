import { z } from 'zod'
import { waitingCalls, waitingCallsOf } from '../client/calls/waiting-calls.js'
import type { PtcClient } from '../client/index.js'
import { decodeCompletionToken } from '../common/calls/completion-token.js'
import { PtcError } from '../common/errors.js'
import type { JsonValue } from '../common/json/json.js'
import { callActivityId } from '../common/names.js'
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
async function listApprovals({ ptc, query }: Exchange): Promise<Reply> {
  const name = query.get('conversation')
  const run = name === null ? query.get('run') : ptc.conversation(name).workflowId
  return { body: await (run === null ? sharedScan(ptc) : callsOf(ptc, run, false)) }
}

const scans = new WeakMap<PtcClient, Promise<readonly unknown[]>>()

/** Reads the histories of all runs. Requests that come meanwhile share the result. */
async function sharedScan(ptc: PtcClient): Promise<readonly unknown[]> {
  const current = scans.get(ptc)
  if (current) return current
  const scan = callsOfAll(ptc).finally(() => scans.delete(ptc))
  scans.set(ptc, scan)
  return scan
}

async function callsOfAll(ptc: PtcClient): Promise<readonly unknown[]> {
  const runs = await ptc.list({ status: 'running', limit: maxRuns })
  const calls: unknown[] = []
  for (let from = 0; from < runs.length; from += concurrency) {
    const found = runs.slice(from, from + concurrency).map(({ workflowId }) => callsOf(ptc, workflowId, true))
    calls.push(...(await Promise.all(found)).flat())
  }
  return calls
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
  z.strictObject({ decision: z.literal('answer'), value: z.custom<JsonValue>((value) => value !== undefined), by }),
])

/** `POST /approvals/:token`: decides on a call, or answers its question. */
async function decide(exchange: Exchange): Promise<Reply> {
  const { ptc, params } = exchange
  const { token = '' } = params
  decodeCompletionToken(token)
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
