import { expect, test } from 'vitest'
import { blankServer, toAuth, toServerForm } from './server-form.ts'

const toServer = <A>(auth: A) => ({
  server_key: 'acme',
  title: 'Acme',
  description: null,
  url: 'https://acme.example/mcp',
  auth,
})

test('keeps settings that the form does not show while the kind of authentication stays', () => {
  const auth = {
    kind: 'oauth2_client_credentials',
    token_url: 'https://acme.example/token',
    audience: 'tools',
  } as const
  const form = toServerForm(toServer(auth))
  expect(toAuth({ ...form, scope: 'read' }, auth)).toEqual({ ...auth, scope: 'read' })
  expect(toAuth({ ...form, auth_kind: 'none' }, auth)).toEqual({ kind: 'none' })
})

test('sends a key in the header that the form names', () => {
  expect(toAuth(blankServer, null)).toEqual({
    kind: 'header',
    name: 'authorization',
    value: 'Bearer {credential.token}',
  })
})

test('shows the settings of a server', () => {
  const form = toServerForm(toServer({ kind: 'header' as const, name: 'x-key', value: '{credential.key}' }))
  expect(form).toMatchObject({
    description: '',
    auth_kind: 'header',
    header_name: 'x-key',
    header_value: '{credential.key}',
  })
})
