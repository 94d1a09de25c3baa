import { Command } from 'commander'
import { pluralize } from '../../../common/text/text.js'
import type { ImageChoice } from '../../../common/run/sandbox-image.js'
import type { DockerBackend } from '../../../sandbox/docker/index.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import { print, printStatus, printStep } from '../../process/stdio.js'
import { type ConfigOption, type JsonOption, subcommand } from '../options.js'

type Options = ConfigOption & JsonOption

interface PruneOptions extends Options {
  readonly dryRun?: boolean
}

const nameHelp = 'minimal, data, polyglot, or the name of an image (default: those of the configuration and its agents)'

export function imageCommand(): Command {
  return new Command('image')
    .description('build, list, check and remove the images of Docker sandboxes')
    .addCommand(
      subcommand('build', 'build images, unless they are there', 'the names and ids')
        .argument('[name]', nameHelp)
        .action(build),
    )
    .addCommand(subcommand('list', 'list the images that durable-ptc has built', 'the images').action(list))
    .addCommand(
      subcommand('check', 'ask images which languages and packages they have', 'what they have')
        .argument('[name]', nameHelp)
        .action(check),
    )
    .addCommand(
      subcommand('prune', 'remove images of other versions of durable-ptc that no container uses', 'the images')
        .option('-n, --dry-run', 'report only, remove nothing')
        .action(prune),
    )
}

interface ImagesOfProject {
  readonly docker: DockerBackend
  /** Undefined: the image of the configuration. */
  readonly choices: readonly (ImageChoice | undefined)[]
  readonly signal: AbortSignal
}

/** Needs no Temporal server. */
async function withImages(
  { config: file }: ConfigOption,
  name: string | undefined,
  run: (images: ImagesOfProject) => Promise<void>,
): Promise<void> {
  using interrupts = listenForInterrupts()
  const { resolveProject } = await import('../../environment/project.js')
  const { createDockerBackend } = await import('../../../sandbox/docker/index.js')
  const { defined } = await import('../../../common/defined.js')
  const { config } = await resolveProject({ config: file })
  const { image, packages, docker: { runtime } = {}, agentImages = [] } = config?.sandbox ?? {}
  const chosen = name === undefined ? { image, packages } : { image: name }
  const docker = createDockerBackend(defined({ ...chosen, runtime }))
  try {
    await run({ docker, choices: [undefined, ...(name === undefined ? agentImages : [])], signal: interrupts.first })
  } finally {
    await docker.close()
  }
}

async function build(name: string | undefined, options: Options): Promise<void> {
  await withImages(options, name, async ({ docker, choices, signal }) => {
    const images = []
    for (const choice of choices) images.push(await docker.ensureImage({ choice, signal, onProgress: printStep }))
    if (options.json === true) return print(JSON.stringify(images, null, 2))
    for (const { image, built } of images) print(built ? image : `${image} (it was there)`)
  })
}

async function list(options: Options): Promise<void> {
  await withImages(options, undefined, async ({ docker }) => {
    const { renderImageTable } = await import('../../rendering/tables/image-table.js')
    const images = await docker.listImages()
    if (options.json === true) return print(JSON.stringify(images, null, 2))
    if (images.length === 0) return printStatus('there are no images; `ptc image build` builds one')
    print(renderImageTable(images, new Date(), process.stdout.columns))
  })
}

async function check(name: string | undefined, options: Options): Promise<void> {
  await withImages(options, name, async ({ docker, choices, signal }) => {
    const { renderContents } = await import('../../rendering/tables/image-table.js')
    const all = []
    for (const choice of choices) {
      const image = docker.imageName(choice)
      all.push({ image, ...(await docker.contentsOf({ language: '', image: choice }, signal)) })
    }
    if (options.json === true) return print(JSON.stringify(all, null, 2))
    print(all.map(({ image, ...contents }) => `${image}\n${renderContents(contents)}`).join('\n\n'))
  })
}

async function prune({ dryRun = false, ...options }: PruneOptions): Promise<void> {
  await withImages(options, undefined, async ({ docker }) => {
    const pruned = await docker.pruneImages({ dryRun })
    if (options.json === true) return print(JSON.stringify(pruned, null, 2))
    for (const { name } of pruned) print(name)
    printStatus(`${dryRun ? 'would remove' : 'removed'} ${pluralize(pruned.length, 'image')}`)
  })
}
