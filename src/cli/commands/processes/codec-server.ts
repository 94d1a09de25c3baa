import { Command, Option } from 'commander'
import { waitForAbort } from '../../../common/async/abort.js'
import { listenForInterrupts } from '../../process/interrupts.js'
import { print } from '../../process/stdio.js'
import { configOption, type ConfigOption, integerUpTo, parseOrigin } from '../options.js'

interface Options extends ConfigOption {
  readonly host: string
  readonly port: number
  readonly uiOrigin: readonly string[]
  readonly maxBytes: number
}

const defaultOrigins = ['http://localhost:8233', 'http://127.0.0.1:8233']

export function codecServerCommand(): Command {
  return new Command('codec-server')
    .description("show stored and encrypted values in Temporal's web UI and CLI: decode them over HTTP, until Ctrl-C")
    .addOption(configOption())
    .addOption(new Option('--host <address>', 'address to listen on').default('127.0.0.1'))
    .addOption(new Option('--port <port>', 'port to listen on').argParser(integerUpTo(65_535)).default(8234))
    .addOption(
      new Option('--ui-origin <url...>', 'origin of a web UI that may send requests')
        .argParser(parseOrigin)
        .default([], defaultOrigins.join(' ')),
    )
    .addOption(
      new Option('--max-bytes <bytes>', 'maximum bytes of a decoded payload')
        .argParser(integerUpTo(64 * 1024 * 1024))
        .default(1024 * 1024),
    )
    .addHelpText(
      'after',
      `
With PTC_CODEC_TOKEN, every request needs "Authorization: Bearer TOKEN". Any other --host than the loopback interface
needs it. For the UI, set the address in its settings, or start it with TEMPORAL_CODEC_ENDPOINT; for the CLI:
  temporal workflow show -w ID --codec-endpoint http://127.0.0.1:8234`,
    )
    .action(runCodecServer)
}

async function runCodecServer({ config, host, port, uiOrigin, maxBytes }: Options): Promise<void> {
  using interrupts = listenForInterrupts()
  const { resolveProject } = await import('../../environment/project.js')
  const { openCodecServer } = await import('../../environment/codec-server.js')
  const { environmentVariable } = await import('../../../platform/environment-variable.js')
  const project = await resolveProject({ config })
  const origins = uiOrigin.length === 0 ? defaultOrigins : uiOrigin
  const token = environmentVariable('PTC_CODEC_TOKEN')
  const server = await openCodecServer(project, { host, port, origins, maxBytes, token })
  try {
    print(`codec server: ${server.url}, for ${origins.join(' ')}`)
    await waitForAbort(interrupts.first)
  } finally {
    await server.close()
  }
}
