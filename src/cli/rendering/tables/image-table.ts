import { formatDuration } from '../../../common/text/format.js'
import { packageKinds, type SandboxContents } from '../../../common/run/sandbox-image.js'
import type { ListedImage } from '../../../sandbox/docker/index.js'
import { oneLine } from '../text/sanitize.js'
import { renderColumns } from './column-table.js'
import { formatDecimalBytes } from './store-table.js'

const heading = ['NAME', 'SIZE', 'AGE', 'RUNNER', 'CONTAINERS', 'CONTENT'] as const

export function renderImageTable(images: readonly ListedImage[], now: Date, width: number | undefined): string {
  const rows = images.map((image) => [
    oneLine(image.name),
    formatDecimalBytes(image.bytes),
    formatDuration(Math.max(0, now.getTime() - image.createdAt.getTime())),
    image.isCurrent ? 'current' : 'other',
    String(image.containers),
    oneLine([image.title, ...image.packages].join(' ')),
  ])
  return renderColumns([heading, ...rows], width)
}

/** What an image has, one kind on each line. */
export function renderContents({ programs, languages, packages }: SandboxContents): string {
  const rows = packageKinds.map((kind) => {
    const { names, more } = packages[kind]
    return [kind, `${names.join(', ') || 'none'}${more > 0 ? `, and ${more} more` : ''}`]
  })
  return renderColumns([['languages', languages.join(', ')], ['programs', programs.join(', ')], ...rows], undefined)
}
