/** What runs in the sandbox, and what comes back. The sandbox knows nothing of tenants, lists in force or HTTP. */

export type PluginKind = 'factor' | 'adapter' | 'provider'

/** The exported function that is called. A plugin of kind `provider` has two: the host sends the request between them. */
export type EntryPoint = 'factor' | 'adapter' | 'request' | 'parse'

/**
 * Entries that a plugin may look up, by list and key; null for a key that the list does not have. Every declared list is a member,
 * if only with an empty object: one that is no member is `list_undeclared`.
 */
export type SuppliedEntries = Readonly<
  Record<string, Readonly<Record<string, Readonly<Record<string, unknown>> | null>>>
>

export interface EntryReference {
  readonly list_key: string
  readonly key: string
}

/** One call of the entry point, in a context of its own: nothing a plugin does is visible to the next item. */
export interface SandboxItem {
  /** Arguments as JSON texts. */
  readonly args: readonly string[]
  readonly entries?: SuppliedEntries
  /** Only loads the module and looks for the entry point; the output is null. */
  readonly load_only?: boolean
}

export interface SandboxLimits {
  /** In interrupt callbacks of the interpreter, about 10,000 operations each: the same on every machine. */
  readonly fuel: number
  readonly memory_mib: number
}

export interface SandboxTask {
  /** The build to run with; without it the present one. A replay names the build of the decision. */
  readonly sandbox_hash?: string
  readonly source: string
  readonly entry_point: EntryPoint
  readonly items: readonly SandboxItem[]
  /** All items in one context. Only validation does so, to find plugins that keep state between calls. */
  readonly is_shared?: boolean
  /** What the items of a shared run need together, which decides its time limit. Absent: as much as each may use. */
  readonly shared_fuel?: number
  /** A module that imports itself is a fault. Only validation of new versions says so: stored ones run as they did. */
  readonly refuses_own_import?: boolean
  readonly limits: SandboxLimits
}

/** Why an item has no output, as far as the plugin is the cause. */
export type RunFault =
  | 'syntax'
  | 'imports'
  | 'export_missing'
  | 'load_failed'
  | 'threw'
  | 'fuel'
  | 'memory'
  | 'native_loop'
  | 'not_available'
  | 'output_not_json'
  | 'output_too_large'
  | 'list_undeclared'

export type SandboxResult =
  | {
      readonly ok: true
      /** JSON text. */
      readonly output: string
      readonly fuel: number
      /** Entries that the plugin read, in the order of its first look-ups. */
      readonly read: readonly EntryReference[]
    }
  | {
      readonly ok: false
      /** The item is run again with these entries. */
      readonly reason: 'needs_entries'
      readonly needed: readonly EntryReference[]
      readonly fuel: number
    }
  | {
      readonly ok: false
      readonly reason: RunFault
      /** At most 200 characters, the plugin's own text included. */
      readonly message: string
      readonly line: number | null
      readonly stack: string | null
      readonly fuel: number
    }
