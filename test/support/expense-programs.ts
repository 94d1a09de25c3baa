import { readFile } from 'node:fs/promises'

interface ExpenseProgram {
  readonly language: string
  readonly file: string
  /** Makes the file `/tmp/busy`, and runs until `/tmp/go` exists. */
  readonly busy: string
}

/** The program of the team-expense example in each language. */
export const expensePrograms: readonly ExpenseProgram[] = [
  {
    language: 'python',
    file: 'program.py',
    busy: 'import os\nopen("/tmp/busy", "w").close()\nwhile not os.path.exists("/tmp/go"): pass\n',
  },
  {
    language: 'javascript',
    file: 'program.js',
    busy: 'require("node:fs").writeFileSync("/tmp/busy", "")\nwhile (!require("node:fs").existsSync("/tmp/go"));\n',
  },
  {
    language: 'typescript',
    file: 'program.js',
    busy: 'const fs: any = require("node:fs")\nfs.writeFileSync("/tmp/busy", "")\nwhile (!fs.existsSync("/tmp/go"));\n',
  },
  {
    language: 'bash',
    file: 'program.sh',
    busy: 'touch /tmp/busy\nuntil [ -e /tmp/go ]; do :; done\n',
  },
]

export function readExpenseProgram({ file }: ExpenseProgram): Promise<string> {
  return readFile(new URL(`../../examples/team-expenses/${file}`, import.meta.url), 'utf8')
}

/** The program, which is busy before its last calls, in the middle of its cell. */
export async function busyExpenseProgram(program: ExpenseProgram): Promise<string> {
  const source = await readExpenseProgram(program)
  const at = /^.*get_custom_budget/m.exec(source)?.index
  if (at === undefined) throw new Error(`${program.file} does not call get_custom_budget`)
  return source.slice(0, at) + program.busy + source.slice(at)
}
