import { execFile, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseDocument } from 'yaml'
import { buildProgram } from '../../../src/cli/program.js'
import { projectFiles } from '../../../src/cli/init/project-files.js'
import { TestProject } from '../../support/cli/ptc.js'
import {
  type CodeBlock,
  codeBlocksOf,
  documentationPages,
  locationOf,
  parseCodeBlocks,
  root,
  shellScriptOf,
} from '../../support/docs/code-blocks.js'
import { problemsOf, ptcCallsOf } from '../../support/docs/ptc-command-line.js'
import { runPage } from '../../support/docs/run-page.js'

const blocks = documentationPages().flatMap(codeBlocksOf)
const inLanguage = (...languages: readonly string[]): readonly CodeBlock[] =>
  blocks.filter(({ language, isIgnored }) => languages.includes(language) && !isIgnored)

/** Languages that this test checks. Before you add a language here, add its check. */
const knownLanguages = ['ts', 'python', 'json', 'yaml', 'sh', 'console', 'mermaid']

/** Files that the pages expect the reader to have. */
const filesOfReader: Readonly<Record<string, string>> = {
  'my-backend.ts': `import type { SandboxBackend } from 'durable-ptc/sandbox'\nexport declare const MyBackend: new () => SandboxBackend\n`,
  'tools.ts': `import type { Tool } from 'durable-ptc'\nimport type { z } from 'zod'\nexport declare const stock: Tool<z.ZodObject<{ article: z.ZodString }>, z.ZodObject<{ pieces: z.ZodNumber }>>\n`,
  'agents.ts': `import type { Agent } from 'durable-ptc'\nimport type { z } from 'zod'\nexport declare const analyst: Agent<z.ZodObject<{ total: z.ZodNumber }>>\n`,
}

const compilerOptions = {
  target: 'es2023',
  lib: ['es2023'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  moduleDetection: 'force',
}

describe('code blocks of the documentation', () => {
  it('code blocks of the documentation have a language that is checked, and few are ignored', () => {
    expect(blocks.length).toBeGreaterThan(25)
    expect(blocks.filter(({ language }) => !knownLanguages.includes(language)).map(locationOf)).toEqual([])
    expect(blocks.filter(({ isIgnored }) => isIgnored).map(locationOf)).toEqual([])
  })

  it.each(inLanguage('yaml').map((block) => [locationOf(block), block] as const))(
    'the block at %s is valid YAML',
    (_, block) => {
      expect(parseDocument(block.text).errors).toEqual([])
    },
  )

  it('TypeScript blocks of the documentation compile against the package', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'ptc-docs-'))
    try {
      await linkPackages(join(folder, 'node_modules'))
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
      for (const [name, text] of Object.entries(filesOfReader)) await writeFile(join(folder, name), text)
      for (const block of inLanguage('ts')) {
        const name = `${locationOf(block).replaceAll(/\W+/g, '-')}.ts`
        // Adds blank lines, so that line numbers of the compiler match the page.
        await writeFile(join(folder, name), '\n'.repeat(block.line) + block.text)
      }
      expect(await compile(folder)).toBe('')
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it.each(inLanguage('python').map((block) => [locationOf(block), block]))(
    'the block at %s is valid Python',
    (_, { text }) => {
      // The code of a cell may have `await` at the top.
      const check = 'import ast, sys; compile(sys.stdin.read(), "block", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)'
      const { status, stderr } = spawnSync('python3', ['-c', check], { input: text, encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    },
  )

  it.each(inLanguage('json').map((block) => [locationOf(block), block]))(
    'the block at %s is valid JSON',
    (_, { text }) => {
      expect(() => JSON.parse(text) as unknown).not.toThrow()
    },
  )

  it.each(inLanguage('mermaid').map((block) => [locationOf(block), block]))(
    'the block at %s is a diagram',
    (_, { text }) => {
      expect(text).toMatch(/^(sequenceDiagram|stateDiagram-v2|flowchart (LR|TB|TD))\n/)
    },
  )

  it.each(inLanguage('sh', 'console').map((block) => [locationOf(block), block]))(
    'the block at %s is a valid shell script',
    (_, block) => {
      const script = shellScriptOf(block)
      expect(script).not.toBe('')
      const { status, stderr } = spawnSync('bash', ['-n'], { input: script, encoding: 'utf8' })
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      const program = buildProgram()
      expect(ptcCallsOf(script).flatMap((call) => problemsOf(program, call))).toEqual([])
    },
  )
})

describe('the check of command lines', () => {
  it.each([
    ['ptc exec report.py  # a comment', []],
    ['npx ptc run --id x "two words" | jq -r .answer && ptc list', []],
    ['PTC_HOST_ID=a ptc worker --roles=workflow', []],
    ['echo ptc nope', []],
    ['ptc watch $(ptc run --detach why)', []],
    ['ptc rnu', ['there is no command ptc rnu']],
    ['npx durable-ptc sessions drop', ['there is no command sessions drop']],
    ['ptc list && ptc show x --ful', ['ptc show has no option --ful']],
    ['ptc watch a b', ['ptc watch takes no argument "b"']],
    ['ptc cancel', ['ptc cancel needs <id>']],
  ])('finds the errors of the command line %s', (script, problems) => {
    const program = buildProgram()
    expect(ptcCallsOf(script).flatMap((call) => problemsOf(program, call))).toEqual(problems)
  })

  it('a code block without an end, or with an unknown word, fails', () => {
    expect(() => parseCodeBlocks('page', '\n```ts\n1\n')).toThrow('page:2: the code block has no end')
    expect(() => parseCodeBlocks('page', '```ts nocheck\n1\n```\n')).toThrow('page:1: unknown word "nocheck"')
  })
})

describe('pages that can be followed', () => {
  it('README.md: the configuration is that of ptc init, and the commands run as pasted', async () => {
    await using project = await TestProject.create({})
    const page = codeBlocksOf('README.md')
    const configuration = projectFiles().find(([name]) => name === 'ptc.config.ts')
    expect(page.filter(({ language }) => language === 'ts').map(({ text }) => text)).toEqual([configuration?.[1]])
    // The page begins in a checkout, and makes a folder beside it.
    const { code, stdout, stderr } = await runPage(project, page, 'mkdir checkout\ncd checkout\n')
    expect(stderr).toContain('model: a scripted model replies, because the worker found no API key')
    expect(stdout).toMatch(/^ada: 6340\nada 6340 EUR$/m)
    expect(code).toBe(0)
  })
})

/** A node_modules with this package and its dependencies. */
async function linkPackages(folder: string): Promise<void> {
  await mkdir(folder)
  const installed = join(root, 'node_modules')
  for (const name of await readdir(installed)) {
    if (!name.startsWith('.')) await symlink(join(installed, name), join(folder, name))
  }
  await symlink(root, join(folder, 'durable-ptc'))
}

/** The errors of the compiler. */
function compile(folder: string): Promise<string> {
  return new Promise((settle) => {
    execFile(
      process.execPath,
      [join(root, 'node_modules/typescript/bin/tsc'), '-p', folder],
      (_error, stdout, stderr) => settle(stdout + stderr),
    )
  })
}
