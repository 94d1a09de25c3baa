/**
 * The interpreter in the image. Not -I, which ignores the environment, and so PYTHONHASHSEED: a rebuilt program would
 * iterate its sets in another order. -s and -P are the other parts of -I.
 */
export const pythonInterpreter: readonly string[] = ['/usr/bin/python3', '-s', '-P', '-B', '-X', 'utf8']
