/** The input of the process that typesets, and the codes of its failures. */
export interface CompileTask {
  readonly packages: readonly string[]
  /** Absent: the process only says which version the package has. */
  readonly document?: {
    readonly source: string
    readonly inputs: Readonly<Record<string, string>>
    readonly fonts: readonly string[]
    /** An empty folder: the document can read nothing. */
    readonly workspace: string
    readonly created_s: number
  }
  readonly time_limit_ms: number
  readonly memory_limit_mib: number
}

/** First line on standard error. */
export const exitCodes = { unavailable: 3, refused: 4, memory: 5, time: 6 } as const
