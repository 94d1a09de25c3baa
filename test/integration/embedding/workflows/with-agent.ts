/** A workflow of a user with the name of a workflow of the engine. */
export async function agent(): Promise<void> {
  // Never runs.
}
