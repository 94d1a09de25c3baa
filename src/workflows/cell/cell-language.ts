import { languageNamesOf } from '../../common/run/language-names.js'
import type { RunConfig } from '../../common/run/run-config.js'
import { truncateEnd } from '../../common/text/text.js'

const maxNameCharacters = 40

/** Returns why a run has no code in a language; undefined when it has. */
export function problemOfCellLanguage(
  { language: own }: Pick<RunConfig, 'language'>,
  language: string | undefined,
): string | undefined {
  const names = languageNamesOf(own)
  if (language === undefined || names.includes(language)) return undefined
  const asked = typeof language === 'string' ? JSON.stringify(truncateEnd(language, maxNameCharacters)) : 'of that name'
  return `there is no language ${asked} here, only ${names.join(', ')}`
}

/** The language in the step of a cell: the first of the run is not named. */
export function languageOfStep(
  { language: own }: Pick<RunConfig, 'language'>,
  language: string | undefined,
): { readonly language?: string } {
  return language === undefined || language === languageNamesOf(own)[0] ? {} : { language }
}
