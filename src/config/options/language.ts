import { z } from 'zod'
import { type LanguageChoice, languageNameOf } from '../../common/run/language-names.js'
import { problemOfLanguage } from '../../languages/index.js'

/** Accepts the choice of languages of a configuration, an agent, or the options of a run. The output is its name. */
export const languageOption = z
  .custom<LanguageChoice>()
  .superRefine((choice, context) => {
    const problem = problemOfLanguage(choice)
    if (problem !== undefined) context.addIssue(problem)
  })
  .transform(languageNameOf)
