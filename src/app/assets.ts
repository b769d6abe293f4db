/**
 * Serves the console, with its fallback for deep links, and the scripts of the documentation page, each in the content coding
 * the browser prefers. Files are compressed by scripts/build.mjs.
 */
import fs from 'node:fs'
import path from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { docsBootScript } from '#kernel/docs-page.ts'
import { type Coding, chooseCoding } from '#kernel/http/content-coding.ts'
import type { NotFoundFallback } from '#kernel/http/server.ts'
import { fail } from '#kernel/problem.ts'
import type { ConfiguredIssuer } from './issuers.ts'

/** The console calls this server and, for signing in, the token endpoints of the configured identity providers. */
const consolePolicy = (token_origins: readonly string[]): string =>
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; " +
  `connect-src ${["'self'", ...token_origins].join(' ')}; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

/** Named in the README: a request from a shell that accepts anything should find it too. */
const DOCUMENTED_PAGE = '/api-docs'

/** In order of preference. */
const CODINGS: readonly Coding[] = ['br', 'gzip', 'identity']
const SUFFIX: Readonly<Record<Coding, string>> = { br: '.br', gzip: '.gz', identity: '' }
/** Media types of compressed files, which their names do not tell. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.md': 'text/plain; charset=utf-8',
}

export async function installAssets(
  app: FastifyInstance,
  project_root: string,
  issuers: readonly ConfiguredIssuer[] = [],
): Promise<NotFoundFallback> {
  const dist = path.join(project_root, 'dist')
  const console_dir = path.join(dist, 'console')
  const docs_dir = path.join(dist, 'docs')
  const console_headers = {
    'content-security-policy': consolePolicy(
      issuers.flatMap(({ sign_in }) => (sign_in ? [new URL(sign_in.token_endpoint).origin] : [])),
    ),
    // Signing in leaves the page and returns to it: no other window needs a reference to this one.
    'cross-origin-opener-policy': 'same-origin',
  }

  await app.register(fastifyStatic, {
    serve: false,
    cacheControl: false,
    setHeaders: (reply, file) => {
      const name = toUrlPath(path.relative(dist, file))
      reply.headers({ 'cache-control': cacheControlFor(name), vary: appendVary(reply, 'accept-encoding') })
      if (name.startsWith('console/')) reply.headers(console_headers)
      if (reply.statusCode !== 304) reply.headers(encodingHeaders(name))
    },
  })

  app.get('/api/docs/boot.js', (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').header('cache-control', 'no-cache').send(docsBootScript),
  )
  app.get('/api/docs/scalar.js', (request, reply) => {
    if (!fs.existsSync(path.join(docs_dir, 'scalar.js')))
      fail('not_found', 'The documentation script is not built. Run "npm run build".')
    return sendEncoded(request, reply, docs_dir, 'scalar.js')
  })
  app.get<{ Params: { name: string } }>('/api/docs/recipes/:name', (request, reply) => {
    // Only names that were built, so that nothing else can be addressed.
    const known = listUncompressedFiles(path.join(docs_dir, 'recipes'))
    if (!known.includes(request.params.name)) fail('not_found')
    return sendEncoded(request, reply, docs_dir, `recipes/${request.params.name}`)
  })

  if (!fs.existsSync(path.join(console_dir, 'index.html'))) return () => false
  for (const file of listUncompressedFiles(console_dir)) {
    const handler = (request: FastifyRequest, reply: FastifyReply) => sendEncoded(request, reply, console_dir, file)
    for (const url of file === 'index.html' ? ['/', '/index.html'] : [`/${file}`])
      app.route({ method: ['HEAD', 'GET'], url, handler })
  }
  return (request, reply) => {
    const { method, url, headers } = request
    const asksForPage = (headers.accept ?? '').includes('text/html') || url === DOCUMENTED_PAGE
    const isPage = method === 'GET' && !url.startsWith('/api/') && asksForPage
    if (isPage) sendEncoded(request, reply, console_dir, 'index.html')
    return isPage
  }
}

/** Read from disk each time: a build may have replaced the files since the server started. */
function sendEncoded(request: FastifyRequest, reply: FastifyReply, root: string, file: string): FastifyReply {
  const offered = CODINGS.filter((coding) => fs.existsSync(path.join(root, file + SUFFIX[coding])))
  const coding = chooseCoding(request.headers['accept-encoding'], offered)
  if (coding === undefined && offered.length > 0) fail('not_acceptable', `This file is there as ${offered.join(', ')}.`)
  return reply.sendFile(file + SUFFIX[coding ?? 'identity'], root)
}

function encodingHeaders(name: string): Record<string, string> {
  const coding = CODINGS.find((each) => name.endsWith(SUFFIX[each])) as Coding
  const type = TYPES[path.extname(name.slice(0, name.length - SUFFIX[coding].length))]
  return { ...(type && { 'content-type': type }), ...(coding !== 'identity' && { 'content-encoding': coding }) }
}

/** Built files have a hash in their name; the page that names them must always be revalidated. */
function cacheControlFor(name: string): string {
  if (name.startsWith('console/assets/')) return 'public, max-age=31536000, immutable'
  return name.startsWith('docs/') ? 'public, max-age=3600' : 'no-cache'
}

/** With CORS the response already varies by origin. */
function appendVary(reply: FastifyReply, name: string): string {
  const before = reply.getHeader('vary')
  return before === undefined ? name : `${before}, ${name}`
}

const toUrlPath = (file: string): string => file.split(path.sep).join('/')

function listUncompressedFiles(folder: string): string[] {
  if (!fs.existsSync(folder)) return []
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/\.(br|gz)$/.test(entry.name))
    .map((entry) => toUrlPath(path.relative(folder, path.join(entry.parentPath, entry.name))))
}
