import { isInside } from '../paths.js'
import type { MemoryFile } from '../index-file.js'

const maxDepth = 2

/** The files and folders of a folder, two levels deep. A folder is as large as all its files. */
export function renderFolder(folder: string, files: readonly MemoryFile[]): string {
  const inside = files.filter(({ path }) => isInside(path, folder))
  const sizes = new Map<string, number>()
  for (const { path, bytes } of inside) {
    const names = path.slice(folder.length + 1).split('/')
    for (let depth = 1; depth <= Math.min(names.length, maxDepth); depth++) {
      const shown = names.slice(0, depth)
      if (shown.some(isHidden)) break
      const entry = `${shown.join('/')}${depth < names.length ? '/' : ''}`
      sizes.set(entry, (sizes.get(entry) ?? 0) + bytes)
    }
  }
  const total = inside.reduce((sum, { bytes }) => sum + bytes, 0)
  const entries = [...sizes].sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    `Here're the files and directories up to 2 levels deep in ${folder}, excluding hidden items and node_modules:`,
    `${formatSize(total)}\t${folder}`,
    ...entries.map(([entry, bytes]) => `${formatSize(bytes)}\t${folder}/${entry}`),
  ].join('\n')
}

function isHidden(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}

/** 950 -> "950B", 5,632 -> "5.5K". */
function formatSize(bytes: number): string {
  const units = ['B', 'K', 'M', 'G'] as const
  const step = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log2(bytes) / 10))
  const amount = bytes / 1024 ** step
  return `${Number.isInteger(amount) ? amount : amount.toFixed(1)}${units[step] ?? ''}`
}
