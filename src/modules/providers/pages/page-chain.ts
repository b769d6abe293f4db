/**
 * The pages of one answer that have arrived, in their order, and where the next one is. The links are read from the stored pages, so
 * a successor of a dead worker goes on where the pages end.
 */
import { fail } from '#kernel/problem.ts'
import { MAX_RESPONSE_BYTES } from '#provider/manifest.ts'
import { findNextPage, joinPages, type NextPage, toPageRequest } from '#provider/pages.ts'
import type { RenderedRequest } from '#provider/render-request.ts'
import type { Capability, HttpOperation } from '../capability.ts'

/** Bytes of all pages of an answer together. */
export const MAX_JOINED_BYTES = MAX_RESPONSE_BYTES

export type PageFault =
  | 'page_invalid'
  | 'page_link_invalid'
  | 'page_link_refused'
  | 'page_link_repeated'
  | 'too_many_pages'
  | 'pages_too_large'

const linkFaults: Readonly<Record<Extract<NextPage, { kind: 'refused' }>['reason'], PageFault>> = {
  not_a_url: 'page_link_invalid',
  host_not_listed: 'page_link_refused',
  repeated: 'page_link_repeated',
  too_many: 'too_many_pages',
}

export type PageOutcome =
  | { readonly kind: 'more' }
  | { readonly kind: 'complete'; readonly document: Buffer }
  | { readonly kind: 'failed'; readonly fault: PageFault }

export const isPaged = (capability: Capability): capability is HttpOperation =>
  capability.kind === 'http' && capability.declared.pages !== undefined && capability.declared.pages !== null

export class PageChain {
  readonly #pages: Buffer[] = []
  /** URLs of the pages, and of the one to be read next. */
  readonly #urls: string[] = []
  #byte_size = 0

  /** Of the page that is to be read next, counted from 1. */
  get page_no(): number {
    return this.#pages.length + 1
  }

  /** As they arrived. */
  get pages(): readonly Buffer[] {
    return this.#pages
  }

  /** Bytes that the next page may have. Brackets and commas count too. */
  get available_bytes(): number {
    return MAX_JOINED_BYTES - this.#byte_size - this.#pages.length - 2
  }

  append(page: Buffer): void {
    this.#pages.push(page)
    this.#byte_size += page.length
  }

  /** The request for the next page; `first` is the one that the manifest describes. */
  toRequest({ declared, manifest: { hosts } }: HttpOperation, first: RenderedRequest): RenderedRequest {
    if (this.#urls.length === 0) this.#urls.push(new URL(first.url).href)
    while (this.#urls.length < this.page_no) {
      const page = this.#pages[this.#urls.length - 1] as Buffer
      const next = findNextPage(declared, { hosts, urls: this.#urls }, JSON.parse(page.toString('utf8')))
      // Only a page with a link that can be followed is stored.
      if (next.kind !== 'next') fail('content_corrupt')
      this.#urls.push(next.url)
    }
    return this.#pages.length === 0 ? first : toPageRequest(first, this.#urls.at(-1) as string)
  }

  /** What the page that was asked for by the last request means for the answer. */
  judge({ declared, manifest: { hosts } }: HttpOperation, page: Buffer): PageOutcome {
    const body = parsePage(page)
    if (body === undefined) return { kind: 'failed', fault: 'page_invalid' }
    if (page.length > this.available_bytes) return { kind: 'failed', fault: 'pages_too_large' }
    const next = findNextPage(declared, { hosts, urls: this.#urls }, body)
    if (next.kind === 'refused') return { kind: 'failed', fault: linkFaults[next.reason] }
    return next.kind === 'next' ? { kind: 'more' } : { kind: 'complete', document: joinPages([...this.#pages, page]) }
  }
}

/** Undefined where the page is not JSON: joined to others it could read as something else. */
function parsePage(page: Buffer): unknown {
  try {
    return JSON.parse(page.toString('utf8'))
  } catch {
    return undefined
  }
}
