import type { ServerResponse } from 'node:http'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CutManner } from './fault-schema.js'
import type { ResponseStep } from './response-plan.js'

/**
 * Does what was planned. Resolves when the response is over, however it ended.
 *
 * @param signal aborts when the client has gone or the server closes
 */
export async function sendResponse(
  response: ServerResponse,
  steps: readonly ResponseStep[],
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<'sent' | 'abandoned'> {
  try {
    for (const step of steps) await doStep(response, step, headers, signal)
    return 'sent'
  } catch (error) {
    if (signal.aborted) return 'abandoned'
    throw error
  } finally {
    if (signal.aborted) response.destroy()
  }
}

async function doStep(
  response: ServerResponse,
  step: ResponseStep,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<void> {
  signal.throwIfAborted()
  switch (step.type) {
    case 'head':
      response.writeHead(step.status, { ...headers, ...step.headers })
      // A stream's client sees the status before the first event.
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
      return finish(response, step.manner, signal)
  }
}

/** Waits until the bytes have left this process: what comes after may be a reset. */
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

async function finish(response: ServerResponse, manner: CutManner, signal: AbortSignal): Promise<void> {
  if (manner === 'close') {
    response.socket?.destroy()
  } else if (manner === 'reset') {
    response.socket?.resetAndDestroy()
  } else {
    response.end()
    if (!response.writableFinished) await once(response, 'finish', { signal })
  }
}
