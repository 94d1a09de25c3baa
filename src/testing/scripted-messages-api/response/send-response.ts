import type { ServerResponse } from 'node:http'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DisconnectMode } from '../script/faults.js'
import type { ResponseStep } from './plan-response.js'

/**
 * Sends a planned response. Resolves when the response has ended in any way.
 *
 * @param signal aborts when the client disconnects or the server closes
 */
export async function sendResponse(
  response: ServerResponse,
  steps: readonly ResponseStep[],
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<'sent' | 'abandoned'> {
  try {
    for (const step of steps) await runStep(response, step, headers, signal)
    return 'sent'
  } catch (error) {
    if (signal.aborted) return 'abandoned'
    throw error
  } finally {
    if (signal.aborted) response.destroy()
  }
}

async function runStep(
  response: ServerResponse,
  step: ResponseStep,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  switch (step.type) {
    case 'head':
      response.writeHead(step.status, { ...headers, ...step.headers })
      // The client of a stream sees the status before the first event.
      response.flushHeaders()
      return
    case 'write':
      return write(response, step.bytes, signal)
    case 'wait':
      await sleep(step.ms, undefined, { signal })
      return
    case 'stall':
      await once(signal, 'abort')
      return signal.throwIfAborted()
    case 'finish':
      return finish(response, step.mode, signal)
  }
}

/** Waits until the bytes have left this process, because a reset may follow. */
function write(response: ServerResponse, bytes: Buffer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    response.write(bytes, (error) => {
      signal.removeEventListener('abort', abort)
      if (error) reject(error)
      else resolve()
    })
  })
}

async function finish(response: ServerResponse, mode: DisconnectMode, signal: AbortSignal): Promise<void> {
  if (mode === 'close') {
    response.socket?.destroy()
  } else if (mode === 'reset') {
    response.socket?.resetAndDestroy()
  } else {
    response.end()
    if (!response.writableFinished) await once(response, 'finish', { signal })
  }
}
