import { expect } from 'vitest'
import type { AttackEnvironment } from './attack-environment.js'

/** Unpacks archive bombs and archives with path traversal; prints a line for the result of each. */
const hostileArchives = `
import errno, io, os, tarfile, zipfile
def attempt(what):
    try: what()
    except OSError as error: return errno.errorcode.get(error.errno, str(error))
    except Exception as error: return type(error).__name__
    return "done"
bomb = io.BytesIO()
with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
    with archive.open("zeros", "w", force_zip64=True) as file:
        for _ in range(100): file.write(bytes(1 << 20))
print(attempt(lambda: zipfile.ZipFile(bomb).extractall("/tmp/bomb")))
__import__("shutil").rmtree("/tmp/bomb")
def tar(name, kind, **fields):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.type = kind
        for key, value in fields.items(): setattr(info, key, value)
        archive.addfile(info)
    made.seek(0)
    return attempt(lambda: tarfile.open(fileobj=made).extractall("/tmp/tar"))
print(tar("../../etc/cron.d/evil", tarfile.REGTYPE), os.path.exists("/etc/cron.d/evil"))
print(tar("/usr/evil", tarfile.REGTYPE), os.path.exists("/usr/evil"))
tar("link", tarfile.SYMTYPE, linkname="/etc/passwd")
print(attempt(lambda: open("/tmp/tar/link", "a")))
tar("device", tarfile.BLKTYPE, devmajor=8, devminor=0)
print(attempt(lambda: open("/tmp/tar/device", "rb")))
`

/**
 * Unpacks the archives, and expects that nothing leaves the sandbox.
 *
 * @returns the error of opening a device that was unpacked
 */
export async function unpackHostileArchives(attackEnv: AttackEnvironment): Promise<string | undefined> {
  const answers = await attackEnv.probe(hostileArchives)
  expect(answers[0]).toMatch(/^(ENOSPC|EFBIG)$/)
  expect(answers[1]).toMatch(/ False$/)
  expect(answers[2]).toMatch(/ False$/)
  expect(answers[3]).toMatch(/^(EACCES|EROFS|ENOENT)$/)
  return answers[4]
}
