import type { StoredFile } from '../../common/files/files.js'
import { pluralize } from '../../common/text/text.js'
import { printStatus } from '../process/stdio.js'
import { fileLines, isUpload } from '../rendering/text/files.js'

/** Prints the artifacts of a run and the files of its tools to stderr, and how to get them. */
export function printArtifacts(files: readonly StoredFile[] = [], workflowId: string): void {
  const artifacts = files.filter((file) => !isUpload(file))
  if (artifacts.length === 0) return
  printStatus(`${pluralize(artifacts.length, 'file')}, which \`ptc files get ${workflowId} PATH\` downloads:`)
  for (const line of fileLines(artifacts, [], { full: false }))
    printStatus(`  ${line.map(({ text }) => text).join('')}`)
}
