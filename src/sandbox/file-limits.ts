/** Files in /tmp. Each costs memory of the host that `tmpBytes` does not count. */
export const maxFiles = 4_096

/** Open files of one process. */
export const maxOpenFiles = 1_024
