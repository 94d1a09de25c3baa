/*
 * Languages of programs.
 *
 * Owns: what depends on the language of a program outside the sandbox: reserved names, and the texts for the model.
 * Boundary: pure text. It knows no tool, model or sandbox; `runner/` executes programs.
 *
 * Invariants:
 * 1. A text depends only on the arguments: prompt caching depends on equal bytes.
 * 2. Tools and models know languages only by this list.
 */

import type { Language } from './language.js'
import { python } from './python/index.js'

export type { DocumentedTool, Environment, EnvironmentLimits, Language, ToolsOptions } from './language.js'
export { parametersOf } from './parameters.js'

export const languages: readonly Language[] = [python]

/** The language of runs that name none. */
export const defaultLanguage: Language = python
