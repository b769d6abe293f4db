/** What the operator allows plugins of any tenant. */
export interface PluginPolicy {
  /** Hosts that plugins of kind `provider` may name; a leading `*.` matches subdomains. Empty: none. */
  readonly hosts: readonly string[]
  /** Ed25519 public keys of publishers, by name. */
  readonly publishers: ReadonlyMap<string, string>
  /** Whether a plugin needs the signature of a publisher. */
  readonly requires_signature: boolean
}

export const defaultPluginPolicy: PluginPolicy = { hosts: [], publishers: new Map(), requires_signature: false }

/** Whether a host is listed, itself or by a name above it. */
export const isHostAllowed = (hosts: readonly string[], host: string): boolean =>
  hosts.some((allowed) => (allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed))
