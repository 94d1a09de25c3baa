import { javascript } from '../javascript/index.js'
import { describeAsFurther, describeEnvironment } from '../javascript/prompt.js'
import type { Language } from '../language.js'

/**
 * JavaScript whose types are removed first. The language `javascript` also accepts types, but reads what both languages
 * allow as JavaScript: `f<T>(x)` is two comparisons there.
 */
export const typescript: Language = {
  ...javascript,
  name: 'typescript',
  title: 'TypeScript',
  extension: '.ts',
  otherExtensions: ['.mts', '.cts'],
  embedded: { hasFiles: false, removesTypes: true },
  runner: { ...javascript.runner, folder: 'javascript', arguments: ['typescript'] },
  describeEnvironment: (limits, environment) => describeEnvironment(limits, environment, true),
  describeAsFurther: (example) => describeAsFurther(example, 'TypeScript'),
}
