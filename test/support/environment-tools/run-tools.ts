import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect } from 'vitest'
import { z } from 'zod'

const script = fileURLToPath(new URL('run_tools.py', import.meta.url))

/** The result of a tool: its text, or its failure. */
export interface ToolRun {
  readonly text: string
  readonly isFailure: boolean
}

/** A use of a tool. */
export type ToolProgram = readonly [tool: string, args: object, policy?: object]

/** A folder on this machine as the home of environment tools. */
export interface Home {
  readonly path: string
  /** The folder above, with what is outside. */
  readonly root: string
  /** Uses tools one after the other, in one process of Python. */
  use(programs: readonly ToolProgram[], readable?: readonly string[]): Promise<readonly ToolRun[]>
  useOne(...program: ToolProgram): Promise<ToolRun | undefined>
  put(name: string, content: string | Uint8Array): Promise<void>
}

/** A home for the tests of a file. */
export function useHome(): Home {
  let root = ''
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'ptc-tools-'))
    await mkdir(join(root, 'home'))
  })
  afterAll(() => rm(root, { recursive: true, force: true }))
  const home: Home = {
    get path() {
      return join(root, 'home')
    },
    get root() {
      return root
    },
    async use(programs, readable = []) {
      const listed = programs.map(([tool, args, policy]) => ({ tool, arguments: args, ...policy }))
      const answer = await request({ home: home.path, readable, programs: listed })
      const parsed = z.array(z.tuple([z.string(), z.number()])).parse(answer)
      return parsed.map(([text, status]) => ({ text, isFailure: status !== 0 }))
    },
    useOne: async (...program) => (await home.use([program]))[0],
    put: (name, content) => writeFile(join(home.path, name), content),
  }
  return home
}

/** What a failed use is expected to be. */
export function failure(text: string | RegExp): ToolRun {
  return { isFailure: true, text: typeof text === 'string' ? text : (expect.stringMatching(text) as string) }
}

/** Why each command is refused; null for a command that is executed. */
export async function problemsOfCommands(commands: readonly string[]): Promise<readonly (string | null)[]> {
  return z.array(z.string().nullable()).parse(await request({ commands }))
}

/** The texts without keys and passwords. */
export async function maskTexts(texts: readonly string[]): Promise<readonly string[]> {
  return z.array(z.string()).parse(await request({ texts }))
}

function request(content: object): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const process = execFile('python3', ['-B', script], { maxBuffer: 64 << 20 }, (error, stdout) => {
      if (error) reject(error)
      else resolve(JSON.parse(stdout))
    })
    process.stdin?.end(JSON.stringify(content))
  })
}
