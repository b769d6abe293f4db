import vm from 'node:vm'
import { expect, test } from 'vitest'
import { docsBootScript, docsContentSecurityPolicy, renderDocsPage } from './docs-page.ts'

const page = renderDocsPage({
  openapiUrl: '/api/openapi.json',
  scriptUrl: '/api/docs/scalar.js',
  bootUrl: '/api/docs/boot.js',
  operations: 520,
})
const origin = 'http://probity.test'

interface Configuration {
  readonly url: string
  readonly telemetry: boolean
  readonly onLoaded: () => void
  readonly authentication: { readonly securitySchemes: { readonly bearer: { readonly token: string } } }
}
interface Message {
  readonly origin: string
  readonly source: unknown
  readonly data: unknown
}

/** The browser and Scalar as far as the start script touches them. */
function boot() {
  const configurations: Configuration[] = []
  const posted: { message: unknown; target: string }[] = []
  const removed: string[] = []
  const classes = new Map<string, boolean>()
  const typed: Record<string, unknown> = { 'api-1': { bearer: 'typed by hand' } }
  const parent = { postMessage: (message: unknown, target: string) => posted.push({ message, target }) }
  let listener: (event: Message) => void = () => expect.unreachable('no listener was added')
  const window = {
    location: { origin },
    parent,
    Scalar: {
      createApiReference(_place: unknown, first: Configuration) {
        configurations.push(first)
        return { updateConfiguration: (next: Configuration) => configurations.push(next) }
      },
    },
    dataDumpWorkspace: () => ({
      auth: { export: () => typed, clearAuthSecrets: (document: string) => delete typed[document] },
    }),
    addEventListener: (_type: string, added: (event: Message) => void) => {
      listener = added
    },
  }
  const document = {
    getElementById: (id: string) =>
      id === 'loading' ? { remove: () => removed.push(id) } : { dataset: { openapiUrl: '/api/openapi.json' } },
    body: { classList: { toggle: (name: string, on: boolean) => classes.set(name, on) } },
  }
  vm.runInNewContext(docsBootScript, { window, document })
  const send = (data: unknown, from: Partial<Message> = {}) => listener({ origin, source: parent, data, ...from })
  const token = () => configurations.at(-1)?.authentication.securitySchemes.bearer.token
  return { configurations, posted, removed, classes, typed, send, token }
}

test('the page says what it loads until Scalar has read it', () => {
  expect(page).toContain('Loading 520 operations…')
  const { configurations, removed } = boot()
  expect(removed).toEqual([])
  configurations[0]?.onLoaded()
  expect(removed).toEqual(['loading'])
})

test('the page holds no inline script, style or handler, and names no other origin', () => {
  const scripts = [...page.matchAll(/<script\b([^>]*)>([^<]*)<\/script>/g)]
  expect(scripts.map(([, attributes, body]) => [attributes?.trim(), body])).toEqual([
    ['src="/api/docs/scalar.js"', ''],
    ['src="/api/docs/boot.js"', ''],
  ])
  expect(page).not.toMatch(/<style|\sstyle=|\son[a-z]+=/)
  expect(page).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
})

test('urls cannot break out of their attributes', () => {
  const urls = { openapiUrl: '"><script>x</script>', scriptUrl: '/a?b&c', bootUrl: '/boot.js' }
  const hostile = renderDocsPage({ ...urls, operations: 520 })
  expect(hostile).not.toContain('<script>x')
  expect(hostile).toContain('src="/a?b&amp;c"')
})

test('the policy allows scripts and requests of this origin only', () => {
  const directives = new Map(
    docsContentSecurityPolicy.split('; ').map((directive) => {
      const [name, ...sources] = directive.split(' ')
      return [name, sources.join(' ')]
    }),
  )
  expect(directives.get('default-src')).toBe("'none'")
  expect(directives.get('script-src')).toBe("'self'")
  expect(directives.get('connect-src')).toBe("'self'")
  expect(directives.get('frame-ancestors')).toBe("'self'")
  expect(docsContentSecurityPolicy).not.toContain('unsafe-eval')
})

test('the start script opens the document without a token and reports to the page that embeds it', () => {
  const { configurations, posted, token } = boot()
  expect(configurations).toHaveLength(1)
  expect(configurations[0]).toMatchObject({ url: '/api/openapi.json', telemetry: false, agent: { disabled: true } })
  expect(token()).toBe('')
  expect(posted).toEqual([{ message: { type: 'probity:docs-ready' }, target: origin }])
})

test('a token from the embedding page replaces the one before, also one typed by hand; an empty one clears it', () => {
  const { send, token, typed } = boot()
  send({ type: 'probity:token', token: 'first' })
  expect(token()).toBe('first')
  expect(typed).toEqual({})
  send({ type: 'probity:token', token: 'second' })
  expect(token()).toBe('second')
  send({ type: 'probity:token', token: '' })
  expect(token()).toBe('')
})

test.each([
  ['another origin', { type: 'probity:token', token: 'planted' }, { origin: 'https://elsewhere.test' }],
  ['another window', { type: 'probity:token', token: 'planted' }, { source: {} }],
  ['no string', { type: 'probity:token', token: ['planted'] }, {}],
  ['another type', { type: 'toString', token: 'planted' }, {}],
  ['no object', null, {}],
])('a message with %s is ignored', (_name, data, from) => {
  const { send, configurations } = boot()
  send(data, from)
  expect(configurations).toHaveLength(1)
})

test('the colour scheme follows the embedding page', () => {
  const { send, classes } = boot()
  send({ type: 'probity:color-scheme', scheme: 'dark' })
  expect(Object.fromEntries(classes)).toEqual({ 'dark-mode': true, 'light-mode': false })
  send({ type: 'probity:color-scheme', scheme: 'light' })
  expect(Object.fromEntries(classes)).toEqual({ 'dark-mode': false, 'light-mode': true })
})
