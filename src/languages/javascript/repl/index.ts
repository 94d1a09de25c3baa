import type { Repl } from '../../language.js'
import { javascriptKeywords } from '../reserved-names.js'
import { isCompleteBlock } from './block.js'
import { displayValueOf } from './display-value.js'

const globals =
  'Array Boolean Date Error JSON Map Math Number Object Promise RegExp Set String console fetch globalThis parseFloat parseInt require setTimeout structuredClone'

/** As at Node's own prompt. */
export const repl: Repl = {
  prompts: { first: '> ', next: '... ' },
  indentation: '  ',
  names: [...javascriptKeywords, ...globals.split(' ')],
  isCompleteBlock,
  continuesBlock: (line) => /^\s*(?:(?:else|catch|finally)\b|\?\.|\.(?!\.))/.test(line),
  displayValueOf,
}
