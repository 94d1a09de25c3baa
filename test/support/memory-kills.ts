/**
 * What ends by the kernel's kill for memory, until the Docker daemon notices why: on a busy machine it misses one in forty itself (its shim
 * is gone before it has told), and then that was a death like any other.
 */
export async function untilNoticed<End>(end: () => Promise<End>, isMissed: (end: End) => boolean): Promise<End> {
  for (let attempt = 1; ; attempt += 1) {
    const ended = await end()
    if (attempt === 5 || !isMissed(ended)) return ended
  }
}
