import type { JsonObject } from '../common/json/json.js'
import { pythonInterpreter } from './python/interpreter.js'
import type { Language, Runner } from './language.js'
import { runnerCommand } from './shared/runner-command.js'

/**
 * The dispatcher (`runner/dispatcher`) as the runner of a list of languages, the first of which is the language of
 * cells that name none. It starts the runner of a language with the first cell of that language.
 *
 * @param services what it does besides
 */
export function dispatcherOf(
  languages: readonly Pick<Language, 'name' | 'runner'>[],
  services: readonly string[],
): Runner {
  return dispatcher({
    ...Object.fromEntries(languages.map((language) => [language.name, dispatchedOf(language)])),
    ...Object.fromEntries(services.map((service) => [service, {}])),
  })
}

/**
 * The runner of a language whose cells the dispatcher itself executes.
 *
 * @param settings what the dispatcher needs to know for it
 */
export function dispatchedRunner(name: string, settings: JsonObject): Runner {
  return { ...dispatcher({ [name]: settings }), dispatched: settings }
}

/**
 * A language whose programs find a proxy in their environment. The dispatcher listens for them, so it is the runner of a
 * single language, too.
 */
export function withNetwork(language: Pick<Language, 'name' | 'runner'>): Pick<Language, 'name' | 'runner'> {
  const runner = language.runner.folder === dispatcherName ? language.runner : dispatcherOf([language], [])
  const environment = { ...runner.environment, PTC_PROXY_PORT: String(proxyPort) }
  return { ...language, runner: { ...runner, environment } }
}

const dispatcherName = 'dispatcher'

/** Of the loopback interface of each sandbox. The same each time, so that a program sees the same environment again. */
const proxyPort = 3128

/** Where the dispatcher has its socket, and the state of bash between two cells. */
const dispatcherFolder = '/run/tools'

function dispatcher(settings: Readonly<Record<string, JsonObject>>): Runner {
  return {
    interpreter: pythonInterpreter,
    folder: dispatcherName,
    entry: 'dispatcher.py',
    arguments: [JSON.stringify(settings)],
    // Programs that cells start have the variables, too: those in Python iterate their sets in the same order again.
    environment: { PYTHONHASHSEED: '0', PTC_FOLDER: dispatcherFolder },
    privateFolder: dispatcherFolder,
    needsSchemas: true,
  }
}

function dispatchedOf(language: Pick<Language, 'name' | 'runner'>): JsonObject {
  const { dispatched, environment } = language.runner
  return dispatched ?? { command: [...runnerCommand(language)], environment: { ...environment } }
}
