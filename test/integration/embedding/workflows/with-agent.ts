/** A workflow of a user that has the name of one of ours. */
export async function agent(): Promise<void> {
  // Never runs.
}
