/** The form of a tool server: what people type, and the settings that are sent. Pure. */
import type { ToolServer } from '#console/ui/tool/tool-texts.ts'

type Auth = ToolServer['auth']
export type AuthKind = Auth['kind']

export const authKinds: readonly AuthKind[] = ['none', 'header', 'basic', 'oauth2_client_credentials', 'mtls']

export interface ServerForm {
  readonly server_key: string
  readonly title: string
  readonly description: string
  readonly url: string
  readonly auth_kind: AuthKind
  readonly header_name: string
  readonly header_value: string
  readonly token_url: string
  readonly scope: string
}

export const blankServer: ServerForm = {
  server_key: '',
  title: '',
  description: '',
  url: '',
  auth_kind: 'header',
  header_name: 'authorization',
  header_value: 'Bearer {credential.token}',
  token_url: '',
  scope: '',
}

const toText = (value: unknown, otherwise: string): string => (typeof value === 'string' ? value : otherwise)

type ServerSettings = Pick<ToolServer, 'server_key' | 'title' | 'description' | 'url' | 'auth'>

export function toServerForm({ server_key, title, description, url, auth }: ServerSettings): ServerForm {
  const settings: Readonly<Record<string, unknown>> = { ...auth }
  return {
    server_key,
    title,
    description: description ?? '',
    url,
    auth_kind: auth.kind,
    header_name: toText(settings['name'], blankServer.header_name),
    header_value: toText(settings['value'], blankServer.header_value),
    token_url: toText(settings['token_url'], ''),
    scope: toText(settings['scope'], ''),
  }
}

/** Settings that the form does not show are kept while the kind stays the same. */
export function toAuth(form: ServerForm, before: Auth | null): Auth {
  const kept = before?.kind === form.auth_kind ? before : { kind: form.auth_kind }
  if (form.auth_kind === 'header') return { ...kept, ...{ name: form.header_name, value: form.header_value } }
  if (form.auth_kind === 'oauth2_client_credentials')
    return { ...kept, ...{ token_url: form.token_url, scope: form.scope === '' ? null : form.scope } }
  return kept
}
