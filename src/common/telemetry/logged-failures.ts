/** Errors that are logged already, because Temporal's SDK also logs the failure of each attempt. */
const logged = new WeakSet<Error>()

export function markLogged<Failure extends Error>(failure: Failure): Failure {
  logged.add(failure)
  return failure
}

export function isLogged(failure: unknown): boolean {
  return failure instanceof Error && logged.has(failure)
}
