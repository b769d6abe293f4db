/** Answers in pages: where the next one is, and one document of all of them. */
import type { HttpCapability } from './manifest.ts'
import type { RenderedRequest } from './render-request.ts'

export type NextPage =
  | { readonly kind: 'last' }
  | { readonly kind: 'next'; readonly url: string }
  | { readonly kind: 'refused'; readonly reason: 'not_a_url' | 'host_not_listed' | 'repeated' | 'too_many' }

export interface PageContext {
  readonly hosts: readonly string[]
  /** URLs of the pages read so far, the last one being that of `body`. */
  readonly urls: readonly string[]
}

/** `body` is the parsed document of the last page. The link is text of the provider: only its target is checked here. */
export function findNextPage(
  { pages }: Pick<HttpCapability, 'pages'>,
  { hosts, urls }: PageContext,
  body: unknown,
): NextPage {
  const current = urls.at(-1)
  if (!pages || current === undefined) return { kind: 'last' }
  const link = readPointer(body, pages.next)
  if (link === undefined || link === null || link === '') return { kind: 'last' }
  const url = typeof link === 'string' ? resolveLink(link, current) : null
  if (!url) return { kind: 'refused', reason: 'not_a_url' }
  if (!hosts.includes(url.hostname) || url.protocol !== new URL(current).protocol) {
    return { kind: 'refused', reason: 'host_not_listed' }
  }
  if (urls.includes(url.href)) return { kind: 'refused', reason: 'repeated' }
  if (urls.length >= pages.max) return { kind: 'refused', reason: 'too_many' }
  return { kind: 'next', url: url.href }
}

/** The same request at another URL, with the same headers and credentials; a page is read with GET. */
export const toPageRequest = (request: RenderedRequest, url: string): RenderedRequest => ({
  ...request,
  method: 'GET',
  url,
  body: null,
})

/** A JSON array of the pages in their order, each with its exact bytes. */
export function joinPages(pages: readonly Buffer[]): Buffer {
  const separated = pages.flatMap((page, index) => (index === 0 ? [page] : [Buffer.from(','), page]))
  return Buffer.concat([Buffer.from('['), ...separated, Buffer.from(']')])
}

function resolveLink(link: string, current: string): URL | null {
  if (/[^\x21-\x7e]|\\/.test(link) || link.length > 2000 || !URL.canParse(link, current)) return null
  const url = new URL(link, current)
  const isPlain = url.username === '' && url.password === '' && /^https?:$/.test(url.protocol)
  url.hash = ''
  return isPlain ? url : null
}

function readPointer(document: unknown, pointer: string): unknown {
  let value = document
  for (const step of pointer.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined
    value = (value as Readonly<Record<string, unknown>>)[name]
  }
  return value
}
