import { cliVersion } from './cli-version.js'

/** Older Go can't read the module; a Go from 1.21 on fetches the toolchain it lacks by itself. */
export const goVersion = '1.26.4'

/**
 * A module that only names the Temporal CLI. `go install` refuses the CLI since 1.6.0 because it replaces a module of its
 * own by a folder (`./cliext`); here the replacement is that folder's published version.
 */
export const goModule = `module durable-ptc/temporal-cli

go ${goVersion}

require github.com/temporalio/cli v${cliVersion}

replace github.com/temporalio/cli/cliext => github.com/temporalio/cli/cliext v0.0.0-20260731000218-c579925f193f
`

export const goPackage = 'github.com/temporalio/cli/cmd/temporal'

/** Writes the version into the binary, and leaves out the symbols. */
export const goLinkerFlags = `-s -w -X github.com/temporalio/cli/internal/temporalcli.Version=${cliVersion}`
