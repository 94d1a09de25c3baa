/** Whether the SDK finds credentials. Loads the SDK only now, because loading is slow. */
export async function hasCredentials(): Promise<boolean> {
  const credentials = await import('../models/anthropic/has-credentials.js')
  return credentials.hasCredentials()
}
