import { expect, it } from 'vitest'
import { backends } from '../support/environment/backends.js'
import { TestEnvironment } from '../support/environment/test-environment.js'
import { answerResult, code, turn } from '../support/script.js'
import { skillsFolder, skillText } from '../support/skills/skill-folder.js'

const read = 'print(open("/skills/report/scripts/run.py").read(), sorted(os.listdir("/skills/report")))'

/** Attempts to change the files, also as another user, by the kernel's other names of them, and by mounts. */
const attack = `
import ctypes, os, shutil, stat
target = "/skills/report/scripts/run.py"
changed = []
def attempt(name, change):
    try: change()
    except (OSError, ValueError, AttributeError): return
    changed.append(name)
def write(path, flags=os.O_WRONLY):
    descriptor = os.open(path, flags)
    os.write(descriptor, b"evil")
    os.close(descriptor)
def call(name, *values):
    if getattr(ctypes.CDLL(None), name)(*values) != 0: raise OSError(name)
attempt("write", lambda: write(target))
attempt("append", lambda: write(target, os.O_WRONLY | os.O_APPEND))
attempt("truncate", lambda: os.truncate(target, 0))
attempt("chmod", lambda: os.chmod(target, 0o777))
attempt("chmod folder", lambda: os.chmod("/skills", 0o777))
attempt("chown", lambda: os.chown(target, os.getuid(), os.getgid()))
attempt("remove", lambda: os.remove(target))
attempt("remove tree", lambda: shutil.rmtree("/skills/report"))
attempt("rename", lambda: os.rename("/skills/report", "/skills/other"))
attempt("move", lambda: os.rename("/skills", "/tmp/skills"))
attempt("replace", lambda: (open("/tmp/evil", "w").close(), os.replace("/tmp/evil", target)))
attempt("link", lambda: os.symlink("/etc", "/skills/report/etc"))
attempt("hard link", lambda: os.link(target, "/skills/report/hard"))
attempt("new file", lambda: write("/skills/report/new", os.O_WRONLY | os.O_CREAT))
attempt("new device", lambda: os.mknod("/skills/report/device", stat.S_IFCHR | 0o666, os.makedev(1, 1)))
attempt("sibling", lambda: os.mkdir("/skills/report-evil"))
attempt("descriptor", lambda: write(f"/proc/self/fd/{os.open(target, os.O_RDONLY)}"))
attempt("root of init", lambda: write("/proc/1/root" + target))
attempt("traversal", lambda: write("/skills/report/../report/scripts/./run.py"))
attempt("extended attribute", lambda: os.setxattr(target, "user.evil", b"1"))
attempt("mount", lambda: call("mount", b"none", b"/skills", b"tmpfs", 0, None))
attempt("remount", lambda: call("mount", None, b"/skills", None, 32, None))
attempt("unmount", lambda: call("umount2", b"/skills", 2))
print(changed)
`

it.each(backends)(
  'A26 hostile code can not change the files of a skill, for itself and for other runs, in %s',
  async (backend) => {
    const env = await TestEnvironment.start({
      backend,
      skills: await skillsFolder({ 'report/SKILL.md': skillText('report'), 'report/scripts/run.py': 'print(1)' }),
      script: {
        conversations: [
          { match: { firstUserText: 'attack' }, turns: [turn(code(`${attack}\n${read}`)), answerResult] },
          { turns: [turn(code(`import os\n${read}`)), answerResult] },
        ],
      },
    })
    const unchanged = "print(1) ['SKILL.md', 'scripts']"
    expect((await env.runAgent({ question: 'attack' })).answer).toBe(`[]\n${unchanged}`)
    expect((await env.runAgent({ question: 'read' })).answer).toBe(unchanged)
  },
)
