/** Errors of which the log has an entry already: Temporal's SDK logs the failure of each attempt as well. */
const logged = new WeakSet<Error>()

/** Marks an error as logged, and returns it. */
export function markLogged<Failure extends Error>(failure: Failure): Failure {
  logged.add(failure)
  return failure
}

export function isLogged(failure: unknown): boolean {
  return failure instanceof Error && logged.has(failure)
}
