import { rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { SessionHarness } from '../../../../src/sandbox/conformance/session-harness.js'
import { createWasmBackend, type WasmBackend } from '../../../../src/sandbox/wasm/index.js'
import { temporaryFolder } from '../../../support/folders.js'
import { metadata, nativeModule, nativeSuffix, nativeTags, writeWheel, zip } from '../../../support/sandbox/wheels.js'

const signal = new AbortController().signal

function backendWith(wheels: string, warm = 0): WasmBackend {
  const backend = createWasmBackend({ warm, wheels })
  onTestFinished(() => backend.close())
  return backend
}

async function open(backend: WasmBackend, language = 'python'): Promise<SessionHarness> {
  const session = await new SessionHarness(backend, {}, undefined, language).open()
  onTestFinished(() => session.close())
  return session
}

const print = async (session: SessionHarness, code: string) => {
  const { output, finalResult } = await session.runCell(code)
  return finalResult.type === 'completed' ? output : JSON.stringify(finalResult)
}

test.each([0, 1])('code imports the packages of wheels, also native ones, with %i warm interpreters', async (warm) => {
  const folder = await temporaryFolder()
  await writeWheel(folder, 'pure', [
    { path: 'pure/__init__.py', content: 'from .part import VALUE\n' },
    { path: 'pure/part.py', content: 'VALUE = 42\n' },
    { path: 'pure/table.csv', content: 'a,b\n' },
  ])
  await writeWheel(folder, 'split', [
    { path: 'split-1.0.data/purelib/split.py', content: 'NAME = "split"\n' },
    { path: 'split-1.0.data/scripts/split', content: '#!python\n' },
  ])
  const native = [{ path: `tiny${nativeSuffix}`, content: nativeModule('tiny') }]
  await writeWheel(folder, 'tiny', native, { version: '2.0', tags: nativeTags })
  await writeFile(join(folder, 'README'), 'Other files are ignored.')
  const backend = backendWith(folder, warm)
  await backend.ensureWheels()
  expect(await backend.contentsOf?.({ language: 'python' }, signal)).toMatchObject({
    packages: { pip: { names: ['pure 1.0', 'split 1.0', 'tiny 2.0'], more: 0 } },
  })
  expect(await backend.contentsOf?.({ language: 'javascript' }, signal)).toMatchObject({
    packages: { pip: { names: [], more: 0 } },
  })
  expect(await backend.check()).toMatchObject({
    usable: true,
    summary: expect.stringContaining(`3 wheels in ${folder}`),
  })
  const session = await open(backend, 'python,files')
  expect(
    await print(session, 'import pure, split, tiny\nprint(pure.VALUE, split.NAME, type(tiny.__loader__).__name__)'),
  ).toBe('42 split ExtensionFileLoader\n')
  const read = 'import importlib.metadata, importlib.resources as r, os\n'
  const ask = 'print(importlib.metadata.version("tiny"), r.files("pure").joinpath("table.csv").read_text().strip())\n'
  const tree = `print(os.path.exists("${folder}"), "split" in os.listdir("/packages"))`
  expect(await print(session, read + ask + tree)).toBe('2.0 a,b\nFalse False\n')
  const change = `
def attempt(change):
    try: change()
    except OSError as error: print(error.strerror)
attempt(lambda: open("/packages/pure/part.py", "w"))
attempt(lambda: open("/packages/more.py", "w"))
attempt(lambda: os.remove("/packages/split.py"))`
  expect(await print(session, change)).toBe('Permission denied\n'.repeat(3))
})

test('sandboxes have the wheels of the start, and a wheel that is changed later is not loaded', async () => {
  const folder = await temporaryFolder()
  await writeWheel(folder, 'one', [{ path: 'one.py', content: 'VALUE = 1\n' }])
  const backend = backendWith(folder)
  await backend.ensureWheels()
  await writeWheel(folder, 'two', [{ path: 'two.py', content: '' }])
  const session = await open(backend)
  expect(await print(session, 'import importlib.util\nprint(importlib.util.find_spec("two"))')).toBe('None\n')
  const name = await writeWheel(folder, 'one', [{ path: 'one.py', content: 'VALUE = 2\n' }])
  await expect(open(backend)).rejects.toMatchObject({
    code: 'SANDBOX_UNAVAILABLE',
    message: expect.stringContaining(`${name}: it was changed after the worker had started`),
  })
})

const python = { path: 'bad.py', content: 'x = 1\n' }
const description = metadata('bad', '1.0')

test.each([
  ['is no archive', Buffer.from('nothing'), 'it is no zip archive'],
  ['is cut off', zip([python, description]).subarray(0, -30), 'it is no zip archive'],
  ['has a damaged list', Buffer.concat([zip([python, description]).subarray(4)]), 'its list of files is damaged'],
  ['has a damaged file', zip([{ ...python, claims: { checksum: 1 } }, description]), 'bad.py is damaged'],
  ['has no description', zip([python]), 'it is no wheel: it has no METADATA'],
  ['leaves its folder', zip([{ ...python, path: '../bad.py' }, description]), '"../bad.py" is no path in the folder'],
  ['has an absolute path', zip([{ ...python, path: '/bad.py' }, description]), '"/bad.py" is no path in the folder'],
  ['has a path of Windows', zip([{ ...python, path: 'a\\bad.py' }, description]), 'is no path in the folder'],
  ['has a link', zip([{ ...python, claims: { mode: 0o120777 } }, description]), '"bad.py" is a link'],
  ['is encrypted', zip([{ ...python, claims: { flags: 1 } }, description]), '"bad.py" is encrypted'],
  ['claims too much', zip([{ ...python, claims: { bytes: 2 ** 31 } }, description]), 'its files have more than'],
  [
    'has more than it claims',
    zip([{ path: 'bad.py', content: Buffer.alloc(1 << 24), claims: { bytes: 10 } }, description]),
    'it is damaged',
  ],
  ['has a damaged module', zip([{ path: `bad${nativeSuffix}`, content: 'x' }, description]), `bad${nativeSuffix}: `],
])('a wheel that %s is an error at the start, with its name', async (_what, content, problem) => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'bad-1.0-py3-none-any.whl'), content)
  const backend = backendWith(folder)
  await expect(backend.ensureWheels()).rejects.toMatchObject({
    code: 'SANDBOX_WHEELS_INVALID',
    message: expect.stringContaining(problem),
  })
  await expect(backend.ensureWheels()).rejects.toMatchObject({ message: expect.stringContaining('bad') })
  expect(await backend.check()).toMatchObject({ usable: false, problems: [{ severity: 'error' }] })
})

test('a folder without wheels, and a link in it, are errors at the start', async () => {
  const folder = await temporaryFolder()
  const expectRefused = (message: string) =>
    expect(backendWith(folder).ensureWheels()).rejects.toMatchObject({
      code: 'SANDBOX_WHEELS_INVALID',
      message: expect.stringContaining(message),
    })
  await expectRefused(`${folder} has no wheels`)
  await symlink('/etc/passwd', join(folder, 'a-1.0-py3-none-any.whl'))
  await expectRefused('a-1.0-py3-none-any.whl is a link or a folder')
  await rm(join(folder, 'a-1.0-py3-none-any.whl'))
  await writeWheel(folder, 'b', [python], { tags: 'cp313-cp313-pyodide_2025_0_wasm32' })
  await expectRefused('b-1.0-cp313-cp313-pyodide_2025_0_wasm32.whl: it is for pyodide_2025_0_wasm32')
  await rm(folder, { recursive: true })
  await expectRefused(`there is no folder ${folder} for wheels`)
})

test('two wheels of one package are an error at the start', async () => {
  const folder = await temporaryFolder()
  await writeWheel(folder, 'a_b', [python])
  await writeWheel(folder, 'A.B', [python], { version: '2.0' })
  await expect(backendWith(folder).ensureWheels()).rejects.toMatchObject({ code: 'SANDBOX_WHEELS_INVALID' })
})
