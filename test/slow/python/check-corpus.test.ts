import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { runnerDirectory } from '../../../src/sandbox/runner-directory.js'

it('the check of a Python cell finds no mistake in the modules of Python itself', async () => {
  const support = fileURLToPath(new URL('../../support/python', import.meta.url))
  const program = `
import json, pathlib, sys, sysconfig
sys.argv = ["", ${JSON.stringify(join(runnerDirectory, 'python'))}]
sys.path.insert(0, ${JSON.stringify(support)})
import check_cells
folder = pathlib.Path(sysconfig.get_path("stdlib"))
files = [file for file in sorted(folder.rglob("*.py")) if not {"test", "tests", "site-packages"} & set(file.parts)]
findings = {}
for file in files:
    try:
        source = file.read_text("utf-8")
        compile(source, str(file), "exec", dont_inherit=True)
    except (SyntaxError, UnicodeDecodeError):
        continue
    if text := check_cells.check([source]):
        findings[str(file)] = text
print(json.dumps([len(files), findings]))
`
  const { stdout } = await promisify(execFile)('python3', ['-W', 'ignore', '-c', program])
  const [files, findings] = JSON.parse(stdout) as [number, object]
  expect(files).toBeGreaterThan(300)
  expect(findings).toEqual({})
})
