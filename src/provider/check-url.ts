/** Checks a URL of a manifest: its host is fixed, listed and reached over TLS. */
import type { FindingList } from './findings.ts'
import type { HttpManifest } from './manifest.ts'

export interface UrlContext {
  readonly manifest: Pick<HttpManifest, 'hosts'>
  readonly pointer: string
  readonly findings: FindingList
}

/** Scheme, host and port; visible ASCII without characters that URL parsers read differently. */
const ORIGIN = /^(https?):\/\/(\[[0-9a-f:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?(?=\/|$)/
const LOOPBACK = new Set(['127.0.0.1', '[::1]'])

/** False where the rest of the URL cannot be judged. */
export function checkUrl(url: string, { manifest, pointer, findings }: UrlContext): boolean {
  const [origin, scheme, host] = ORIGIN.exec(url) ?? []
  if (origin === undefined || host === undefined || !URL.canParse(origin)) {
    findings.error(
      'url_invalid',
      pointer,
      'This must be a URL such as https://api.example.com/v1/companies, with a fixed host and without a user.',
    )
    return false
  }
  if (new URL(origin).hostname !== host.toLowerCase() || host.endsWith('.')) {
    findings.error('url_invalid', pointer, 'Write the host as a plain name or address.')
    return false
  }
  if (/[^\x21-\x7e]|[\\?#]/.test(url.slice(origin.length))) {
    findings.error(
      'url_invalid',
      pointer,
      'The path is visible ASCII, without "?" and "#". Write parameters in "query".',
    )
    return false
  }
  checkScheme(scheme === 'https', host, { manifest, pointer, findings })
  if (!manifest.hosts.some((listed) => listed === host.toLowerCase() || `[${listed}]` === host.toLowerCase())) {
    findings.error('host_not_listed', pointer, `The host ${host} is not in "hosts".`)
  }
  return true
}

function checkScheme(isSecure: boolean, host: string, { pointer, findings }: UrlContext): void {
  if (isSecure) return
  if (LOOPBACK.has(host)) {
    findings.warn('test_only', pointer, 'This address can be reached only where the operator exempts it for tests.')
  } else {
    findings.error('url_not_secure', pointer, 'Providers are called over https only.')
  }
}
