/** What the server delivers besides the API: the console with its fallback for deep links, and the scripts of the documentation page. */
import fs from 'node:fs'
import path from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import { docsBootScript } from '../kernel/docs-page.ts'
import type { Fallback } from '../kernel/http/server.ts'
import { fail } from '../kernel/problem.ts'
import type { ConfiguredIssuer } from './issuers.ts'

/** The console talks to this server and, for signing in, to the token endpoints of the configured identity providers. */
const consolePolicy = (token_origins: readonly string[]): string =>
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  `connect-src ${["'self'", ...token_origins].join(' ')}; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Named in the README: whoever tries it from a shell, taking anything, should find it too. */
const DOCUMENTED_PAGE = '/api-docs'

export async function installAssets(
  app: FastifyInstance,
  project_root: string,
  issuers: readonly ConfiguredIssuer[] = [],
): Promise<Fallback> {
  const policy = consolePolicy(
    issuers.flatMap(({ sign_in }) => (sign_in ? [new URL(sign_in.token_endpoint).origin] : [])),
  )
  const console_dir = path.join(project_root, 'dist/console')
  const scalar = path.join(project_root, 'dist/docs/scalar.js')

  app.get('/api/docs/boot.js', (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').header('cache-control', 'no-cache').send(docsBootScript),
  )
  app.get('/api/docs/scalar.js', (_request, reply) => {
    if (!fs.existsSync(scalar)) fail('not_found', 'The documentation script is not built. Run "npm run build".')
    return reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'public, max-age=3600')
      .send(fs.createReadStream(scalar))
  })

  if (!fs.existsSync(path.join(console_dir, 'index.html'))) return () => false
  await app.register(fastifyStatic, {
    root: console_dir,
    prefix: '/',
    wildcard: false,
    index: ['index.html'],
    cacheControl: false,
    setHeaders: (reply, file) => {
      reply.header('content-security-policy', policy)
      // Built files carry a hash in their name; the page that names them must always be asked for anew.
      reply.header(
        'cache-control',
        file.includes(`${path.sep}assets${path.sep}`) ? 'public, max-age=31536000, immutable' : 'no-cache',
      )
    },
  })
  return (request, reply) => {
    const { method, url, headers } = request
    const asksForPage = (headers.accept ?? '').includes('text/html') || url === DOCUMENTED_PAGE
    const isPage = method === 'GET' && !url.startsWith('/api/') && asksForPage
    if (isPage) void reply.sendFile('index.html')
    return isPage
  }
}
