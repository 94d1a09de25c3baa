import assert from 'node:assert/strict'
import { differs } from '../../behaviors/behavior.js'
import type { Column } from '../../behaviors/index.js'
import { repeats } from '../../behaviors/steps.js'

const endless = 'kept=kept\necho begun\nwhile :; do echo .; done'

const limits: Column['limits'] = {
  'a cell ends after too many calls, even if its code catches the error': 'while :; do tool get a=1; done',
  'a busy loop ends at the time limit, and variables stay': ['kept=kept\nwhile :; do :; done', 'echo $kept'],
  'an endless loop that lets other work run ends at the time limit': [
    'kept=kept\nwhile :; do /bin/sleep 0.01; done',
    'echo $kept',
  ],
  'output is sent while code runs': endless,
  'an interrupt ends running code, and variables stay': [endless, 'echo $kept'],
  'code that is ended can tidy up': ["tidied=false\ntrap 'tidied=true; exit' INT\nwhile :; do :; done", 'echo $tidied'],
  'a cell that is stopped while it waits loses its work, and variables stay': [
    'before=1\ntool get a=slow & tool get a=other & wait\nbefore=2',
    'echo $before $(tool get a:=3 | jq .a)',
  ],
}

const repeatedSteps: Column['repeated steps'] = {
  'a repeated step returns its first result, and runs once': ['count=$((count + 1))\necho $count', 'echo $count'],
  'a step that is repeated later returns its first result, and the time of its execution': 'date +%s',
  'steps without a recorded result are answered again, in order, and the program continues':
    'tool get a:=0; tool get a:=1; tool get a:=2',
  'a step with other content than the one that ran is refused': ['tool get a:=1; tool get a:=2', ':'],
  'a stale worker runs nothing, and gets the result of a step that ran': ['echo mine', 'echo theirs'],
}

const randomness = 'echo $RANDOM$RANDOM$RANDOM'

const rebuiltPrograms: Column['rebuilt programs'] = {
  'a rebuilt program reads the same clocks, which follow the steps': [
    'date +%s%N',
    'tool get a="$(date +%s%N)" >/dev/null\ndate +%s%N',
  ],
  'a rebuilt program gets the same random values of every source': [randomness, randomness],
  'another session gets other random values': 'echo $RANDOM$RANDOM$RANDOM',
  'a rebuilt program makes its calls in the same order, also those of parallel work with timers': {
    difference: 'Those of one step are in the order of their arguments as text, so that they are the same.',
    check: (context) =>
      repeats(({ calls }) => {
        assert.equal(calls.length, 33)
        assert.deepEqual(
          calls.slice(-2).map(({ arguments: { a } }) => a),
          ['quick', 'slow'],
        )
      }).check(context, [
        'for a in {0..30}; do tool get a:=$a & done >/dev/null\nwait',
        '(sleep 2; tool get a=slow) & (sleep 1; tool get a=quick) & wait',
      ]),
  },
  'a rebuilt program catches the same errors of calls, in the same order': `
attempt() { if value=$(tool get a=$1 2>&1); then jq -r . <<<"$value"; else echo "$1: \${value#tool: }"; fi; }
attempt good & attempt bad & wait`,
  'a snapshot restores variables in a new sandbox, without repeated steps': differs(
    'There are no snapshots: a rebuild repeats all steps.',
  ),
}

const subAgents: Column['sub-agents'] = {
  'a cell of another agent ends its timers and its calls, and leaves those of the session': differs(
    'Background jobs end with their cell, whoever wrote it.',
  ),
}

const token = 'token=$RANDOM$RANDOM\necho $token'
const beginsCell = `${token}\nr=$(tool get a:=1 | jq -r .)\necho $r $token`

const sandboxes: Column['sandboxes'] = {
  'a sandbox that is opened again is the same one': [token, 'echo $token'],
  'another epoch of a session has a new sandbox': ['mine=1', '[[ -v mine ]] && echo true || echo false'],
  'code that ends its process loses its step': 'kill -9 $PPID\n/bin/sleep 60',
  'a removed sandbox is gone': ':',
  'the next worker continues in the middle of a cell': beginsCell,
  'a checkpoint keeps the state for the next worker': beginsCell,
  'local work goes on while a call is open':
    'tool get a:=1 >late &\n(/bin/sleep 0.4; echo local work) &\nwait\njq -r . late',
  'child processes print between the lines of code': 'echo 1\n/bin/echo child\necho 2',
}

/** Makes a script say that it was refused. */
const guarded = (command: string): string => `(${command}) 2>/dev/null || echo refused: error`

const isolation: Column['isolation'] = {
  'the environment of the worker is not there': 'env',
  'files of the host are not there': guarded('cat PATH'),
  'the network of the host is not there': guarded('exec 3<>/dev/tcp/127.0.0.1/PORT'),
  'each sandbox has a /tmp of its own': ['echo x >/tmp/mine', '[ -e /tmp/mine ] && echo true || echo false'],
  'the size of /tmp is limited': `
written=0
for i in {1..64}; do
  head -c 4000000 /dev/zero >/tmp/file$i || break
  written=$((written + 4000000))
done 2>/dev/null
rm -f /tmp/file*
echo $written`,
  'a cell that takes four times the memory limit does not get it, and other sandboxes go on': [
    String.raw`x=$(head -c BYTES /dev/zero | tr '\0' x)`,
    'echo fine',
  ],
}

const target = '/skills/greet/empty.txt'

const changes: readonly string[] = [
  `echo x >${target}`,
  `echo x >>${target}`,
  `truncate -s 1 ${target}`,
  `rm -f ${target}`,
  `chmod 777 ${target}`,
  `chmod 777 /skills/greet && rm ${target}`,
  `mv ${target} /tmp/moved && [ ! -e ${target} ]`,
  'mv /skills /tmp/skills',
  'ln -s /tmp /skills/link',
  'mkdir /skills/mine',
  'echo x >/skills/new.txt',
  `touch ${target}`,
]

const files: Column['files'] = {
  'files have their bytes and modes': `
printf '%s %s ' $(stat -c %a /skills/greet/scripts/greet.sh ${target})
cat '/skills/greet/Ünïcode name.txt'
stat -c %s ${target}
python3 -c '
data = open("/skills/data/deep/er/table.bin", "rb").read()
print(len(data), str(all(byte == i * 7 % 256 for i, byte in enumerate(data))).lower())'
cat /skills/data/$(printf 'long-%.0s' {1..15})/$(printf 'name-%.0s' {1..15})/x.txt
echo`,
  'files can not be changed, and no file can be added': changes.map(
    (change) => `(${change}) 2>/dev/null && echo changed || echo refused`,
  ),
  'a rebuilt sandbox has the same files, and another session has none': `[ -e ${target} ] && echo true || echo false`,
}

/** What happens to sessions of bash. */
export const bashSessions = {
  limits,
  'repeated steps': repeatedSteps,
  'rebuilt programs': rebuiltPrograms,
  'sub-agents': subAgents,
  sandboxes,
  isolation,
  files,
}
