import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ptcScript, type TestProject } from '../cli/ptc.js'
import { type CodeBlock, shellScriptOf } from './code-blocks.js'

/**
 * Commands of npm that do nothing. A folder above has the packages. The scripts of the checkout have tests of their
 * own, and `test/slow/package/installed-package.test.ts` installs the packed package in a project.
 */
const npmCommands = [
  'install',
  'install ./durable-ptc-*.tgz',
  'pack --silent --pack-destination ../expenses',
  'run build',
  'run demo',
  'test',
]

/**
 * The commands of a page in place of the ones that npm installs: `npx ptc`, and the command of a checkout, are the
 * built command. `ptc dev` goes to the background once it is ready, like a terminal of its own.
 */
const shims: Readonly<Record<string, string>> = {
  node: 'test "$1" = dist/cli/main.js || { echo "node $1: only ptc is known" >&2; exit 1; }; shift; exec ptc "$@"',
  npm: `case $* in
${npmCommands.map((each) => `'${each}'`).join(' | ')}) ;;
*) echo "npm $*: not known" >&2; exit 1 ;;
esac`,
  npx: 'case $1 in ptc | durable-ptc) shift; exec ptc "$@" ;; *) echo "npx $1: only ptc is known" >&2; exit 1 ;; esac',
  // Building the image of Docker may need a network.
  ptc: `case $1 in run | exec | dev) set -- "$@" --sandbox wasm ;; esac
if [ "$1" != dev ]; then exec '${process.execPath}' '${ptcScript}' "$@"; fi
'${process.execPath}' '${ptcScript}' "$@" >"$PAGE_FOLDER/dev.log" 2>&1 &
echo $! >"$PAGE_FOLDER/dev.pid"
until grep -q '^Ready' "$PAGE_FOLDER/dev.log"; do
  kill -0 $! || { cat "$PAGE_FOLDER/dev.log" >&2; exit 1; }
  sleep 0.1
done`,
}

/** Stops at the first command that fails, and ends `ptc dev` in any case. */
const prologue = `set -eo pipefail
endDev() { if [ -f "$PAGE_FOLDER/dev.pid" ]; then kill -TERM "$(cat "$PAGE_FOLDER/dev.pid")" && wait; fi; }
trap endDev EXIT
set -x
`

export interface PageResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the shell blocks of a page in one shell, like a reader who pastes them, and saves the files that it names. */
export async function runPage(project: TestProject, blocks: readonly CodeBlock[], before = ''): Promise<PageResult> {
  const commands = join(project.folder, 'bin')
  await mkdir(commands)
  for (const [name, script] of Object.entries(shims)) {
    await writeFile(join(commands, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(commands, name), 0o755)
  }
  const page = blocks.flatMap((block) => {
    if (block.savedAs !== undefined) return [`cat >'${block.savedAs}' <<'END_OF_BLOCK'\n${block.text}END_OF_BLOCK\n`]
    return ['sh', 'console'].includes(block.language) ? [shellScriptOf(block)] : []
  })
  const shell = spawn('bash', ['-s'], {
    cwd: project.folder,
    env: {
      ...project.environment,
      PATH: `${commands}:${project.environment['PATH'] ?? ''}`,
      PAGE_FOLDER: project.folder,
    },
  })
  shell.stdin.end(`{\n${prologue}${before}\n${page.join('')}} </dev/null\n`)
  const [stdout, stderr, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')])
  return { code: typeof code === 'number' ? code : null, stdout, stderr }
}
