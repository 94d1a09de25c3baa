/*
 * Passes uncaught errors of this process to the work that they belong to (common/async/uncaught-errors.ts), while a
 * worker runs. So one call of a tool can't end the process.
 *
 * Invariants:
 * 1. Node and the listeners of the user handle an error that belongs to no work, unless the process is only a worker
 *    (`onUnattributed`).
 * 2. The listeners of the user get every error, as without this module.
 * 3. No code here throws: Node ends a process whose listener throws.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { writeSync } from 'node:fs'
import { Context } from '@temporalio/activity'
import { type Logger, Runtime } from '@temporalio/worker'
import { type FallibleWork, setWorkStorage } from '../common/async/uncaught-errors.js'
import { metrics } from '../common/telemetry/metrics.js'
import { describeThrown, toolStackOf } from '../tools/calls/thrown.js'

/** Gets an error that belongs to no work. */
export type OnUnattributed = (thrown: unknown) => void

const storage = new AsyncLocalStorage<FallibleWork>()

/** One entry for each running worker. */
const workers = new Set<{ readonly onUnattributed: OnUnattributed | undefined }>()

/**
 * Handles uncaught errors until the returned function is called.
 *
 * @param onUnattributed for a process that is only a worker. Without it, Node handles such errors.
 */
export function handleUncaughtErrors(onUnattributed?: OnUnattributed): () => void {
  setWorkStorage(storage)
  const worker = { onUnattributed }
  if (workers.size === 0) listen()
  workers.add(worker)
  return () => {
    if (workers.delete(worker) && workers.size === 0) stopListening()
  }
}

function listen(): void {
  globalThis.queueMicrotask = queueInContext
  process.on('uncaughtExceptionMonitor', onUncaught)
  process.on('exit', onExit)
  process.on('newListener', onNewListener)
  process.on('removeListener', onListenerRemoved)
  if (process.listenerCount('unhandledRejection') > 0) process.on('unhandledRejection', onRejection)
}

function stopListening(): void {
  if (globalThis.queueMicrotask === queueInContext) globalThis.queueMicrotask = originalQueue
  process.off('uncaughtExceptionMonitor', onUncaught)
  process.off('exit', onExit)
  process.off('newListener', onNewListener)
  process.off('removeListener', onListenerRemoved)
  process.off('unhandledRejection', onRejection)
}

const originalQueue = globalThis.queueMicrotask

/** Node 20 forgets the context of a microtask that throws. `nextTick` keeps it. */
function queueInContext(callback: () => void): void {
  if (storage.getStore() === undefined || typeof callback !== 'function') return originalQueue(callback)
  return originalQueue(() => {
    try {
      callback()
    } catch (thrown) {
      process.nextTick(() => {
        throw thrown
      })
    }
  })
}

/**
 * Node calls this function before the listeners of `uncaughtException`, in the context of the code that threw, also for
 * a rejection without a listener. A permanent listener of `uncaughtException` would change how Node handles errors of
 * other code.
 */
function onUncaught(thrown: unknown): void {
  if (handle(thrown) && !process.hasUncaughtExceptionCaptureCallback())
    process.once('uncaughtException', () => undefined)
}

/** Is registered only while other listeners are: Node then passes no rejection to {@link onUncaught}. */
function onRejection(reason: unknown): void {
  const work = storage.getStore()
  if (work) pass(reason, work)
}

function onNewListener(event: string | symbol, listener: unknown): void {
  if (event !== 'unhandledRejection' || listener === onRejection) return
  if (!process.listeners('unhandledRejection').includes(onRejection)) process.on('unhandledRejection', onRejection)
}

function onListenerRemoved(event: string | symbol): void {
  const isAlone = process.listenerCount('unhandledRejection') === 1
  if (event === 'unhandledRejection' && isAlone) process.off('unhandledRejection', onRejection)
}

/** @returns true when the error needs no other handling */
function handle(thrown: unknown): boolean {
  const work = storage.getStore()
  if (work && pass(thrown, work)) return true
  const handlers = [...workers].flatMap(({ onUnattributed }) => onUnattributed ?? [])
  if (handlers.length === 0) return false
  metrics.add('ptc_uncaught_errors_total', 1, { result: 'unattributed' })
  const message = 'an error that nothing caught, and that belongs to no call'
  withoutThrowing(() => log(Runtime.instance().logger, message, thrown))
  for (const onUnattributed of handlers) withoutThrowing(() => onUnattributed(thrown))
  return true
}

function pass(thrown: unknown, work: FallibleWork): boolean {
  if (work.fail(thrown)) {
    metrics.add('ptc_uncaught_errors_total', 1, { result: 'failed' })
    return true
  }
  if (work.isEngine === true) return false
  metrics.add('ptc_uncaught_errors_total', 1, { result: 'late' })
  const count = (lateErrors.get(work) ?? 0) + 1
  lateErrors.set(work, count)
  if (count <= maxLogged) withoutThrowing(() => logLate(thrown, work))
  return true
}

/** Number of late errors by work, while the work is referenced. A timer may throw without end. */
const lateErrors = new WeakMap<FallibleWork, number>()
const maxLogged = 3

function logLate(thrown: unknown, { name, redact, isShared = false }: FallibleWork): void {
  const logger = isShared ? Runtime.instance().logger : Context.current().log
  log(
    logger,
    `${name} had ended when an error came that nothing caught. A promise is not awaited, perhaps.`,
    thrown,
    redact,
  )
}

function log(logger: Pick<Logger, 'error'>, message: string, thrown: unknown, redact?: (text: string) => string): void {
  logger.error(message, { error: describeThrown(thrown, redact), stack: toolStackOf(thrown, redact) })
}

/** Exits with a failure, which a supervisor should see. A process that calls `process.exit` can't be kept running. */
function onExit(): void {
  const work = storage.getStore()
  if (!work || work.isEngine === true) return
  if ([...workers].some(({ onUnattributed }) => onUnattributed)) process.exitCode ||= 1
  const line = `durable-ptc: ${work.name} has called process.exit, which ends the worker\n`
  withoutThrowing(() => writeSync(process.stderr.fd, line))
}

function withoutThrowing(execute: () => void): void {
  try {
    execute()
  } catch {
    // The runtime has ended, or stderr has no reader.
  }
}
