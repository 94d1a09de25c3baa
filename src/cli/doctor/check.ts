import { raceWithTimeLimit } from '../../common/async/abort.js'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'

/** The result of one check. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warning' | 'error'
  /** One or more lines. */
  readonly message: string
  /** How to correct it; absent for status `ok`. */
  readonly remedy?: string
}

export function ok(name: string, message: string): Check {
  return { name, status: 'ok', message }
}

export function warning(name: string, message: string, remedy: string): Check {
  return { name, status: 'warning', message, remedy }
}

export function error(name: string, message: string, remedy: string): Check {
  return { name, status: 'error', message, remedy }
}

/** The check of a thrown error. */
export function failed(name: string, thrown: unknown): Check {
  const remedy = PtcError.isInstance(thrown) ? thrown.hint : undefined
  return { name, status: 'error', message: messageOf(thrown), ...defined({ remedy }) }
}

/** Milliseconds for each check. A check that waits for another process has shorter limits of its own. */
const limitMs = 20_000

/** Returns the results of a check, or a failure when it throws or takes too long. */
export async function withinLimit(
  name: string,
  run: () => Promise<readonly Check[]>,
  milliseconds = limitMs,
): Promise<readonly Check[]> {
  let isOver = false
  try {
    return await raceWithTimeLimit(undefined, milliseconds, (limit) => {
      limit.addEventListener('abort', () => (isOver = true))
      return run()
    })
  } catch (thrown) {
    if (!isOver) return [failed(name, thrown)]
    const hint = 'A disk, a server or code of the configuration does not answer.'
    return [failed(name, new PtcError('INTERNAL', `no result within ${milliseconds / 1_000} s`, { hint }))]
  }
}
