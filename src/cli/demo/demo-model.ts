import type { EnvironmentVariables } from '../../platform/cache-directory.js'
import type { Script } from '../../testing/scripted-messages-api/script/script.js'
import { startScriptedMessagesApi } from '../../testing/scripted-messages-api/server.js'
import type { StartWorkerOptions } from '../../worker/index.js'

interface DemoModel {
  /** Tells the user which model is used. */
  readonly notice: string
  /** The local server that replies from the script; undefined: the worker calls the real API. */
  readonly scriptedApi: StartWorkerOptions['modelApi']
  close(): Promise<void>
}

/**
 * Uses the real API when a key is set, else starts a local server that replies from a script. The run keeps the name of
 * its configured model, so that its summary has the cost of that model.
 */
export async function prepareDemoModel(
  script: Script,
  environment: EnvironmentVariables = process.env,
): Promise<DemoModel> {
  const hasKey = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].some((name) => (environment[name] ?? '').trim() !== '')
  if (hasKey) {
    const notice = 'model: the real API (a key is set)'
    return { notice, scriptedApi: undefined, close: () => Promise.resolve() }
  }
  const api = await startScriptedMessagesApi({ script })
  return {
    notice:
      'model: no ANTHROPIC_API_KEY is set, so a script plays the model, behind a local server that speaks the Messages API.\n' +
      '       Everything else is real. Set ANTHROPIC_API_KEY to see the real model do it.',
    // The server accepts any key.
    scriptedApi: { baseURL: api.url, apiKey: 'no-api-key' },
    close: () => api.close(),
  }
}
