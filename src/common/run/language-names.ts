/** The languages of a run, as people give them: one name, names with commas between them, or a list of names. */
export type LanguageChoice = string | readonly string[]

/**
 * The names of the languages of a run, from its name of a language (`python,bash`) or from the choice of a person. Cells
 * that name none are in the first.
 */
export function languageNamesOf(choice: LanguageChoice): readonly string[] {
  return (typeof choice === 'string' ? choice.split(',') : choice).map((name) => name.trim())
}

/** The name of a run's language, from the choice of a person. */
export function languageNameOf(choice: LanguageChoice): string {
  return languageNamesOf(choice).join(',')
}
