import { filesService } from '../common/files/files.js'
import { dispatcherOf } from './dispatcher.js'
import type { ExampleCall, Language } from './language.js'

/** What the dispatcher does besides executing cells. */
export const services = [filesService] as const

export type Service = (typeof services)[number]

/**
 * Several languages as one, for a run whose cells name their language. Cells that name none are in the first one, in
 * which the tools are documented.
 */
export function combineLanguages(
  [first, ...others]: readonly [Language, ...Language[]],
  ofDispatcher: readonly Service[] = [],
): Language {
  const all = [first, ...others]
  const written = others.filter(({ isInternal }) => isInternal !== true)
  const { embedded: _, hosted: __, ...ofFirst } = first
  const combined: Language = {
    ...ofFirst,
    name: [...all.map(({ name }) => name), ...ofDispatcher].join(','),
    title: [first, ...written].map(({ title }) => title).join(', '),
    runner: dispatcherOf(all, ofDispatcher),
  }
  if (others.length === 0) return combined
  return {
    ...combined,
    // A tool has one name in the code of a run.
    isReservedName: (name) => all.some((each) => each.isReservedName(name)),
    describeTools: (stubs, options) =>
      [first.describeTools(stubs, options), describeOthers(first, written, options.example)].join('\n\n').trimEnd(),
    describeAsFurther: (example) => [first, ...written].map((each) => each.describeAsFurther(example)).join(' '),
    callsIn: (text) => all.map((each) => each.callsIn(text)).find((names) => names.length > 0) ?? [],
  }
}

function describeOthers(first: Language, others: readonly Language[], example: ExampleCall | undefined): string {
  if (others.length === 0) return ''
  const lines = others.map((each) => `- \`${each.name}\`: ${each.describeAsFurther(example)}`)
  return `\
Code without \`language\` is ${first.title}. Other languages have the same tools, limits, and files in /tmp, the working \
directory. Each keeps its own variables for your next calls; no language sees those of another.

${lines.join('\n')}`
}

/** Returns why no run can have these languages together; undefined if it can. */
export function problemOfCombination([first, ...others]: readonly Language[]): string | undefined {
  const names = [first, ...others].map((each) => each?.name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice !== undefined) return `the language ${twice} is there twice`
  if (first?.isStateless !== true) return undefined
  return `${first.name} keeps no variables: name another language before it, such as bash,${first.name}`
}
