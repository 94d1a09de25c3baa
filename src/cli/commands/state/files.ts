import { Command, Option } from 'commander'
import { withEnvironment } from '../../environment/with-environment.js'
import type { DownloadOptions, UploadOptions } from '../../files/transfer-files.js'
import { print, printStatus } from '../../process/stdio.js'
import { configOption, type ConfigOption, type JsonOption, subcommand, usageError } from '../options.js'

type Options = ConfigOption & JsonOption

interface GetOptions extends ConfigOption {
  readonly all?: string
}

interface PutOptions extends Options {
  readonly as?: string
}

export function filesCommand(): Command {
  const run = ['<id>', 'id of the run, as `ptc list` shows it'] as const
  return new Command('files')
    .description('list, download and upload the files of a run: uploads, and artifacts of its code')
    .addCommand(
      subcommand('list', 'list the files with their size and media type', 'an array of files')
        .argument(...run)
        .action(list),
    )
    .addCommand(
      new Command('get')
        .description('download a file, or all artifacts')
        .argument(...run)
        .argument('[path]', 'path of the file; a relative one is in /tmp/out, or else in /tmp/in')
        .argument('[file]', 'where to write it; - is standard output (default: its name, in this folder)')
        .addOption(new Option('--all <folder>', 'write all artifacts to a new or empty folder'))
        .addOption(configOption())
        .action(get),
    )
    .addCommand(
      subcommand('put', 'upload files to a run that has not ended; its next code finds them in /tmp/in', 'the files')
        .argument(...run)
        .argument('<file...>', 'files; - is standard input')
        .addOption(new Option('--as <path>', 'path of the only file in /tmp/in (default: its name)'))
        .action(put),
    )
    .addHelpText(
      'after',
      `
A run has files when it was started with --upload, or with \`files: true\` in its agent or the configuration. A file
replaces the earlier one of the same path.

Examples:
  ptc files list agent-x4k2m9pqrs
  ptc files get agent-x4k2m9pqrs chart.png
  ptc files get agent-x4k2m9pqrs /tmp/out/total.csv - | head -1
  ptc files get agent-x4k2m9pqrs --all results
  ptc files put agent-x4k2m9pqrs rates.csv`,
    )
}

/** Reads the history: no worker is needed. */
async function list(id: string, { config, json }: Options): Promise<void> {
  await withEnvironment({ config, load: 'if_named', ifNoServer: 'start_read_only' }, async ({ ptc }) => {
    const { fileInfo } = await import('../../../common/files/files.js')
    const { files = [] } = await ptc.handle(id).tree()
    if (json === true) return print(JSON.stringify(files.map(fileInfo), null, 2))
    if (files.length === 0) return printStatus(`run ${id} has no files`)
    const { renderFileTable } = await import('../../rendering/tables/file-table.js')
    print(renderFileTable(files, process.stdout.isTTY ? process.stdout.columns : undefined))
  })
}

async function get(
  id: string,
  path: string | undefined,
  file: string | undefined,
  { config, all }: GetOptions,
): Promise<void> {
  const wanted = toWanted(path, file, all)
  await withEnvironment({ config, ifNoServer: 'start_read_only' }, async ({ ptc }, signal) => {
    const { downloadFiles } = await import('../../files/transfer-files.js')
    await downloadFiles(ptc.handle(id), wanted, signal)
  })
}

/** @throws PtcError RUN_INPUT_INVALID */
function toWanted(path: string | undefined, file: string | undefined, all: string | undefined): DownloadOptions {
  if (all !== undefined) {
    if (path !== undefined) throw usageError('files', `with --all, ${path} is not needed`)
    return { folder: all }
  }
  if (path === undefined) throw usageError('files', 'a path is missing: give the path of a file, or --all FOLDER')
  return { path, to: file }
}

async function put(id: string, files: readonly string[], { config, json, as: path }: PutOptions): Promise<void> {
  const uploads: UploadOptions = { files, path }
  if (path !== undefined && files.length > 1) throw usageError('files', '--as is the path of one file, not of several')
  if (files.includes('-') && path === undefined) throw usageError('files', 'standard input has no name: give --as PATH')
  const { checkSources, uploadFiles } = await import('../../files/transfer-files.js')
  await checkSources(uploads)
  await withEnvironment({ config, ifNoServer: 'fail' }, async (environment, signal) => {
    await environment.requireWorkers(['workflow'])
    const { fileInfo } = await import('../../../common/files/files.js')
    const stored = await uploadFiles(environment.ptc.handle(id), uploads, signal)
    if (json === true) print(JSON.stringify(stored.map(fileInfo), null, 2))
    else for (const each of stored) printStatus(`run ${id} has ${each.path}`)
  })
}
