import type { Command } from 'commander'

const comment = /#[^\n]*/y
const separator = /\$\(|[\n|;&<>()]+/y
const blank = /[ \t]+|\\\n/y
const wordPart = /"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s|;&<>()"'\\]|\\.)/y

/** Splits a shell script into simple commands, each a list of words. Knows quotes and comments, but no expansions. */
export function simpleCommands(script: string): readonly (readonly string[])[] {
  const commands: string[][] = [[]]
  let word: string | undefined
  let offset = 0
  const matchAt = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = offset
    const match = pattern.exec(script)
    if (match) offset = pattern.lastIndex
    return match
  }
  const endWord = (): void => {
    if (word !== undefined) commands.at(-1)?.push(word)
    word = undefined
  }
  while (offset < script.length) {
    // A substitution is one word of its command, and is itself a command.
    if (script.startsWith('$(', offset)) word = `${word ?? ''}$(…)`
    if (matchAt(blank) || (word === undefined && matchAt(comment))) endWord()
    else if (matchAt(separator)) {
      endWord()
      commands.push([])
    } else {
      const part = matchAt(wordPart)
      if (!part) throw new Error(`can't split ${JSON.stringify(script.slice(offset))}`)
      word = `${word ?? ''}${part[1] ?? part[2] ?? part[3] ?? ''}`
    }
  }
  endWord()
  return commands.filter((words) => words.length > 0)
}

/** The arguments of each call of `ptc` in a script. */
export function ptcCallsOf(script: string): readonly (readonly string[])[] {
  return simpleCommands(script).flatMap((words) => {
    const command = words.slice(words.findIndex((word) => !/^\w+=/.test(word)))
    const [name, ...rest] = command[0] === 'npx' ? command.slice(1) : command
    return name === 'ptc' || name === 'durable-ptc' ? [rest] : []
  })
}

/** The errors in the arguments of `ptc`: an unknown command or option, a wrong number of arguments. */
export function problemsOf(program: Command, ptcArguments: readonly string[]): readonly string[] {
  const problems: string[] = []
  const positional: string[] = []
  let command = program
  for (let index = 0; index < ptcArguments.length; index += 1) {
    const word = ptcArguments[index] ?? ''
    const subcommand = command.commands.find((each) => each.name() === word)
    if (/^-./.test(word)) {
      const [name = '', value] = word.split('=')
      const option = command.options.find(({ short, long }) => name === short || name === long)
      if (!option && !['-h', '--help'].includes(name)) problems.push(`ptc ${command.name()} has no option ${name}`)
      if (option?.required === true && value === undefined) index += 1
    } else if (subcommand && positional.length === 0) command = subcommand
    else positional.push(word)
  }
  if (command.commands.length > 0 && command.registeredArguments.length === 0) {
    return [...problems, `there is no command ${[command.name(), ...positional].join(' ')}`]
  }
  const accepted = command.registeredArguments
  const most = accepted.some(({ variadic }) => variadic) ? Infinity : accepted.length
  if (positional.length > most) problems.push(`ptc ${command.name()} takes no argument "${positional[most]}"`)
  const missing = accepted[positional.length]
  if (missing?.required === true) problems.push(`ptc ${command.name()} needs <${missing.name()}>`)
  return problems
}
