/** Whether the SDK finds credentials. Loads the SDK, which takes a while, only now. */
export async function hasCredentials(): Promise<boolean> {
  const credentials = await import('../models/anthropic/has-credentials.js')
  return credentials.hasCredentials()
}
