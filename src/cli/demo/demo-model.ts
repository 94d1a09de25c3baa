import type { Script } from '../../testing/scripted-messages-api/script/script.js'
import { startScriptedMessagesApi } from '../../testing/scripted-messages-api/server.js'
import type { EnvironmentVariables } from '../../sandbox/cache-directory.js'

/** The model of the demo. */
export interface DemoModel {
  /** Which model is used, for the user. */
  readonly notice: string
  /** Whether a script replaces the model. */
  readonly isScripted: boolean
  close(): Promise<void>
}

/**
 * Uses the real API when a key is set, else starts a local server that replies from a script. The worker's provider
 * reads the environment, so call this before starting the worker. Sets ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY until
 * `close`.
 */
export async function prepareDemoModel(
  script: Script,
  environment: EnvironmentVariables & Record<string, string | undefined> = process.env,
): Promise<DemoModel> {
  const hasKey = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].some((name) => (environment[name] ?? '').trim() !== '')
  if (hasKey) return { notice: 'model: the real API (a key is set)', isScripted: false, close: () => Promise.resolve() }
  const api = await startScriptedMessagesApi({ script })
  const restore = setVariables(environment, { ANTHROPIC_BASE_URL: api.url, ANTHROPIC_API_KEY: 'scripted' })
  return {
    notice:
      'model: no ANTHROPIC_API_KEY is set, so a script plays the model, behind a local server that speaks the Messages API.\n' +
      '       Everything else is real. Set ANTHROPIC_API_KEY to see the real model do it.',
    isScripted: true,
    async close() {
      restore()
      await api.close()
    },
  }
}

/** Sets the variables. The returned function restores their previous values. */
function setVariables(
  environment: Record<string, string | undefined>,
  variables: Readonly<Record<string, string>>,
): () => void {
  const previous = Object.keys(variables).map((name) => [name, environment[name]] as const)
  Object.assign(environment, variables)
  return () => {
    for (const [name, value] of previous) {
      if (value === undefined) delete environment[name]
      else environment[name] = value
    }
  }
}
