import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../folders.js'

/** Writes files, by their paths, below a folder. Scripts are executable. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, content)
    if (path.includes('/scripts/')) await chmod(file, 0o755)
  }
}

/** A temporary folder of skills. */
export async function skillsFolder(files: Readonly<Record<string, string | Uint8Array>>): Promise<string> {
  const folder = await temporaryFolder()
  await writeFiles(folder, files)
  return folder
}

/** The text of a `SKILL.md`. */
export function skillText(name: string, body = 'Do it.', lines: readonly string[] = []): string {
  return ['---', `name: ${name}`, `description: What ${name} is for.`, ...lines, '---', '', body, ''].join('\n')
}
