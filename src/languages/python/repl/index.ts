import type { Repl } from '../../language.js'
import { pythonKeywords } from '../reserved-names.js'
import { continuesBlock, isCompleteBlock } from './block.js'
import { displayValueOf } from './display-value.js'

const builtins =
  'abs all any asyncio bool bytes dict dir enumerate filter float format help int isinstance json len list map max min next print range repr reversed round set sorted str sum tuple type zip'

/** As at Python's own prompt. */
export const repl: Repl = {
  prompts: { first: '>>> ', next: '... ' },
  indentation: '    ',
  names: [...pythonKeywords, ...builtins.split(' ')],
  isCompleteBlock,
  continuesBlock,
  displayValueOf,
}
