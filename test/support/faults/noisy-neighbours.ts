/** Endless programs of noisy neighbours. */
export const noisyPrograms = {
  'floods its output': 'while True: print("noise " * 200)',
  'burns the processor': `
import os
for _ in range(3): os.fork()
while True: pass
`,
  'takes memory': `
import os, time
while True:
    if os.fork() == 0:
        hold = []
        while True: hold.append(bytearray(8_000_000))
    os.wait()
`,
} as const

/** A program that prints the duration of each of its calls to `tool`, in milliseconds. */
export function timedCallsProgram(tool: string, calls: number): string {
  return `
import json, time
took = []
for value in range(${calls}):
    begun = time.perf_counter()
    assert await ${tool}(value=value) == value
    took.append(1_000 * (time.perf_counter() - begun))
print(json.dumps(took))
`
}
