/** Which members the credential of a provider has. */
import { type Auth, type AuthKind, MAX_MEMBER_LENGTH } from './manifest.ts'

export interface CredentialMemberShape {
  readonly name: string
  /** A member that is not secret, such as a user name, may be shown. */
  readonly secret: boolean
  readonly max_length: number
}

interface WithCredential {
  readonly auth?: unknown
  readonly credential?: unknown
}

/** The members that an authentication uses, by its settings or their defaults. */
export function listAuthMembers(auth: Auth | undefined): readonly CredentialMemberShape[] {
  switch (auth?.kind) {
    case 'basic':
      return [toShape(auth.username ?? 'username', false), toShape(auth.password ?? 'password')]
    case 'header':
      return [...auth.value.matchAll(/\{credential\.([a-z][a-z0-9_]*)\}/g)].map(([, name = '']) => toShape(name))
    case 'oauth2_client_credentials':
      return [toShape('client_id', false), toShape('client_secret')]
    case 'mtls':
      return [toShape(auth.certificate ?? 'certificate', false), toShape(auth.private_key ?? 'private_key')]
    default:
      return []
  }
}

/** Empty: the provider is called without a credential. Members that the manifest lists come first. */
export function listCredentialMembers(manifest: WithCredential): readonly CredentialMemberShape[] {
  const { members } = toObject(manifest.credential)
  if (Array.isArray(members)) {
    return members.map(toObject).map(({ name, secret, max }) => ({
      name: String(name),
      secret: secret !== false,
      max_length: typeof max === 'number' ? Math.min(max, MAX_MEMBER_LENGTH) : MAX_MEMBER_LENGTH,
    }))
  }
  const auth = toObject(manifest.auth)
  return isAuth(auth) ? listAuthMembers(auth) : []
}

const authKinds: ReadonlySet<unknown> = new Set<AuthKind>([
  'none',
  'header',
  'basic',
  'oauth2_client_credentials',
  'mtls',
])

/** A draft may hold anything. */
const isAuth = (value: Readonly<Record<string, unknown>>): value is Auth & Readonly<Record<string, unknown>> =>
  authKinds.has(value['kind']) && (value['kind'] !== 'header' || typeof value['value'] === 'string')

const toShape = (name: string, secret = true): CredentialMemberShape => ({
  name,
  secret,
  max_length: MAX_MEMBER_LENGTH,
})

const toObject = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
