import { javascript } from '../javascript/index.js'
import type { Language } from '../language.js'

const { isEmbedded: _, ...ofJavaScript } = javascript

/**
 * JavaScript whose types are removed first. The language `javascript` also accepts types, but reads what both languages
 * allow as JavaScript: `f<T>(x)` is two comparisons there.
 */
export const typescript: Language = {
  ...ofJavaScript,
  name: 'typescript',
  title: 'TypeScript',
  extension: '.ts',
  otherExtensions: ['.mts', '.cts'],
  runner: { ...javascript.runner, folder: 'javascript', arguments: ['typescript'] },
  describeEnvironment: (limits, environment) =>
    javascript.describeEnvironment(limits, environment).replace('Runs JavaScript', 'Runs TypeScript'),
  describeAsFurther: (example) =>
    javascript.describeAsFurther(example).replace('JavaScript or TypeScript', 'TypeScript'),
}
