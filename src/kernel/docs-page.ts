/**
 * The interactive API documentation page: its HTML, its start script and its content security policy. It loads nothing from
 * another origin, has no inline script, and keeps a token only in the memory of the page.
 */

export interface DocsPageOptions {
  readonly openapiUrl: string
  readonly scriptUrl: string
  readonly bootUrl: string
  /** How many operations the document has. */
  readonly operations: number
}

/**
 * Scalar writes style sheets and style attributes into the page, hence `style-src 'unsafe-inline'`. Its schema library
 * probes once whether `new Function` works and goes on without it, so `unsafe-eval` stays off; fonts and workers are
 * never asked for. `blob:` shows an image that a tried request answered with.
 */
export const docsContentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

const icon = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b7285"/>' +
    '<path d="m9 16.5 5 5 9-11" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>',
)}`

export function renderDocsPage(options: DocsPageOptions): string {
  const openapiUrl = escapeHtml(options.openapiUrl)
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>API documentation</title>
    <link rel="icon" href="${icon}">
  </head>
  <body>
    <noscript>This page needs JavaScript; the OpenAPI document does not: <a href="${openapiUrl}">${openapiUrl}</a></noscript>
    <p id="loading" role="status">Loading ${options.operations} operations…</p>
    <div id="reference" data-openapi-url="${openapiUrl}"></div>
    <script src="${escapeHtml(options.scriptUrl)}"></script>
    <script src="${escapeHtml(options.bootUrl)}"></script>
  </body>
</html>
`
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/**
 * Runs in the browser, after Scalar. A page of the same origin that embeds this one may send
 * `{ type: 'probity:token', token }` (an empty token clears it) and `{ type: 'probity:color-scheme', scheme }`.
 * The configuration turns off everything in Scalar that would call its makers' servers.
 */
export const docsBootScript = `(() => {
  const origin = window.location.origin
  const embedded = window.parent !== window
  const place = document.getElementById('reference')

  const configuration = (token) => ({
    url: place.dataset.openapiUrl,
    authentication: { preferredSecurityScheme: 'bearer', securitySchemes: { bearer: { token } } },
    persistAuth: false,
    withDefaultFonts: false,
    telemetry: false,
    hideClientButton: true,
    agent: { disabled: true },
    mcp: { disabled: true },
    showDeveloperTools: 'never',
    hideDarkModeToggle: embedded,
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    // Until then Scalar shows grey bars.
    onLoaded: () => document.getElementById('loading')?.remove(),
  })

  const reference = window.Scalar.createApiReference(place, configuration(''))

  // A token typed into Scalar's own field would take precedence over the configuration: the newest token must be the one sent.
  const clearTypedToken = () => {
    const auth = window.dataDumpWorkspace?.().auth
    for (const document of Object.keys(auth?.export() ?? {})) auth.clearAuthSecrets(document, 'bearer')
  }

  const receive = {
    'probity:token': ({ token }) => {
      if (typeof token !== 'string') return
      clearTypedToken()
      reference.updateConfiguration(configuration(token))
    },
    'probity:color-scheme': ({ scheme }) => {
      document.body.classList.toggle('dark-mode', scheme === 'dark')
      document.body.classList.toggle('light-mode', scheme !== 'dark')
    },
  }

  window.addEventListener('message', (event) => {
    if (event.origin !== origin || event.source !== window.parent) return
    const type = event.data?.type
    if (Object.hasOwn(receive, type)) receive[type](event.data)
  })

  if (embedded) window.parent.postMessage({ type: 'probity:docs-ready' }, origin)
})()
`
