import { type Script, startScriptedMessagesApi } from '../../testing/index.js'
import type { Environment } from '../../sandbox/cache-directory.js'

/** The model that the demo talks to. */
export interface DemoModel {
  /** In plain words, for the user. */
  readonly notice: string
  /** Is it the script that speaks? */
  readonly scripted: boolean
  close(): Promise<void>
}

/**
 * The real API when there is a key for it, else a local server that answers from a script. The provider of a worker finds
 * either by the environment, so this comes before the worker.
 */
export async function prepareDemoModel(
  script: Script,
  environment: Environment & Record<string, string | undefined> = process.env,
): Promise<DemoModel> {
  const hasKey = ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'].some((name) => (environment[name] ?? '').trim() !== '')
  if (hasKey) return { notice: 'model: the real API (a key is set)', scripted: false, close: () => Promise.resolve() }
  const api = await startScriptedMessagesApi({ script })
  const before = environment['ANTHROPIC_BASE_URL']
  environment['ANTHROPIC_BASE_URL'] = api.url
  environment['ANTHROPIC_API_KEY'] = 'scripted'
  return {
    notice:
      'model: no ANTHROPIC_API_KEY is set, so a script plays the model, behind a local server that speaks the Messages API.\n' +
      '       Everything else is real. Set ANTHROPIC_API_KEY to see the real model do it.',
    scripted: true,
    async close() {
      delete environment['ANTHROPIC_API_KEY']
      if (before === undefined) delete environment['ANTHROPIC_BASE_URL']
      else environment['ANTHROPIC_BASE_URL'] = before
      await api.close()
    },
  }
}
