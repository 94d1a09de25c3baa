import type { Agent } from '../../agents/index.js'
import { PtcError } from '../../common/errors.js'
import { languageNamesOf } from '../../common/run/language-names.js'
import type { BackendChoice, BuiltInBackend } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import type { ImageChoice, SandboxContents } from '../../common/run/sandbox-image.js'

/** The backend whose sandboxes have images. */
export const imageBackend = 'docker' satisfies BuiltInBackend

/**
 * Returns the image that a run or its agent has of its own; undefined for that of the configuration.
 *
 * @throws PtcError RUN_INPUT_INVALID when the sandbox of the run can't have it
 */
export function chosenImage(
  { session, image: own }: RunConfigInput,
  agent: Agent | undefined,
  backend: BackendChoice,
): ImageChoice | undefined {
  const image = own ?? agent?.image
  if (image === undefined) return undefined
  const owner = own === undefined ? `agent ${agent?.name ?? ''}` : 'the session'
  const invalid = (problem: string, hint: string) =>
    new PtcError('RUN_INPUT_INVALID', `${owner} has an image of its own, and ${problem}`, { hint })
  if (session !== undefined) throw invalid(`session ${session} has its own`, 'Choose no session, or another agent.')
  if (backend === 'auto' || backend === imageBackend) return image
  throw invalid(`the sandbox ${backend} has no images`, `Choose the sandbox ${imageBackend}.`)
}

/**
 * Refuses a run whose sandbox can't execute its languages.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function checkLanguagesIn({ languages }: SandboxContents, language: string): void {
  const missing = languageNamesOf(language).find((name) => !languages.includes(name))
  if (missing === undefined) return
  throw new PtcError(
    'RUN_INPUT_INVALID',
    `the image of the sandbox has no ${missing}; it has ${languages.join(', ')}`,
    {
      hint: "Choose another `image`, such as 'polyglot', or add the language by `packages`.",
    },
  )
}
