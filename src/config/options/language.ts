import { z } from 'zod'
import { problemOfLanguage } from '../../languages/index.js'

/** Accepts the name of a language of a configuration, an agent, or the options of a run. */
export const languageOption = z.string().superRefine((name, context) => {
  const problem = problemOfLanguage(name)
  if (problem !== undefined) context.addIssue(problem)
})
