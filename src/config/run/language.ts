import type { Agent } from '../../agents/index.js'
import { hostedBackend } from '../../common/agent/hosted-code.js'
import { PtcError } from '../../common/errors.js'
import { defaultLanguageName } from '../../common/names.js'
import { codeLanguagesOf } from '../../common/run/environment.js'
import { languageNameOf } from '../../common/run/language-names.js'
import type { BackendChoice, BuiltInBackend } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import { languageOf, languages } from '../../languages/index.js'
import { canStripTypes, strippingNode } from '../../platform/strip-types.js'

const embeddedBackend = 'wasm' satisfies BuiltInBackend

/** Whether a sandbox can have the dispatcher, which has the environment of a run, and its files. */
export function mayHaveDispatcher(backend: BackendChoice): boolean {
  return backend !== hostedBackend && backend !== embeddedBackend
}

/**
 * Returns the name of the language of a run's code: that of the run comes before that of its agent, and this before that
 * of the configuration. A sub-agent in the session of its parent has the language of the parent.
 *
 * @param configured of runs that ask for none
 * @throws PtcError RUN_INPUT_INVALID
 */
export function chosenLanguage(options: RunConfigInput, agent: Agent | undefined, configured: string): string {
  const ofParent = sharedLanguage(options)
  if (ofParent === undefined)
    return (options.language && languageNameOf(options.language)) ?? agent?.language ?? configured
  if (agent?.language === undefined || agent.language === codeLanguagesOf(ofParent).join()) return ofParent
  throw new PtcError(
    'RUN_INPUT_INVALID',
    `agent ${agent.name} writes ${agent.language}, and the sandbox of its parent runs ${ofParent}`,
    { hint: "Remove `language` or `sandbox: 'parent'` of the agent." },
  )
}

/** Returns why code in this language can't have files in a sandbox; undefined if it can. */
export function obstacleToFilesOf(language: string, backend: BackendChoice): string | undefined {
  if (backend === hostedBackend) return `the sandbox ${backend} can't have files`
  if (backend !== embeddedBackend || languageOf(language).embedded?.hasFiles !== false) return undefined
  return `code in ${language} can't have files in the sandbox ${backend}`
}

/** The language of the sandbox that a sub-agent shares with its parent; undefined for a run with a sandbox of its own. */
export function sharedLanguage({ language, lease, sandboxOwner, session }: RunConfigInput): string | undefined {
  const isSharing = lease !== undefined && (sandboxOwner !== undefined || session !== undefined)
  // The parent names its language only if it is another than this one.
  return isSharing ? languageNameOf(language ?? defaultLanguageName) : undefined
}

/**
 * Refuses a run whose sandbox has no interpreter of its language, or does not execute several.
 *
 * @throws PtcError RUN_INPUT_INVALID; SANDBOX_UNAVAILABLE for an unknown language
 */
export function checkLanguage(language: string, backend: BackendChoice): void {
  if (backend !== embeddedBackend) return
  const { embedded } = languageOf(language)
  if (embedded?.removesTypes && !canStripTypes) {
    const message = `the sandbox ${backend} executes ${language} with Node.js ${strippingNode} or later`
    throw new PtcError('RUN_INPUT_INVALID', `${message}, and this worker has ${process.versions.node}`, {
      hint: 'Choose javascript, or another sandbox, such as docker.',
    })
  }
  if (embedded) return
  const known = languages.filter((each) => each.embedded).map(({ name }) => name)
  throw new PtcError('RUN_INPUT_INVALID', `the sandbox ${backend} does not execute ${language}`, {
    hint: `It executes one language: ${known.join(' or ')}. Choose another sandbox, such as docker.`,
  })
}
