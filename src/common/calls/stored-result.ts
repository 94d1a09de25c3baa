/**
 * The member of heartbeat details with the result of an attempt so far. The next attempt returns it if this one is lost.
 * When there is no next attempt, because the host is lost, the failure of the activity has it.
 */
export const storedResultKey = 'ptc.result'

/** Returns the result that heartbeat details have; undefined when they have none. */
export function readStoredResult(details: unknown): unknown {
  return typeof details === 'object' && details !== null && storedResultKey in details
    ? details[storedResultKey]
    : undefined
}
