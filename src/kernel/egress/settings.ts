/** What the operator allows outbound requests to reach. It is parsed from the environment in src/app/egress-settings.ts. */

/** A host that may have a private address. */
export interface PrivateHost {
  readonly name: string
  readonly port: number
  /** Certificates in PEM that its certificate must lead to, instead of the public roots. */
  readonly ca: string | null
}

/** An HTTP proxy that opens tunnels with CONNECT. */
export interface EgressProxy {
  readonly host: string
  readonly port: number
  readonly secure: boolean
  /** Value of the Proxy-Authorization header. */
  readonly authorization: string | null
}

export interface EgressSettings {
  /** Names, or `*.` and a name for all names below it. Null: the list of the manifest alone decides. */
  readonly hosts: readonly string[] | null
  readonly private_hosts: readonly PrivateHost[]
  readonly proxy: EgressProxy | null
  /** One exact address and port that tests listen on. */
  readonly exempt: { readonly address: string; readonly port: number } | null
}

export const defaultEgressSettings: EgressSettings = { hosts: null, private_hosts: [], proxy: null, exempt: null }
