import { bash } from '../bash/index.js'
import { dispatchedRunner } from '../dispatcher.js'
import type { ExampleCall, Language } from '../language.js'

/** A language without a runner: a cell is a file, which a command executes. */
export interface CommandLanguage {
  /** The name that code names, such as `ruby`. A run records it: never give a name to another language. */
  readonly name: string
  /** The name for people. Default: the name. */
  readonly title?: string
  /**
   * The path of a program in the image, and its arguments. `{file}` stands for the path of the file with the code:
   * `['/usr/bin/ruby', '{file}']`.
   */
  readonly run: readonly string[]
  /** The name of the file with the code, such as `cell.rb`. Its ending is that of files for `ptc exec`. */
  readonly file: string
  /** The command that prints the version of the program. Default: the program with `--version`. */
  readonly version?: readonly string[]
}

/**
 * The language of cells that a command executes. They have the tools by the command `tool`, as bash, which documents
 * them.
 */
export function commandLanguage({ name, title = name, run, file, version }: CommandLanguage): Language {
  const { otherExtensions: _, packageKind: __, ...ofBash } = bash
  return {
    ...ofBash,
    name,
    title,
    extension: `.${file.slice(file.lastIndexOf('.') + 1)}`,
    program: { title, version: version ?? [...run.slice(0, 1), '--version'] },
    runner: dispatchedRunner(name, { run: [...run], file }),
    isStateless: true,
    repl: {
      prompts: { first: `${name}> `, next: '' },
      indentation: '',
      names: [],
      isCompleteBlock: () => true,
      continuesBlock: () => false,
      displayValueOf: (block) => block,
    },
    describeAsFurther: (example) => describe(title, run, file, example),
    callsIn: () => [],
  }
}

function describe(
  title: string,
  [path = '']: readonly string[],
  file: string,
  example: ExampleCall | undefined,
): string {
  const program = path.slice(path.lastIndexOf('/') + 1)
  const environment = `A whole ${title} program, which ${program} executes as ${file}. Keeps no variables. The result has its output and exit code.`
  if (!example) return environment
  return `${environment} It calls a tool by a process: \`${bash.summarizeTool(example.codeName, Object.keys(example.input), '')}\` prints JSON.`
}
