import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ScriptedTurn } from '../../src/testing/index.js'
import { backends, type Backend } from '../support/environment/backends.js'
import { TestEnvironment } from '../support/environment/test-environment.js'
import { temporaryFolder } from '../support/folders.js'
import { answerResult, code, turn } from '../support/script.js'
import { readableText } from './support/readable-text.js'

const secret = 'ptc-canary-of-a-file'

/** A folder of the host with a secret in `flag.txt`. */
async function hostFolder(): Promise<string> {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'flag.txt'), secret)
  return folder
}

async function start(backend: Backend, folder: string, ...sources: readonly string[]) {
  const script: ScriptedTurn[] = [...sources.map((source) => turn(code(source))), answerResult]
  const env = await TestEnvironment.start({ backend, tools: [], script })
  const run = await env.ptc.startAgent({ question: 'Attack.', files: [{ data: 'upload', path: 'flag.txt' }] })
  const { answer } = await run.result()
  const handle = env.client.workflow.getHandle(run.workflowId)
  const history = readableText(await handle.fetchHistory())
  // The host is as it was.
  expect(await readdir(folder)).toEqual(['flag.txt'])
  expect(await readFile(join(folder, 'flag.txt'), 'utf8')).toBe(secret)
  expect(`${history}${answer}`).not.toContain(secret)
  await env.expectCleanEnd(handle)
  return { answer, files: await run.files.list() }
}

it.each(backends)(
  'A27 code gets no file of the host as an artifact, and no upload into one, in %s',
  async (backend) => {
    const folder = await hostFolder()
    const attack = `
import os, shutil
os.makedirs("/tmp/out/folder")
shutil.rmtree("/tmp/in")
os.symlink("${folder}", "/tmp/in")
def attempt(change):
    try: change()
    except (OSError, AttributeError): pass
attempt(lambda: os.symlink("${folder}/flag.txt", "/tmp/out/link"))
attempt(lambda: os.symlink("${folder}", "/tmp/out/folder/link"))
attempt(lambda: os.link("${folder}/flag.txt", "/tmp/out/hard"))
attempt(lambda: os.symlink("../../../../../../../..${folder}/flag.txt", "/tmp/out/relative"))
attempt(lambda: shutil.copy("/proc/1/root${folder}/flag.txt", "/tmp/out/root"))
attempt(lambda: shutil.copy("/proc/self/cwd/../..${folder}/flag.txt", "/tmp/out/working-directory"))
open("/tmp/out/good", "w").write("good")
print("done")`
    const { answer, files } = await start(backend, folder, attack)
    expect(answer).toContain('done')
    expect(answer).toContain('[files] not kept: /tmp/out/link: it is a link')
    expect(files.map(({ path }) => path)).toEqual(['/tmp/in/flag.txt', '/tmp/out/good'])
  },
)

it('A27 code that takes over its runner forges no artifact, in wasm', async () => {
  const folder = await hostFolder()
  const forge = `
import sys
known = "a" * 64
forged = [
    {"path": "${folder}/flag.txt", "bytes": 20, "sha256": known},
    {"path": "/tmp/out/../..${folder}/flag.txt", "bytes": 20, "sha256": known},
    {"path": "/tmp/out/large", "bytes": 2 ** 50, "sha256": known},
    {"path": "/tmp/out/other", "bytes": 4, "sha256": known},
    {"path": "/tmp/out/\\x1b[31mred", "bytes": 4, "sha256": known},
]
sys.modules["ptc_runner.files"].Artifacts.take_changes = lambda *_: forged
print("done")`
  // 4 bytes are asked for.
  const flood = `
protocol = sys.modules["ptc_runner.protocol.step_protocol"]
def flood(channel, frame):
    identity = {"step": frame["step"], "fence": frame["fence"]}
    for piece in range(64):
        channel.send({"type": "snapshot", **identity, "piece": piece, "text": "QUJD" * 250_000, "last": False})
protocol.send_part = flood
print("done")`
  const tooMany = 'forged[:] = forged[:1] * 101'
  const { answer, files } = await start('wasm', folder, forge, flood, tooMany)
  expect(files.map(({ path }) => path)).toEqual(['/tmp/in/flag.txt'])
  expect(answer).toContain('[lost] the sandbox broke the protocol')
})
