import { ApplicationFailure, Context } from '@temporalio/activity'
import type { Completion } from './completion.js'
import { sign } from './signature.js'

/** Delivers a completion. Temporal repeats it until the receiver accepts it, so the receiver may get it twice. */
export async function deliver(completion: Completion): Promise<void> {
  const url = process.env['CALLBACK_URL'] ?? 'http://127.0.0.1:8092'
  const body = JSON.stringify(completion)
  const response = await fetch(url, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...sign(completion.id, body) },
    redirect: 'error',
    signal: Context.current().cancellationSignal,
  })
  if (response.ok) return
  const message = `the receiver answered with status ${response.status}`
  // 410: the receiver wants no more of them.
  throw response.status === 410 ? ApplicationFailure.nonRetryable(message, 'CallbackGone') : new Error(message)
}
