import { execFile } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { temporaryFolder } from './folders.js'

const checkout = fileURLToPath(new URL('../../', import.meta.url))

/** Compiles an example, which is a whole project, with the packages of this checkout. */
export async function buildExample(name: string): Promise<string> {
  const project = await copyExample(name)
  await compile(project, [])
  return project
}

/**
 * An example that is a file to copy, compiled as in a strict project of ES modules.
 *
 * @returns the path of the program
 */
export async function buildExampleFile(name: string, file: string): Promise<string> {
  const project = await copyExample(name)
  await writeFile(join(project, 'package.json'), '{ "type": "module" }')
  const strict = ['--strict', '--erasableSyntaxOnly', '--verbatimModuleSyntax', '--skipLibCheck']
  await compile(project, [...strict, '--module', 'nodenext', '--target', 'es2023', '--types', 'node', file])
  return join(project, file.replace(/\.ts$/, '.js'))
}

/** A copy of the folder of an example, with the packages of this checkout. */
async function copyExample(name: string): Promise<string> {
  const project = await temporaryFolder()
  await cp(join(checkout, 'examples', name), project, { recursive: true })
  const packages = join(project, 'node_modules')
  await mkdir(packages)
  for (const name of ['@temporalio', '@types', 'zod', 'undici-types']) {
    await symlink(join(checkout, 'node_modules', name), join(packages, name))
  }
  await symlink(checkout, join(packages, 'durable-ptc'))
  return project
}

async function compile(project: string, args: readonly string[]): Promise<void> {
  const compiler = join(checkout, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [compiler, ...args], { cwd: project })
}
