import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findTemporalCli } from '../../../src/dev-server/temporal-cli.js'
import { ptcScript } from '../cli/ptc.js'
import { s3Available } from '../s3/s3-server.js'
import { postgresTemporalBinaries } from '../temporal/postgres-temporal.js'

/** Makes a folder for PATH with the programs of the images, under their names there. */
export async function makePrograms(bin: string): Promise<void> {
  const [temporal, versitygw] = await Promise.all([postgresTemporalBinaries, s3Available])
  if (!temporal || !versitygw) throw new Error('a program of the fleet is missing')
  await mkdir(bin)
  const cli = await findTemporalCli({
    environment: process.env,
    onProgress: () => undefined,
    signal: AbortSignal.timeout(150_000),
  })
  const links = { 'temporal-server': temporal.server, 'temporal-sql-tool': temporal.sqlTool, temporal: cli, versitygw }
  for (const [name, target] of Object.entries(links)) await symlink(target, join(bin, name))
  await writeFile(join(bin, 'ptc'), `#!/bin/sh\nexec '${process.execPath}' '${ptcScript}' "$@"\n`)
  await chmod(join(bin, 'ptc'), 0o755)
}
